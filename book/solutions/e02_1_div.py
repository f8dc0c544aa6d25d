"""The square of 1e-200 is too small for a float, so it becomes 0. The draft
divides by `y` twice and never computes the square. (With `y = 1e200` and `x =
1e300` the square becomes infinite, which breaks the proposal too.)
"""


def proposal(y_dot, z, x, y):
    return -y_dot * x / (y * y)


def breaks_it():
    return 1e-200, 1e-200
