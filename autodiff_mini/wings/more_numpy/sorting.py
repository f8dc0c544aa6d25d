"""Sorting: the order is found once, and the elements are taken in it.

`argsort` is the only primitive.  Its result is integers, so it has no
derivative, and that of a sorted array is the tangent in the same order.
Chapter 30.
"""

import numpy as np

from autodiff_mini.core.errors import refuse
from autodiff_mini.interpreters.jvp import defjvp
from autodiff_mini.numpy_functions.arguments import along_one
from autodiff_mini.numpy_functions.table import asarray, implements
from autodiff_mini.primitives.reductions import axis_primitive, reducing
from autodiff_mini.wings.more_numpy.along_axis import same_shape

argsort_p = axis_primitive(np.argsort, same_shape, reducing)
defjvp(argsort_p)


@implements(np.argsort)
def numpy_argsort(a, axis=-1, kind=None, order=None, *, stable=None):
    refuse(np.argsort, order=order)
    a, axis = along_one(a, axis, or_number=True)
    return argsort_p.bind(a, axis=axis, kind='stable' if stable else kind)


@implements(np.sort)
def numpy_sort(a, axis=-1, kind=None, order=None, *, stable=None):
    refuse(np.sort, order=order)
    a, axis = along_one(a, axis)
    places = np.argsort(a, axis, kind, stable=stable)
    return np.take_along_axis(a, places, axis)


@implements(np.partition)
def numpy_partition(a, kth, axis=-1, kind='introselect', order=None):
    a, axis = along_one(a, axis)
    np.partition(np.arange(a.shape[axis]), kth)     # raises if out of bounds
    return np.sort(a, axis, order=order)


@implements(np.argpartition)
def numpy_argpartition(a, kth, axis=-1, kind='introselect', order=None):
    a, axis = along_one(a, axis, or_number=True)
    np.partition(np.arange(a.shape[axis]), kth)
    return np.argsort(a, axis, order=order)


@implements(np.lexsort)
def numpy_lexsort(keys, axis=-1):
    first, *rest = map(asarray, keys)
    if first.ndim == 0:
        return np.intp(0)
    places = np.argsort(first, axis, stable=True)
    for key in rest:
        key = np.take_along_axis(key, places, axis)
        places = np.take_along_axis(
            places, np.argsort(key, axis, stable=True), axis)
    return places
