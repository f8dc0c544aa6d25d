"""Print what each installed system does to a rule that lies."""

import argparse
import platform
import sys
import time
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from .harness import (
    VERDICTS, counted, lie_test, orders, read, result, silence, written)

FOLDER = Path(__file__).parent / 'systems'
NAMES = sorted(path.stem for path in FOLDER.glob('[!_]*.py')
               if path.stem != 'with_jax_names')
EXAMPLES = 6    # lost orders to print below the table


def main(args=None):
    options = parsed(args)
    print(f'Python {platform.python_version()},',
          options.order or f'orders of up to {options.depth}')
    titles = ['system', 'rule', 'orders', *VERDICTS, 'seconds']
    if not options.order:
        print('\n' + row(titles))
    below = []
    for name in options.systems or NAMES:
        if not (system := load(name)):
            print(f'{name}: not installed')
            continue
        for rule in chosen_rules(system, options.rule):
            if options.order:
                print_one(system, rule, read(options.order))
            else:
                results = print_row(system, rule, options.depth)
                below += examples(system, rule, results, options.list)
    if below:
        print(*below, sep='\n')


def parsed(args):
    parser = argparse.ArgumentParser(
        prog=f'python -m {__package__}', description=__doc__,
        epilog='The verdicts: ' + '; '.join(
            f'{name}: {meaning}' for name, meaning in VERDICTS.items()))
    parser.add_argument('systems', nargs='*', metavar='SYSTEM',
                        help=f'a file, or one of {", ".join(NAMES)}')
    parser.add_argument('--depth', type=int, default=3, metavar='N',
                        help='the most transformations in an order (3)')
    parser.add_argument('--rule', help="one of the system's ways to write it")
    parser.add_argument('--order', help="one order, such as 'grad(vmap(f))'")
    parser.add_argument('--list', choices=VERDICTS, metavar='VERDICT',
                        help='print all orders with this verdict')
    options = parser.parse_args(args)
    for name in options.systems:
        if name not in NAMES and not Path(name).is_file():
            parser.error(f'no file {name}; choose from {", ".join(NAMES)}')
    return options


def load(name):
    """Return the module of a system; None if the system isn't installed.

    `name` is a module of the folder, or a file, such as my_system.py.
    """
    if name in NAMES:
        try:
            with silence():
                return import_module(f'{__package__}.systems.{name}')
        except ModuleNotFoundError:
            return None
    spec = spec_from_file_location(Path(name).stem, name)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def chosen_rules(system, rule):
    return [name for name in system.rules if rule in (None, name)]


def print_row(system, rule, depth):
    """Print a row of the table; return the results that it counts."""
    start = time.perf_counter()
    total = sum(1 for _ in orders(system, depth))
    results = []
    for found in lie_test(system, rule, depth):
        results.append(found)
        if sys.stderr.isatty():
            print(f'\r{system.version}: {len(results)} of {total}', end='\r',
                  file=sys.stderr, flush=True)
    print(row([system.version, rule, total, *counted(results).values(),
               round(time.perf_counter() - start)]), flush=True)
    return results


def row(cells):
    widths = 30, 17, 6, *map(len, VERDICTS), 7
    return '  '.join(
        str(cell).ljust(width) if i < 2 else str(cell).rjust(width)
        for i, (cell, width) in enumerate(zip(cells, widths, strict=True)))


def print_one(system, rule, order):
    """Print what one order gives, if the system has its transformations."""
    unknown = {*order} - {*system.wrappers, *system.derivatives}
    if unknown:
        print(f'{system.version}: no {", ".join(sorted(unknown))}')
    else:
        print(f'{system.version}, {rule}:',
              said(result(system, rule, order)))


def examples(system, rule, results, listed):
    """Return lines with the orders that lost the rule, or with a verdict."""
    wanted = [listed] if listed else ['lost', 'wrong']
    found = [x for x in results if x.verdict in wanted]
    shown = found if listed else found[:EXAMPLES]
    lines = [f'  {written(x.order):40} {said(x)}' for x in shown]
    if len(shown) < len(found):
        lines.append(f'  and {len(found) - len(shown)} more')
    return ['', f'{system.version}, {rule}:', *lines] if lines else []


def said(found):
    """Say what an order gave, and what it should have given."""
    answer = found.found
    text = answer.error or f'{answer.value:g}'
    return f'{found.verdict}: {text[:160]}, should be {found.right}'


if __name__ == '__main__':
    main()
