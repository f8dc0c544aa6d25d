"""Name a lambda by its line, because it has no other name.

In `ad.grad(lambda x: x ** 2)`, the errors say *the lambda in line 12 of
train.py*.  In a suggested program, a lambda is called `f`.  See the page
*Errors explained*.
"""

import linecache
import os
import re
import sys

from autodiff_mini.core.names import LambdaName, own_name

WHICH = '', 'first ', 'second ', 'third ', 'fourth '


def describe_function(general, name):
    """Return the name of a function, for a lambda the place where it is.

    Args:
        general: its name in Python.
        name: the same, with the code if it is a LambdaName.
    """
    code = getattr(name, 'code', None)
    return name_of_code(code) if code else general


def name_of_code(code) -> str:
    """Return the name of the function with this code, for errors."""
    if code.co_name != '<lambda>':
        return code.co_qualname
    number = code.co_firstlineno
    return (f'the {place_in_line(code)}lambda in line {number}'
            f'{of_file(code.co_filename)}')


def place_in_line(code) -> str:
    """Return which lambda of its line it is, empty for the only one."""
    number = code.co_firstlineno
    line = linecache.getline(code.co_filename, number).encode()
    starts = [found.start() for found in re.finditer(rb'\blambda\b', line)]
    if len(starts) < 2:
        return ''
    body = min((start for first, _, start, _ in code.co_positions()
                if first == number and start), default=len(line))
    place = sum(start < body for start in starts)
    return WHICH[place] if place < len(WHICH) else ''


def of_file(file) -> str:
    """Return the file or the cell of a line, empty if it has no name."""
    shell = getattr(sys.modules.get('IPython'), 'get_ipython', bool)()
    compiler = getattr(shell, 'compile', None)
    cell = compiler and compiler.format_code_name(file)
    name = cell[1] if cell else file
    found = re.search(r'^(?:In\[|<cell |<ipython-input-)(\d+)', name)
    if found:
        return f' of cell {found[1]}'
    return '' if name.startswith('<') else f' of {os.path.basename(name)}'


def name_in_code(f) -> str:
    """Return the name of a function in a suggested program."""
    name = own_name(f)
    return 'f' if type(name) is LambdaName else name
