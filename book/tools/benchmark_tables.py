"""The tables that README and the book show, from book/benchmarks.json.

`make bench` measures, and writes the data; nothing here is typed by hand.
"""

import html
import json
from pathlib import Path

import numpy as np

from book.tools.online import between_marks

DATA = Path(__file__).parents[1] / 'benchmarks.json'

# Column of the table -> its title, and how it is computed from the seconds.
COLUMNS = {
    'floor': ('floor', 'hand'), 'small compiler': ('small', 'hand'),
    'jit': ('jit', 'hand'), 'eager': ('eager', 'hand'),
    'autograd': ('autograd', 'hand'), 'torch': ('torch', 'hand'),
    'JAX jit': ('jax', 'hand'), 'jit / JAX': ('jit', 'jax'),
    'eager / autograd': ('eager', 'autograd'),
    'eager / torch': ('eager', 'torch')}
TO_HAND = [name for name, (_, below) in COLUMNS.items() if below == 'hand']
NONE = '–'
BEHIND = 1.05   # what is within a twentieth is even
NAMES = {'numpy': 'NumPy', 'jax': 'JAX'}
SIZES = {'hand': 'by hand', 'jax': 'JAX'}   # how the book's plot calls them

# The columns and rows that README shows.
FEW = ['jit', 'eager', 'torch', 'JAX jit']
SHORT = [
    'MLP 784-512-256-10, batch of 128, float64',
    'Black–Scholes, 1,000,000 options',
    '1,000 operations, sines and cosines, on floats',
    'RNN, 64 hidden, 32 inputs, 1,000 steps',
    'hessian, Rosenbrock in 200 dimensions']


# In the book

def load():
    """Returns what was measured last."""
    return json.loads(DATA.read_text(encoding='utf-8'))


def benchmarks(name):
    """Returns a table of the book, and below it where that was measured."""
    if name not in TABLES:
        raise ValueError(f'there is no table of benchmarks {name!r}; there '
                         f'are {", ".join(TABLES)}')
    data = load()
    table = TABLES[name](data)
    if len(table) < 2:
        raise ValueError(f'{DATA.name} has nothing for the table {name!r}: '
                         'run `make bench`')
    # A narrow page scrolls the table, which takes a cell that has the focus.
    table[0][-1] += ' { tabindex="0" }'
    where = conditions(data) if name == 'ratios' else measured_at(data)
    return (f'<figure markdown="1">\n\n{markdown(table)}\n\n'
            f'<figcaption>{html.escape(where)}</figcaption>\n\n</figure>')


def sizes():
    """Returns numbers of elements, and name -> seconds of the gradient."""
    data = load()['sizes']
    return data['elements'], {SIZES.get(name, name): seconds
                              for name, seconds in data['seconds'].items()}


# In README

def readme_table(data):
    """Returns a short table in Markdown, and where it was measured."""
    rows = [row for row in data['rows'] if row['label'] in SHORT]
    table = markdown(ratio_table(rows, FEW, spreads=False))
    return f'{table}\n\n{measured_at(data)}'


# In a terminal

def table_text(data):
    """Returns the tables for a terminal, that of the book's plot included."""
    found = [*tables(data), *([size_table(data['sizes'])]
                              if 'sizes' in data else [])]
    return '\n\n'.join([conditions(data), *map(aligned, found), ''])


def tables(data):
    """Returns the tables, each a list of lists of strings, its titles first.

    What was not measured has no table.
    """
    coded = {key: [row | {'label': f'{row["workload"]} {row["label"]}'}
                   for row in data.get(key, [])]
             for key in ('rows', 'figures')}
    found = [ratio_table(coded['rows']), floor_table(coded['rows']),
             pass_table(data.get('passes', [])),
             first_call_table(data.get('first_calls', [])),
             gallery_table(data.get('gallery', [])),
             figure_table(coded['figures'])]
    return [table for table in found if len(table) > 1]


# The tables

def measured_at(data):
    """Returns when and where this was measured."""
    return (f'Measured on {data["date"]}, '
            f'one thread of {data["machine"]["cpu"]}.')


