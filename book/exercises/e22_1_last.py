"""Predict: which rule ran last?

Here's a function with a rule, `area(width, height, unit)`. The unit is a word
and has no derivative. Its author tries some variants. Each rule makes a note
when it's called.

Predict the result of each of the eight programs. It's the number that the
program returns or, if the program raises an error, the rule that ran last:
`'fwd'`, `'bwd'`, or `'neither'`.
"""

import autodiff_mini as ad

HINTS = (
    'An error is raised at the first place that can notice a mistake. What '
    'does the library have to know before it calls `fwd`? And what can it '
    'see only in the result of a rule?',
    "Two of the programs aren't differentiated in reverse mode. Is either "
    "rule called then, and what can't be run?",
    "A cotangent of None is a claim, and nothing checks whether it's true. "
    'The library does check, for each cotangent, whether it fits its '
    'argument.',
)

ran = []


def good_fwd(width, height, unit):
    return width * height, (width, height)


def good_bwd(unit, residuals, ct):
    width, height = residuals
    return ct * height, ct * width


def area(fwd=good_fwd, bwd=good_bwd, nondiff_argnums=(2,)):
    """Return the function; its rules are noted in `ran`."""
    def noted_fwd(*args):
        ran.append('fwd')
        return fwd(*args)

    def noted_bwd(*args):
        ran.append('bwd')
        return bwd(*args)

    f = ad.custom_vjp(lambda width, height, unit: width * height,
                      nondiff_argnums)
    f.defvjp(noted_fwd, noted_bwd)
    return f


def only_the_area(width, height, unit):
    return width * height


def only_the_width(unit, residuals, ct):
    return ct * residuals[1]


def height_is_fixed(unit, residuals, ct):
    return ct * residuals[1], None


def height_is_a_pair(unit, residuals, ct):
    return ct * residuals[1], (ct, ct)


PROGRAMS = {
    'a': lambda: area(nondiff_argnums=())(2.0, 3.0, 'm'),
    'b': lambda: area(only_the_area)(2.0, 3.0, 'm'),
    'c': lambda: ad.grad(area(only_the_area))(2.0, 3.0, 'm'),
    'd': lambda: ad.jvp(lambda x: area()(x, 3.0, 'm'), (2.0,), (1.0,)),
    'e': lambda: ad.grad(area(bwd=only_the_width))(2.0, 3.0, 'm'),
    'f': lambda: ad.grad(area(bwd=height_is_fixed), 1)(2.0, 3.0, 'm'),
    'g': lambda: ad.grad(area(bwd=height_is_a_pair), 0)(2.0, 3.0, 'm'),
    'h': lambda: ad.grad(lambda x: area()(2.0, 3.0, unit=x))(1.0),
}


def prediction():
    # e.g. {'a': 'neither', 'b': 'fwd', 'c': 'bwd', 'd': 1.0, 'e': 1.0,
    #       'f': 1.0, 'g': 1.0, 'h': 1.0}
    raise NotImplementedError('exercise e22_1: write your answers here')
