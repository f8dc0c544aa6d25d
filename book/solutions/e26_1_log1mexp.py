"""The value has two formulas, one for each end, and the slope has one.

M. Mächler compared the two in 2012, in "Accurately computing log(1 -
exp(-|a|))", and log 2 is where he switches from one to the other.

Is the rule needed? Both formulas are computed everywhere. Where `x` is small,
the one that isn't chosen is log1p(-1). In the reverse pass its cotangent is
0, which is divided by 0, and the slope is nan.
"""

import numpy as np

import autodiff_mini as ad


def make_log1mexp():
    """Return `log(1 - exp(-x))`, a function with a rule."""
    @ad.custom_jvp
    def log1mexp(x):
        return np.where(x < np.log(2), np.log(-np.expm1(-x)),
                        np.log1p(-np.exp(-x)))

    log1mexp.defjvps(
        lambda x_dot, y, x: x_dot * np.exp(-x) / -np.expm1(-x))
    return log1mexp
