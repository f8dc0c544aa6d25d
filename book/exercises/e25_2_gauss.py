"""Cold case: the width that didn't learn.

The report: "I wrote a primitive for a bump, `exp(-(x / width)**2)`, with all
its rules, and I test what I write. The slope in `x` is right, and the slope
in `width` is right. I compared both with finite differences, batched and
compiled. Then I train `x` and `width` together. `x` learns. `width` stays
where it is."

One line is wrong. Let `check_grads` find out in which rule. Which `args` do
you have to give it?
"""

import numpy as np

import autodiff_mini as ad

HINTS = (
    'Try `ad.check_grads(lambda x: gauss(x, 2.0), (x,), 1)`, the same for '
    '`width`, and then `ad.check_grads(gauss, (x, 2.0), 1)`. In which of '
    'them is there no Zero?',
    'The directions of `check_grads` are random in all arguments together. '
    'What does the rule return if neither tangent is a Zero?',
)

gauss_p = ad.Primitive('gauss')


def gauss(x, width):
    return gauss_p.bind(x, width)


@gauss_p.def_impl
def implementation(x, width):
    return np.exp(-(x / width) ** 2)


@gauss_p.def_abstract_eval
def abstract_eval(x, width):
    return ad.eval_shape(implementation, x, width)


@gauss_p.def_vmap
def vmap(args, dims):
    x, width = args
    if dims[1] == 0:    # a number for each element of the batch
        width = np.expand_dims(width, tuple(range(
            1, 1 + np.ndim(x) - (dims[0] == 0))))
    return gauss(x, width), 0


@gauss_p.def_jvp
def jvp(primals, tangents):
    (x, width), (x_dot, width_dot) = primals, tangents
    y = gauss(x, width)
    slope = -2 * x / width ** 2 * y
    y_dot = np.zeros_like(y)
    if not isinstance(x_dot, ad.Zero):
        y_dot = y_dot + slope * x_dot
    elif not isinstance(width_dot, ad.Zero):
        y_dot = y_dot - slope * x / width * width_dot
    return y, y_dot


# exercise e25_2: one line above is wrong. Fix it.
