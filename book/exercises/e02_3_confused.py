"""Cold case: the slopes that moved in together.

The report: "I wrote my own `slope`. Hundreds of first derivatives were
right, so I shipped it. Then a user took the slope of x times (the slope of
x + y with respect to y). It should be 1, and mine says 2. Your `jvp` gets
it right, and we use the same interpreter!" That's true. The `JVPTrace` is
the draft's, and it opens only the boxes with its own tag. One line in this
file is wrong. Find it and fix it.
"""

from autodiff_mini.draft.core import current_trace
from autodiff_mini.draft.jvp import JVPTrace

HINTS = (
    'An outer and an inner slope run at the same time. When does one '
    'interpreter take the other one\'s box for its own?',
    'If two applications had the same tag, each would open the other\'s '
    'boxes. When does Python evaluate the default value of an argument?',
)


def slope(f, x, tag=object()):
    """Return the slope of `f` at `x`."""
    with JVPTrace(current_trace(), tag or object()) as trace:
        y = f(trace.pack(x, 1.0))
    y_dot = trace.tangent(y)
    return 0.0 if y_dot is None else y_dot

# exercise e02_3: one line above is wrong. Fix it.
