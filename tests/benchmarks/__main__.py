"""`make bench`: measure, print the tables, and write them on request."""

from tests.benchmarks.pin import pin_to_one_thread

pin_to_one_thread()

import argparse
import datetime
import json
import platform
import sys
from importlib.metadata import version
from pathlib import Path

from book.tools.benchmark_tables import DATA
from tests.benchmarks.arrays import sizes, w1, w2, w5, w8, w10
from tests.benchmarks.first_calls import first_calls, imports
from tests.benchmarks.gallery import gallery
from tests.benchmarks.loops import w6
from tests.benchmarks.measure import rounds, settle, spread, work
from tests.benchmarks.odes import w7, w12
from tests.benchmarks.passes import passes
from tests.benchmarks.peers import LIBRARIES
from tests.benchmarks.report import (
    readme_table, replace_table, table_text)
from tests.benchmarks.rules import w9, w11
from tests.benchmarks.scalars import w3, w4
from tests.benchmarks.small_gradients import small_gradients

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / 'README.md'

TIMED = {'W1': w1, 'W2': w2, 'W3': w3, 'W4': w4, 'W5': w5, 'W6': w6,
         'W7': w7, 'W8': w8, 'W9': w9, 'W10': w10, 'W11': w11, 'W12': w12}
# Why `jit` can take longer than the floor.
GUARD = ('A call checks the types of its arguments and makes new arrays, '
         'which belong to the caller. The floor does neither.')
ALGEBRA = ('The person rearranges the derivative into fewer operations, folds '
           'constants, and knows that the slope of softplus is one sigmoid. '
           '`jit` drops an operation only if all bits stay the same.')
WHY = dict.fromkeys([*TIMED, 'jvp of a sine, {} elements'], GUARD) | {
    'W2': ALGEBRA, 'W5': ALGEBRA,
    'W3': "There's one input, so the person differentiates forwards and "
          'keeps no values. `grad` works backwards, so it has to keep them. '
          'On ten elements, a call also makes new arrays.',
    'W6': 'A loop makes a view for each row that it reads, and a new array '
          "for each result that it doesn't store. A loop of floats puts the "
          "values that it keeps into arrays and checks that they're finite.",
    'W10': 'The person knows that the matrix has three diagonals, and `jit` '
           'multiplies matrices of ones and zeros.',
    'W12': 'The person solves the equations of both derivatives forwards, '
           'together with those of the state. `grad` of `grad` solves an '
           'adjoint equation, and the adjoint equation of that.'}

TABLES = {'small_gradients': small_gradients, 'first_calls': first_calls,
          'passes': passes, 'sizes': sizes, 'gallery': gallery,
          'imports': imports}
WORKLOADS = [*TIMED, *TABLES]


def main():
    parser = argparse.ArgumentParser(
        prog='python -m tests.benchmarks',
        description='Compare our gradients with NumPy code written by hand, '
                    'and with autograd, torch, and JAX if installed.')
    parser.add_argument('workloads', nargs='*', metavar='W',
                        help=f'some of: {", ".join(WORKLOADS)}')
    parser.add_argument('--write', action='store_true',
                        help='write book/benchmarks.json and README.md')
    asked = parser.parse_args()
    if unknown := ', '.join({*asked.workloads} - {*WORKLOADS}):
        parser.error(f'no {unknown}; choose from {", ".join(WORKLOADS)}')
    if asked.write and asked.workloads:
        parser.error('--write measures all workloads, so do not name any')
    if asked.write:     # fail now if README has no place for it
        replace_table(README.read_text(encoding='utf-8'), '')

    data = machine() | measure(asked.workloads or WORKLOADS)
    print(table_text(data))
    if asked.write:
        DATA.write_text(json.dumps(data, indent=1, ensure_ascii=False)
                        + '\n', encoding='utf-8')
        text = README.read_text(encoding='utf-8')
        README.write_text(replace_table(text, readme_table(data)),
                          encoding='utf-8')


def measure(chosen):
    """Return the results of the chosen workloads."""
    data = {'rows': []}
    for name in chosen:
        settle()
        print(f'measuring {name} ...', file=sys.stderr, flush=True)
        if name in TIMED:
            data['rows'] += [result(name, row) for row in TIMED[name]()]
        else:
            data[name] = TABLES[name]()
    data['rows'].sort(key=lambda row: int(row['workload'][1:]))
    return data


def result(workload, row):
    """Return the data to store about a row."""
    found = rounds(row)
    return {'workload': workload, 'label': row.label, 'size': row.size,
            'seconds': {name: min(times) for name, times in found.items()},
            'spread': {name: spread(times) for name, times in found.items()},
            'work': work(row), 'why': WHY.get(row.label, WHY[workload])}


def machine():
    """Return the date, the machine, and the versions of the libraries."""
    return {
        'date': datetime.date.today().isoformat(),
        'machine': {'cpu': cpu_model(), 'system': platform.system(),
                    'architecture': platform.machine()},
        'versions': {'Python': platform.python_version(),
                     **{name: version(name) for name in LIBRARIES}}}


def cpu_model():
    """Return the name of the processor, as far as the system knows it."""
    info = Path('/proc/cpuinfo')    # of Linux
    lines = info.read_text().splitlines() if info.exists() else []
    return next((line.split(':')[1].strip() for line in lines
                 if line.startswith('model name')),
                platform.processor() or platform.machine())


if __name__ == '__main__':
    main()
