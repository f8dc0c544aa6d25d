"""What works in NumPy and scipy.special, function by function.

The programs of programs.py call the functions. We record these calls, and
differentiate each function with respect to each argument.

    python -m tests.commands.what_works      writes book/what_works.json
"""

import inspect
import json
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np
import scipy.special

import autodiff_mini as ad
from autodiff_mini.core import seams
from autodiff_mini.core.trace import function_table, ufunc_table
from tests.support.tangents import random_tangent
from tests.tables.programs import PROGRAMS

FILE = Path(__file__).parents[2] / 'book/what_works.json'
MODULES = {'numpy': np, 'numpy.linalg': np.linalg, 'numpy.fft': np.fft,
           'scipy.special': scipy.special}

# Why a function is not supported.
REASONS = {
    'the shape of its result depends on values': '''
        intersect1d setdiff1d setxor1d union1d unique unique_all
        unique_counts unique_inverse unique_values trim_zeros''',
    "its result isn't an array of numbers": '''
        array2string array_repr array_str save savetxt savez
        savez_compressed can_cast min_scalar_type may_share_memory
        shares_memory''',
    "it's about bits or dates": '''
        packbits unpackbits busday_count busday_offset is_busday
        datetime_as_string isnat''',
}


class Seen(ModuleType):
    """A module that notes how its functions are called.

    Args:
        module: the module.
        calls: a dictionary, for the arguments of each function's calls.
    """

    def __init__(self, module, calls):
        super().__init__(module.__name__)
        self.module = module
        self.calls = calls

    def __getattr__(self, name):
        found = getattr(self.module, name)
        if isinstance(found, ModuleType):
            return Seen(found, self.calls)
        if not (asks(found) or self.module is scipy.special):
            return found

        def call(*args, **kwargs):
            self.calls.setdefault(found, []).append((args, kwargs))
            return found(*args, **kwargs)
        return call

    @property
    def special(self):
        """SciPy's special functions, for the programs that call them."""
        return Seen(scipy.special, self.calls)


def asks(function):
    """Return whether a NumPy function dispatches to tracers."""
    return isinstance(function, np.ufunc) or hasattr(function,
                                                     '_implementation')


def stands(function):
    """Return whether the library has an implementation of a function."""
    table = ufunc_table if isinstance(function, np.ufunc) else function_table
    try:
        seams.bring(function)
    except NotImplementedError:     # some say why they are refused
        return False
    return function in table


@cache
def calls():
    """Return {function: [(args, kwargs)]}, the calls of the programs."""
    found = {}
    with np.errstate(all='ignore'):
        for program in PROGRAMS:
            try:
                program.function(Seen(np, found), *program.args)
            except (AttributeError, TypeError):
                continue    # it needs NumPy itself
    return found


def slopes(function):
    """Return the names of the arguments that have a derivative."""
    names = {}
    for args, kwargs in calls()[function]:
        for i in range(len(args)):
            name = name_of(function, i)
            if name not in names and moves(function, args, kwargs, i):
                names[name] = i
    return sorted(names, key=names.get)


def name_of(function, i):
    """Return the name of a function's argument at this position."""
    if isinstance(function, np.ufunc):
        return f'x{i + 1}' if function.nin > 1 else 'x'
    parameters = inspect.signature(function).parameters.values()
    several = [k for k, p in enumerate(parameters)
               if p.kind is p.VAR_POSITIONAL]
    return [*parameters][min([i, *several])].name


def moves(function, args, kwargs, i):
    """Return whether the result depends on an argument, to first order."""
    leaves, tree = ad.tree_flatten(args[i])
    if not leaves or not all(isinstance(
            x, (np.ndarray, np.number, float, complex)) for x in leaves):
        return False
    rng = np.random.default_rng(3)
    tangents = [random_tangent(rng, x) for x in leaves]
    try:
        with np.errstate(all='ignore'):
            _, dots = ad.jvp(
                lambda x: function(*args[:i], x, *args[i + 1:], **kwargs),
                (args[i],), (tree.unflatten(tangents),))
    except (TypeError, NotImplementedError):
        return False
    return any(np.result_type(t) != ad.float0 and np.any(t != 0)
               for t in ad.tree_leaves(dots))


def functions(module):
    """Return {name: function} of the public functions of arrays."""
    found = {name: getattr(module, name) for name in sorted(dir(module))
             if name[0] != '_'}
    if module is scipy.special:
        return {name: f for name, f in found.items()
                if name in module.__all__ and callable(f)
                and not isinstance(f, type)}
    return {name: f for name, f in found.items() if asks(f)}


def answer(name, function):
    """Return the arguments with a derivative, or why there are none."""
    if function in calls() if not asks(function) else stands(function):
        return slopes(function)
    if not asks(function):
        return 'it converts its input to plain arrays'
    for reason, names in REASONS.items():
        if name in names.split():
            return reason
    return 'it has no rule'


@cache
def answers():
    """Return {module: {name: answer}}."""
    return {title: {name: answer(name, function)
                    for name, function in functions(module).items()}
            for title, module in MODULES.items()}


if __name__ == '__main__':
    FILE.write_text(json.dumps(answers(), indent=0) + '\n')