def conditions(data):
    """Returns where, when and with what this was measured, and how."""
    versions = ', '.join(f'{NAMES.get(name, name)} {number}'
                         for name, number in data['versions'].items())
    machine = data['machine']
    return (f'Measured on {data["date"]}, one thread of {machine["cpu"]} '
            f'({machine["architecture"]}, {machine["system"]}): {versions}. '
            'The numbers under a name are its time divided by that of the '
            'same gradient written by hand in NumPy. In the rows of “one '
            'call”, “by hand” is a direct call of the function. A time is '
            'the best of many rounds; three quarters of them exceed it by at '
            'most the spread, in the median of the row.')


def ratio_table(rows, columns=COLUMNS, spreads=True):
    """Returns the time of NumPy by hand, and the ratios of all others.

    The last column is the spread, if it is wanted.  Columns of peers that
    were not there are left out.
    """
    table = [['', 'by hand, µs', *columns, *['spread'] * spreads]]
    for row in rows:
        for suffix, times in variants(row['seconds']).items():
            table.append([
                row['label'] + suffix, number(times['hand'] * 1e6),
                *[ratio(times, *COLUMNS[column]) for column in columns],
                *[percent(row.get('spread', {}))] * spreads])
    full = [column for column in zip(*table) if {*column[1:]} != {NONE}]
    return [list(row) for row in zip(*full)]


def percent(spreads):
    """Returns the text of the median of some spreads."""
    if not spreads:
        return NONE
    return f'{np.median([*spreads.values()]) * 100:.0f} %'


def variants(times):
    """Returns suffix -> times: 'jit, without it' goes in a row of its own."""
    found = {}
    for name, seconds in times.items():
        column, comma, suffix = name.partition(', ')
        found.setdefault(comma + suffix, {'hand': times['hand']})[
            column] = seconds
    return found


def ratio(times, above, below):
    """Returns the text of a ratio; a dash if one of them is missing."""
    if above not in times or below not in times:
        return NONE
    return number(times[above] / times[below])


def number(x):
    """Returns the text of a number that is good to two or three digits."""
    if x >= 99.95:
        return f'{x:,.0f}'
    if x >= 9.995:
        return f'{x:.1f}'
    return f'{x:.2f}' if x >= 0.0995 else f'{x:.2g}'


def pass_table(rows):
    """Returns the ratios of a program that has had some passes to by hand."""
    stages = [name for name in (rows[0]['seconds'] if rows else ())
              if name != 'hand']
    return [['', *stages], *[
        [row['label'], *[ratio(row['seconds'], stage, 'hand')
                         for stage in stages]] for row in rows]]


def floor_table(rows):
    """Returns what the floor does of each row, and how far others are."""
    table = [['', 'calls', 'of jit', 'MB', 'of jit', 'floor, µs', 'by hand',
              'jit', 'JAX jit']]
    for row in rows:
        times, work, counts = row['seconds'], row.get('work'), [NONE] * 4
        if work:
            counts = [*[f'{n:,}' for n in work['calls'].values()],
                      *[number(n / 1e6) for n in work['bytes'].values()]]
        if 'floor' in times:
            table.append([
                row['label'], *counts, number(times['floor'] * 1e6),
                *[ratio(times, who, 'floor')
                  for who in ('hand', 'jit', 'jax')]])
    return table


def lost_table(rows):
    """Returns how many times as long as others jit takes, if it is more."""
    others = {'hand': 'by hand', 'autograd': 'autograd', 'torch': 'torch',
              'jax': 'JAX jit'}
    table = [['', *others.values()]]
    for row in rows:
        times = row['seconds']
        behind = [times.get(who, np.inf) * BEHIND < times['jit']
                  for who in others]
        if any(behind):
            table.append([row['label'], *[
                ratio(times, 'jit', who) if is_behind else NONE
                for who, is_behind in zip(others, behind)]])
    return table


