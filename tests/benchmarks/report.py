"""The tables of `make bench`, for README and for a terminal."""

from book.tools.benchmark_tables import (
    conditions, first_call_table, floor_table, gallery_table, markdown,
    measured_at, number, pass_table, ratio_table)
from book.tools.online import between_marks

# The columns and rows that README shows.
FEW = ['jit', 'eager', 'torch', 'JAX jit']
SHORT = [
    'MLP 784-512-256-10, batch of 128, float64',
    'Black–Scholes, 1,000,000 options',
    '1,000 operations, sines and cosines, on floats',
    'RNN, 64 hidden, 32 inputs, 1,000 steps',
    'hessian, Rosenbrock in 200 dimensions']


# In README

def readme_table(data):
    """Return a short Markdown table, and where it was measured."""
    rows = [row for row in data['rows'] if row['label'] in SHORT]
    table = markdown(ratio_table(rows, FEW, spreads=False))
    return f'{table}\n\n{measured_at(data)}'


def replace_table(text, table):
    """Return README with a new table between its marks."""
    return between_marks(text, 'benchmarks', f'\n{table}\n\n')


# In a terminal

def table_text(data):
    """Return the tables for a terminal, and the one for the book's plot."""
    found = [*tables(data), *([size_table(data['sizes'])]
                              if 'sizes' in data else [])]
    return '\n\n'.join([conditions(data), *map(aligned, found), ''])


def tables(data):
    """Return the tables, each a list of lists of strings, titles first.

    Workloads that were not measured have no table.
    """
    rows = [row | {'label': f'{row["workload"]} {row["label"]}'}
            for row in data['rows']]
    found = [ratio_table(rows), floor_table(rows),
             pass_table(data.get('passes', [])),
             first_call_table(data.get('first_calls', [])),
             gallery_table(data.get('gallery', []))]
    return [table for table in found if len(table) > 1]


def size_table(data):
    """Return the gradient times of GELU in microseconds, by size."""
    columns = [[name, *[number(took * 1e6) for took in seconds]]
               for name, seconds in data['seconds'].items()]
    first = ['gradient of GELU, µs', *map('{:,}'.format, data['elements'])]
    return [list(row) for row in zip(first, *columns)]


def aligned(table):
    widths = [max(map(len, column)) for column in zip(*table)]
    return '\n'.join(
        '  '.join([row[0].ljust(widths[0]),
                   *[cell.rjust(width)
                     for cell, width in zip(row[1:], widths[1:])]])
        for row in table)


def missed(data):
    """Return a line for each target that was not met."""
    found = [(f'{row["workload"]} {row["label"]}: {target}',
              row['seconds'][above] / row['seconds'][below], limit)
             for row in data['rows']
             for target, limit in row['targets'].items()
             for above, below in [target.split('/')]
             if {above, below} <= row['seconds'].keys()]
    return [f'over its target: {label} {number(value)} > {number(limit)}'
            for label, value, limit in found if value > limit]
