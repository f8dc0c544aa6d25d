"""What every test and every doctest runs in."""

import gc
import os

import numpy as np
import pytest
from _pytest.doctest import DoctestModule

from autodiff_mini.core.trace import Trace, current_trace, set_current_trace
from tests.support import amount


def pytest_addoption(parser):
    group = parser.getgroup('how much is tested (tests/support/amount.py)')
    group.addoption('--all', action='store_true',
                    help='run every program, not just one of each kind')
    group.addoption('--row', default='', metavar='NAME',
                    help='run the tests of a primitive, such as tanh')
    group.addoption('--examples', type=int, default=1, metavar='N',
                    help='give each law N times as many random examples')
    group.addoption('--share', type=int, default=1, metavar='N',
                    help='run one test in N')


def pytest_configure(config):
    # Who runs the tests looks for faults of the library.
    os.environ.setdefault('AUTODIFF_MINI_TRACEBACK', 'full')
    config.addinivalue_line('markers', 'rest: `make test` leaves it out')
    config.addinivalue_line('markers', 'asks(row, ...): asserts rows of the '
                            'appendix *What the documents ask*')
    amount.WHOLE = config.option.all
    amount.ROW = config.option.row
    amount.TIMES = config.option.examples
    amount.SHARE = config.option.share


def pytest_ignore_collect(collection_path):
    return None if amount.is_read(collection_path) else True


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Collect no garbage, because what is imported here stays."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path):
    """Look for doctests in a file of tests only if it has one.

    Otherwise, doctest asks every name of a file that pytest reads, too.
    """
    found = yield
    if file_path.match('test_*.py') and '>>>' not in file_path.read_text():
        return [it for it in found if not isinstance(it, DoctestModule)]
    return found


def pytest_collection_modifyitems(config, items):
    left = [item for item in items if not amount.is_chosen(item)]
    items[:] = [item for item in items if amount.is_chosen(item)]
    config.hook.pytest_deselected(items=left)
    amount.leave_out(len(left))
    if amount.ROW and not items:
        pytest.exit(f'no program uses {amount.ROW!r}, and no test names it',
                    pytest.ExitCode.NO_TESTS_COLLECTED)


def pytest_sessionfinish(session):
    if hasattr(session.config, 'workeroutput'):     # a process of `-n 2`
        session.config.workeroutput['left_out'] = amount.LEFT_OUT


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    output = getattr(node, 'workeroutput', {})      # none after a crash
    amount.LEFT_OUT = output.get('left_out', amount.LEFT_OUT)


def pytest_terminal_summary(terminalreporter):
    chosen = amount.WHOLE or amount.ROW or amount.SHARE > 1
    if amount.LEFT_OUT and not chosen:
        terminalreporter.write_line(
            f'Cases left out: {amount.LEFT_OUT:,}. `make test-all` runs all '
            'cases, and so does `--all`.')


@pytest.fixture(autouse=True, scope='module')
def what_is_there_stays():
    """Or all that tests have left is looked through again and again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True, scope='session')
def plain_numbers():
    """Prints numbers as `2.0`, not `np.float64(2.0)`, as the book does."""
    with np.printoptions(legacy='1.25'):
        yield


@pytest.fixture(autouse=True, scope='session')
def numpy_in_doctests(doctest_namespace):
    doctest_namespace['np'] = np


@pytest.fixture(autouse=True)
def base_trace_stays_current():
    assert current_trace() is Trace.base
    yield
    left = current_trace()
    set_current_trace(Trace.base)   # or every later test would fail too
    assert left is Trace.base, f'the test left {left} current'


@pytest.fixture
def as_users_see_it(monkeypatch):
    """Errors show the frames of the user's program alone."""
    monkeypatch.delenv('AUTODIFF_MINI_TRACEBACK')
