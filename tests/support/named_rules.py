"""Functions with rules that can be pickled.

They and their rules have names in a module, where pickle finds them.
"""

import numpy as np

import autodiff_mini as ad


@ad.custom_jvp
def thrice(x):
    return np.sin(x)


@thrice.defjvp
def thrice_jvp(primals, tangents):
    return thrice(*primals), 3 * tangents[0]


@ad.custom_vjp
def five_times(x):
    return np.sin(x)


def five_fwd(x):
    return five_times(x), None


def five_bwd(_, ct):
    return 5 * ct,


five_times.defvjp(five_fwd, five_bwd)


@ad.custom_vmap
def batched(x):
    return np.sin(x)


@batched.def_vmap
def batched_vmap(axis_size, in_batched, x):
    return 7 * np.sin(x), True
