"""Make the tables of the book from book/benchmarks.json.

`make bench` measures and writes the data, so no number is typed by hand.
"""

import html
import json
from functools import partial
from pathlib import Path
from string import ascii_lowercase

import numpy as np

DATA = Path(__file__).parents[1] / 'benchmarks.json'

# {column of a table: (times, their unit)}; a cell is their ratio.
COLUMNS = {
    'floor': ('floor', 'hand'), 'small compiler': ('small', 'hand'),
    'jit': ('jit', 'hand'), 'fused': ('fused', 'hand'),
    'eager': ('eager', 'hand'),
    'autograd': ('autograd', 'hand'), 'torch': ('torch', 'hand'),
    'JAX jit': ('jax', 'hand'), 'jit / JAX': ('jit', 'jax'),
    'eager / autograd': ('eager', 'autograd'),
    'eager / torch': ('eager', 'torch')}
TO_HAND = [name for name, (_, below) in COLUMNS.items() if below == 'hand']
# {column of the table of small gradients: times}
TIMES = {'by hand': 'hand', 'jit': 'jit', 'JAX jit': 'jax', 'eager': 'eager',
         'autograd': 'autograd', 'torch': 'torch', 'JAX': 'jax eager'}
# {a table of the book: its workloads in `make bench`}
SECTIONS = {'arrays': ['W1', 'W2', 'W8', 'W10'], 'loops': ['W6', 'W7', 'W12'],
            'small programs': ['W4', 'W5', 'W11'], 'rules': ['W9'],
            'long programs': ['W3']}
FIVE = [    # the rows that chapter 32 shows
    'GELU, 100,000 elements', 'RNN, 64 hidden, 32 inputs, 1,000 steps',
    'pendulum, 1,000 steps', 'no rule for log1pexp, 1,000 elements',
    'custom_jvp for log1pexp, 1,000 elements']
NONE = '–'
FAR = 1.2   # times the floor: then a row has a reason
NAMES = {'numpy': 'NumPy', 'jax': 'JAX'}
SIZES = {'hand': 'by hand', 'jax': 'JAX'}   # the labels in the book's plot


def load():
    """Return the latest measurements."""
    return json.loads(DATA.read_text(encoding='utf-8'))


def benchmarks(name):
    """Return a table of the book, with the conditions as its caption."""
    data, (key, make) = load(), TABLES[name]
    if not data.get(key):
        raise ValueError(f'{DATA.name} has no data for it: run `make bench`')
    table = make(data[key])
    # Scrolling a table on a narrow page needs a cell that can have the focus.
    table[0][-1] += ' { tabindex="0" }'
    where = conditions(data) if name == 'arrays' else measured_at(data)
    notes = [f'- **{letter}**: {why}\n' for why, letter in reasons(
        data[key] if name == 'floor' else []).items()]
    return (f'<figure markdown="1">\n\n{markdown(table)}\n\n'
            + '\n'.join(['', *notes, '']) +
            f'<figcaption>{html.escape(where)}</figcaption>\n\n</figure>')


def sizes():
    """Return numbers of elements, and {name: seconds} of the gradient."""
    data = load()['sizes']
    return data['elements'], {SIZES.get(name, name): seconds
                              for name, seconds in data['seconds'].items()}


# The tables

def measured_at(data):
    """Return when and where this was measured."""
    return (f'Measured on {data["date"]}, '
            f'one thread of {data["machine"]["cpu"]}.')


def conditions(data):
    """Return when, where, with which versions, and how this was measured."""
    versions = ', '.join(f'{NAMES.get(name, name)} {number}'
                         for name, number in data['versions'].items())
    machine = data['machine']
    spreads = [x for row in data['rows'] for x in row['spread'].values()]
    return (f'Measured on {data["date"]}, one thread of {machine["cpu"]} '
            f'({machine["architecture"]}, {machine["system"]}): {versions}. '
            'The numbers under a name are its time divided by the time of '
            'the same gradient written by hand in NumPy. A time is the best '
            'of many rounds. As a rule, three quarters of them take at most '
            f'{np.median(spreads or [0]):.0%} longer.')


def labeled(row):
    """Return the text that names a row."""
    return row['label'].format(row.get('size', ''))


def filled(table):
    """Return a table without the columns that are empty."""
    full = [column for column in zip(*table) if {*column[1:]} != {NONE}]
    return [list(row) for row in zip(*full)]


def ratio_table(rows, columns=COLUMNS):
    """Return the time of NumPy by hand, and the ratios of all others."""
    return filled([
        ['', 'by hand, µs', *columns],
        *[[labeled(row), number(row['seconds']['hand'] * 1e6),
           *[ratio(row['seconds'], *COLUMNS[column]) for column in columns]]
          for row in rows]])