def first_call_table(rows):
    """Returns the microseconds an operation of a first call, over sizes."""
    sizes = sorted({row['operations'] for row in rows})
    table = [['first call, µs an operation', *[f'{n:,}' for n in sizes],
              'power']]
    for kind in dict.fromkeys(row['kind'] for row in rows):
        for who, title in ('ours', kind), ('jax', f'{kind}, JAX'):
            times = {row['operations']: row['seconds'][who] for row in rows
                     if row['kind'] == kind and who in row['seconds']}
            if times:
                table.append([title, *[
                    number(times[n] / n * 1e6) if n in times else NONE
                    for n in sizes],
                    number(power(times)) if len(times) > 2 else NONE])
    return table


def power(times):
    """Returns the power of n that the times grow with: size -> seconds."""
    n, seconds = list(times), list(times.values())
    return float(np.polyfit(np.log(n), np.log(seconds), 1)[0])


def figure_table(figures):
    """Returns the figures that are no ratios to NumPy by hand."""
    return [['', 'measured'], *[
        [figure['label'], amount(figure['value'], figure['unit'])]
        for figure in figures]]


def gallery_table(rows):
    """Returns how eager gradients compare with autograd's, by theme."""
    table = [['time / autograd', 'programs', 'eager', 'worst', 'jit']]
    themes = list(dict.fromkeys(row['theme'] for row in rows))
    for theme in themes + ['all'] * bool(rows):
        here = [row['seconds'] for row in rows
                if theme in (row['theme'], 'all')]
        eager, jit = [[times[name] / times['autograd'] for times in here
                       if name in times] for name in ('eager', 'jit')]
        table.append([theme, str(len(here)), number(np.median(eager)),
                      number(max(eager)),
                      number(np.median(jit)) if jit else NONE])
    return table


def amount(x, unit):
    """Returns the text of a figure; short times are not in seconds."""
    if unit == 's' and x < 1:
        x, unit = (x * 1e3, 'ms') if x >= 1e-3 else (x * 1e6, 'µs')
    return f'{number(x)} {unit}'.strip()


def size_table(data):
    """Returns the microseconds of the gradient of GELU, over sizes."""
    columns = [[name, *[number(took * 1e6) for took in seconds]]
               for name, seconds in data['seconds'].items()]
    first = ['gradient of GELU, µs', *map('{:,}'.format, data['elements'])]
    return [list(row) for row in zip(first, *columns)]


TABLES = {  # of the book, by their names in directives
    'ratios': lambda data: ratio_table(data.get('rows', []), TO_HAND),
    'floor': lambda data: floor_table(data.get('rows', [])),
    'lost': lambda data: lost_table(data.get('rows', [])),
    'passes': lambda data: pass_table(data.get('passes', [])),
    'first calls': lambda data: first_call_table(data.get('first_calls', [])),
    'gallery': lambda data: gallery_table(data.get('gallery', []))}


def markdown(table, mark='---:'):
    titles, *rows = table
    marks = ['---', *[mark] * (len(titles) - 1)]
    return '\n'.join(f'| {" | ".join(row)} |'
                     for row in [titles, marks, *rows])


def aligned(table):
    widths = [max(map(len, column)) for column in zip(*table)]
    return '\n'.join(
        '  '.join([row[0].ljust(widths[0]),
                   *[cell.rjust(width)
                     for cell, width in zip(row[1:], widths[1:])]])
        for row in table)


def missed(data):
    """Returns a line for each target that was not met."""
    found = [(f'{row["workload"]} {row["label"]}: {target}',
              row['seconds'][above] / row['seconds'][below], '', limit)
             for row in data.get('rows', [])
             for target, limit in row['targets'].items()
             for above, below in [target.split('/')]
             if {above, below} <= row['seconds'].keys()]
    found += [(f'{figure["workload"]} {figure["label"]}', figure['value'],
               figure['unit'], figure['target'])
              for figure in data.get('figures', []) if figure['target']]
    return [f'over its target: {label} {amount(value, unit)} > '
            f'{amount(limit, unit)}'
            for label, value, unit, limit in found if value > limit]


def replace_table(text, table):
    """Returns README with another table between its marks."""
    return between_marks(text, 'benchmarks', f'\n{table}\n\n')
