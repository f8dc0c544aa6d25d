"""Run a function with a lying rule under every order of transformations.

The function is exp(2x), whose slope at 0 is 2. Its rule claims 3 exp(2x). A
derivative that used the rule brings a factor of 3, and a derivative for which
a transformation had opened the function, and lost its rule, brings a factor
of 2. So n derivatives must give 3 to the n, whatever else is in the order.

Every order runs twice, with the rule and without it. If the second run fails,
the order says nothing about rules.

`system` is a module of the folder `systems`, or a namespace like it.
"""

import os
import pickle
import signal
import warnings
from collections import Counter
from contextlib import contextmanager
from itertools import product
from typing import NamedTuple

VERDICTS = {
    'kept': 'each derivative used the rule',
    'lost': 'some derivative did not use it, and there was no error',
    'wrong': 'another number, without an error',
    'refused': 'an error, but none without the rule',
    'fails anyway': 'an error or a wrong number without the rule, too'}
SLOPE, CLAIM = 2, 3
PATIENCE = 60       # seconds, for an order in a process of its own


class Answer(NamedTuple):
    """The number that an order gave, or the text of its error."""
    value: float | None
    error: str | None


class Result(NamedTuple):
    """What one order gave. Its names are in the order of application."""
    order: tuple
    right: int          # what the rule claims
    found: Answer       # with the rule
    control: Answer     # without it
    verdict: str


def lie_test(system, rule, depth):
    """Yield the result of every order of at most `depth` transformations."""
    for order in orders(system, depth):
        yield result(system, rule, order)


def orders(system, depth):
    """Yield the orders that have a derivative.

    If the system has `must_have`, they also have one of its names.
    """
    must_have = getattr(system, 'must_have', None)
    names = [*system.wrappers, *system.derivatives]
    for length in range(1, depth + 1):
        for order in product(names, repeat=length):
            if system.derivatives.keys() & {*order} and (
                    not must_have or must_have & {*order}):
                yield order


def result(system, rule, order):
    """Run one order with the rule and without it."""
    run = in_a_process if getattr(system, 'forks', False) else answer
    found = run(system, system.rules[rule], order)
    control = run(system, system.plain, order)
    n = sum(name in system.derivatives for name in order)
    return Result(order, CLAIM ** n, found, control,
                  verdict(n, found, control))


def answer(system, f, order):
    """Apply the transformations to `f`, and the result to the number."""
    transformations = {**system.wrappers, **system.derivatives}
    try:
        with silence():
            for name in order:
                f = transformations[name](f)
            return Answer(float(f(system.number)), None)
    except Exception as error:
        words = ' '.join(str(error).split())
        return Answer(None, f'{type(error).__name__}: {words}')


def in_a_process(*args):
    """Return the answer of a forked process, which can do no harm here.

    After some errors, PyTorch refuses what it would have answered before.
    """
    reader, writer = os.pipe()
    with silence():     # Python warns of forks beside other threads
        child = os.fork()
    if not child:
        try:
            send(answer, args, writer)
        finally:
            os._exit(0)
    os.close(writer)
    with open(reader, 'rb') as file:
        data = file.read()
    os.waitpid(child, 0)
    return pickle.loads(data) if data else Answer(
        None, f'it died, or it took {PATIENCE} seconds')


def send(function, args, writer):
    """Write a function's result into a pipe, unless it takes too long."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    signal.alarm(PATIENCE)
    with open(writer, 'wb') as file:
        pickle.dump(function(*args), file)


@contextmanager
def silence():
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        yield


def verdict(n, found, control):
    """Say what became of the rule in an order with `n` derivatives."""
    works = control.error is None and near(control.value, SLOPE ** n)
    if found.error is not None:
        return 'refused' if works else 'fails anyway'
    if near(found.value, CLAIM ** n):
        return 'kept'
    if control.error is None and not works:
        return 'fails anyway'
    lost = any(near(found.value, SLOPE ** m * CLAIM ** (n - m))
               for m in range(1, n + 1))
    return 'lost' if lost else 'wrong'


def near(x, y):
    return abs(x - y) < 1e-9


def counted(results):
    """Return how many orders have each verdict."""
    counts = Counter(found.verdict for found in results)
    return {verdict: counts[verdict] for verdict in VERDICTS}


def written(order):
    """Write an order as in a program: ('vmap', 'grad') is grad(vmap(f)).

    >>> written(('vmap', 'grad'))
    'grad(vmap(f))'
    """
    return '('.join([*reversed(order), 'f']) + ')' * len(order)


def read(text):
    """Return the names of a written order, the first to be applied first.

    >>> read('grad(vmap(f))')
    ('vmap', 'grad')
    """
    *names, _ = text.replace(')', '').split('(')
    return tuple(reversed(names))