def section_table(name, rows):
    """Return the ratios of one section of the rows."""
    return ratio_table([row for row in rows
                        if row['workload'] in SECTIONS[name]], TO_HAND)


def five_rows(rows):
    """Return the ratios that chapter 32 shows."""
    columns = [name for name in TO_HAND
               if name not in ('floor', 'small compiler', 'fused')]
    return ratio_table([row for name in FIVE for row in rows
                        if labeled(row) == name], columns)


def time_table(rows):
    """Return the times of small gradients, and eager mode over autograd."""
    def cells(row):
        times = row['seconds']
        return [labeled(row),
                *[number(times[name] * 1e6) if name in times else NONE
                  for name in TIMES.values()],
                ratio(times, *COLUMNS['eager / autograd'])]
    return filled([['µs', *TIMES, 'eager / autograd'], *map(cells, rows)])


def scalar_table(rows):
    """Return the times without arrays of shape (), which differ little."""
    return time_table([row for row in rows if row['size'] != 'a 0-d array'])


def ratio(times, above, below):
    """Return the text of a ratio, or a dash if a time is missing."""
    if above not in times or below not in times:
        return NONE
    return number(times[above] / times[below])


def number(x):
    """Return the text of a number, with two or three digits."""
    if x >= 99.95:
        return f'{x:,.0f}'
    if x >= 9.995:
        return f'{x:.1f}'
    return f'{x:.2f}' if x >= 0.0995 else f'{x:.2g}'


def pass_table(rows):
    """Return the times of programs after some passes, relative to by hand."""
    stages = [name for name in (rows[0]['seconds'] if rows else ())
              if name != 'hand']
    return [['', *stages], *[
        [row['label'], *[ratio(row['seconds'], stage, 'hand')
                         for stage in stages]] for row in rows]]


def floor_table(rows):
    """Return the calls and bytes of each floor and of jit, and its time."""
    letters = reasons(rows)

    def cells(row):
        counts = [row['work'].get(key, {}) for key in ('calls', 'bytes')]
        calls, moved = [[found.get(who) for who in ('floor', 'jit')]
                        for found in counts]
        return [labeled(row), *[f'{n:,}' for n in calls],
                *[NONE if n is None else number(n / 1e6) for n in moved],
                *[ratio(row['seconds'], who, 'floor') for who in (
                    'jit', 'jax')],
                letters.get(row.get('why'), NONE) if is_far(row) else NONE]

    return filled([
        ['', 'calls', 'of jit', 'MB', 'of jit', 'jit', 'JAX jit', 'why'],
        *[cells(row) for row in rows if 'work' in row]])


def losses_table(rows):
    """Return the floor table of the rows where jit takes much longer."""
    return floor_table([row for row in rows if is_far(row)])


def is_far(row):
    """Return whether jit takes much longer than the floor."""
    times = row['seconds']
    return times['jit'] > FAR * times.get('floor', np.inf)


def reasons(rows):
    """Return {why jit is far above its floor: the letter of the reason}."""
    found = [row['why'] for row in rows if is_far(row) and 'why' in row]
    return dict(zip(dict.fromkeys(found), ascii_lowercase))


def first_call_table(rows):
    """Return the time of a first call per operation, for each size."""
    sizes = sorted({row['operations'] for row in rows})
    times = {}      # {title: {size: seconds}}
    for row in rows:
        for who, title in ('ours', row['kind']), ('jax', f'{row["kind"]}, JAX'):
            if who in row['seconds']:
                times.setdefault(title, {})[row['operations']] = (
                    row['seconds'][who])
    return [['first call, µs an operation', *[f'{n:,}' for n in sizes],
             'power'], *[
        [title, *[number(found[n] / n * 1e6) if n in found else NONE
                  for n in sizes],
         number(power(found)) if len(found) > 2 else NONE]
        for title, found in times.items()]]


def power(times):
    """Return the power of n that times {n: seconds} grow with."""
    n, seconds = list(times), list(times.values())
    return float(np.polyfit(np.log(n), np.log(seconds), 1)[0])


def gallery_table(rows):
    """Return how eager gradients compare with autograd's, by theme."""
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


TABLES = {  # of the book, by their names in directives
    **{name: ('rows', partial(section_table, name)) for name in SECTIONS},
    'five rows': ('rows', five_rows),
    'small gradients': ('small_gradients', scalar_table),
    'floor': ('rows', losses_table),
    'passes': ('passes', pass_table), 'gallery': ('gallery', gallery_table),
    'first calls': ('first_calls', first_call_table)}


def markdown(table, mark='---:'):
    titles, *rows = table
    marks = ['---', *[mark] * (len(titles) - 1)]
    return '\n'.join(f'| {" | ".join(row)} |'
                     for row in [titles, marks, *rows])
