"""The library raises an error at the first place where it can see a mistake.
In `a` the word isn't an array, so the call itself is refused. In `h` the unit
is being differentiated, which is known before `fwd` is called, and no rule
could return a cotangent for it.

The library looks at what `fwd` returns when `fwd` returns. Nothing calls
`fwd` in `b`, so its mistake goes unnoticed. `d` isn't refused right away.
Forward mode calls `fwd`, puts the envelope into the program, and fails when
it tries to run the envelope.

In `e` the rule returns an array where there should be a tuple of two, though
only the first was asked for. In `g` the other entry doesn't fit, and the
error says so. `f` is correct in form but not in fact. None says that the
height doesn't matter, so its slope is 0.
"""

import autodiff_mini as ad

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
    return {'a': 'neither', 'b': 6.0, 'c': 'fwd', 'd': 'fwd', 'e': 'bwd',
            'f': 0.0, 'g': 'bwd', 'h': 'neither'}
