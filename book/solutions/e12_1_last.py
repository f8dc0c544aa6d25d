"""An error is raised where there is first something to see. The word in `a`
is no array, and the call itself is refused. In `h` the unit moves, which is
known before `fwd` is called, and then no rule could say what comes of it.

What `fwd` returns is looked at when `fwd` returns; in `b` nobody calls it,
for a rule that is not asked for cannot be wrong. And `d` is not refused at
once: forward mode calls `fwd`, lays the envelope into the program, and fails
when it tries to run that.

`e` is an array where a tuple of two should be, though only the first was
asked for; and in `g` it is the other entry that does not fit, and that is
said, too. In `f` all is in order but the truth. None says that the height
does not matter, so its slope is 0.
"""

import autodiff_mini as ad

ran = []


def good_fwd(width, height, unit):
    return width * height, (width, height)


def good_bwd(unit, residuals, ct):
    width, height = residuals
    return ct * height, ct * width


def area(fwd=good_fwd, bwd=good_bwd, nondiff_argnums=(2,)):
    """Returns the function; its rules are noted in `ran`."""
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
    return {'a': 'nobody', 'b': 6.0, 'c': 'fwd', 'd': 'fwd', 'e': 'bwd',
            'f': 0.0, 'g': 'bwd', 'h': 'nobody'}
