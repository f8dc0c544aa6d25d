"""The square of 1e-200 is too small for a float, and becomes 0. The library
divides twice by `y` and never meets the square. (With `y = 1e200` and `x =
1e300` the square becomes infinite, which breaks the proposal too.)
"""


def proposal(y_dot, z, x, y):
    return -y_dot * x / (y * y)


def breaks_it():
    return 1e-200, 1e-200
