"""Nothing recurses over the length of a program."""

import subprocess
import sys
import textwrap

import pytest

PROGRAM = '''
    import sys
    import numpy as np
    import autodiff_mini as ad

    def f(x):
        y = x
        for _ in range(50_000):
            y = y * 0.999 + x * 0.001
        return y

    x = {x}
    sys.setrecursionlimit(300)
    y, y_dot = ad.jvp(f, (x,), (2 * x,))
    sys.setrecursionlimit(1000)
    np.testing.assert_allclose(y, x, rtol=1e-9)
    np.testing.assert_allclose(y_dot, 2 * x, rtol=1e-9)
    print('done')
'''


@pytest.mark.parametrize('x', ['1.5', 'np.arange(3.)'])
def test_150_000_operations_at_recursion_limit_300(x):
    result = subprocess.run(
        [sys.executable, '-c', textwrap.dedent(PROGRAM).format(x=x)],
        capture_output=True, text=True, timeout=120)
    assert result.stdout == 'done\n', result.stderr
