"""What an exercise's tests are given: the reader's file, fresh."""

import pytest

from book.tools.exercises import loaded


@pytest.fixture
def exercise(request):
    with loaded(request.path.stem.removeprefix('test_')) as module:
        yield module
