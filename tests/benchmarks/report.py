"""The tables of `make bench`, for README and for a terminal."""

from book.tools.benchmark_tables import (
    conditions, first_call_table, floor_table, gallery_table, markdown,
    measured_at, number, pass_table, ratio_table, reasons, time_table)
from book.tools.online import between_marks

# The columns and rows that README shows.
FEW = ['jit', 'fused', 'eager', 'torch', 'JAX jit']
SHORT = [
    'MLP 784-512-256-10, batch of 128',
    'Black–Scholes, 1,000,000 options',
    'pendulum, 1,000 steps',
    'custom_vjp for log1pexp, a float',
    'hessian, Rosenbrock in 200 dimensions']


# In README

def readme_table(data):
    """Return a short Markdown table, and where it was measured."""
    rows = [row for row in data['rows'] + data.get('small_gradients', [])
            if row['label'].format(row.get('size')) in SHORT]
    table = markdown(ratio_table(rows, FEW))
    return f'{table}\n\n{measured_at(data)}'


def replace_table(text, table):
    """Return README with a new table between its marks."""
    return between_marks(text, 'benchmarks', f'\n{table}\n\n')


# In a terminal

def table_text(data):
    """Return the tables for a terminal, and why we are above a floor."""
    notes = [f'{letter}: {why}'
             for why, letter in reasons(data['rows']).items()]
    return '\n\n'.join([conditions(data), *map(aligned, tables(data)),
                        *notes, ''])


def tables(data):
    """Return the tables, each a list of lists of strings, titles first.

    Workloads that were not measured have no table.
    """
    rows = [row | {'label': f'{row["workload"]} {row["label"]}'}
            for row in data['rows']]
    times = data.get('imports', {})
    found = [ratio_table(rows), floor_table(rows),
             time_table(data.get('small_gradients', [])),
             pass_table(data.get('passes', [])),
             first_call_table(data.get('first_calls', [])),
             gallery_table(data.get('gallery', [])),
             [['import, ms', *times], ['', *[
                 number(took * 1e3) for took in times.values()]]]]
    return [table for table in found if len(table) > 1 < len(table[0])]


def aligned(table):
    widths = [max(map(len, column)) for column in zip(*table)]
    return '\n'.join(
        '  '.join([row[0].ljust(widths[0]),
                   *[cell.rjust(width)
                     for cell, width in zip(row[1:], widths[1:])]])
        for row in table)
