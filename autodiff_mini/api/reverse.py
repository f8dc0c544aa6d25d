"""Reverse mode, for users: linearize, vjp, grad.

Its one idea: reverse mode is no mode of its own.  It is forward mode cut in
two, and the linear half run backwards.  Chapter 9.
"""

import operator
from functools import partial
from typing import NamedTuple

import numpy as np

from autodiff_mini import seams
from autodiff_mini.api.staging import as_type
from autodiff_mini.arrays import ORDINARY, convert
from autodiff_mini.core import (
    ShapedArray, TraceTag, Tracer, array_type, float0, typeof)
from autodiff_mini.errors import fun_name, public
from autodiff_mini.interpreters.jaxpr import eval_jaxpr
from autodiff_mini.interpreters.jvp import fit_tangent, whole_tangent
from autodiff_mini.interpreters.partial_eval import (
    linear_flat, linearize_flat)
from autodiff_mini.interpreters.transpose import pull
from autodiff_mini.jaxprs import Jaxpr, drop_dead
from autodiff_mini.memory import own_memory
from autodiff_mini.pytree import (
    LEAF, PyTreeDef, leaf_names, register_pytree_node_class, tree_flatten,
    tree_map, tree_structure)
from autodiff_mini.signature import (
    FlatFunction, gives_self, map_leaves, named_after, names_of,
    typeof_result)
from autodiff_mini.zeros import instantiate_all, instantiate_zeros


class LinearProgram(NamedTuple):
    """A linear function between trees, without its residuals.

    Args:
        tag: which application of which transformation made it.
        jaxpr: the function; its `constvars` stand for the residuals.
        in_tree: the structure of its argument.
        in_avals: the types of the leaves.
        out_tree: the structure of its result.
        out_avals: the types of the leaves.
    """

    tag: TraceTag
    jaxpr: Jaxpr
    in_tree: PyTreeDef
    in_avals: tuple[ShapedArray, ...]
    out_tree: PyTreeDef
    out_avals: tuple[ShapedArray, ...]


class LinearFunction:
    """A linear function; a pytree, whose leaves are its residuals."""

    def __init__(self, program, residuals):
        self.program = program
        self.residuals = residuals

    def __repr__(self):
        return f'<{type(self).__name__} from {self.program.tag}>'

    def tree_flatten(self):
        return self.residuals, self.program

    @classmethod
    def tree_unflatten(cls, program, residuals):
        return cls(program, residuals)


@register_pytree_node_class
class Pushforward(LinearFunction):
    """Takes the tangents of the arguments to the tangent of the output."""

    @public
    def __call__(self, *tangents):
        tag, jaxpr, in_tree, in_avals, out_tree, out_avals = self.program
        x_dots, tree = tree_flatten(tangents)
        if tree != in_tree:
            raise TypeError(
                f'{tag}: the linear function takes tangents with the tree '
                f'structure of the primals, {in_tree}, but got {tree}')
        names = lambda: leaf_names(in_tree, f'{tag}: tangents')
        x_dots = map_leaves(fit_tangent, names, in_avals, x_dots)
        y_dots = eval_jaxpr(jaxpr, self.residuals,
                            *map(instantiate_zeros, x_dots))
        y_dots = list(map(whole_tangent, out_avals, y_dots))
        for y_dot in y_dots:
            typeof_result(y_dot)
        return out_tree.unflatten(
            own_memory(y_dots, [*x_dots, *self.residuals]))


@register_pytree_node_class
class Pullback(LinearFunction):
    """Takes the cotangent of the output to those of the arguments."""

    @public
    def __call__(self, *cotangents):
        tag, _, _, _, out_tree, out_avals = self.program
        if len(cotangents) != 1:
            raise TypeError(
                f'{tag}: the pullback got {len(cotangents)} cotangents, but '
                'takes one, with the tree structure of the output of the '
                f'function, {out_tree}. For several outputs, pass a tuple.')
        given, tree = tree_flatten(*cotangents)
        if tree != out_tree:
            raise ValueError(
                f'{tag}: unexpected tree structure of the cotangent: got '
                f'{tree}, but the output of the function has {out_tree}')
        names = lambda: leaf_names(out_tree, f'{tag}: cotangent')
        y_bars = map_leaves(fit_given, names, out_avals, given)
        return self.of_leaves(y_bars, given)

    def of_leaves(self, y_bars, given):
        """Return the cotangents of the arguments; none is one of `given`.

        What is made on the way is of the library of the other arrays.
        """
        _, jaxpr, in_tree, in_avals, *_ = self.program
        others = [*y_bars, *self.residuals]
        if library := seams.library_of(others):
            y_bars = list(map(library.adapt, y_bars))
        x_bars = instantiate_all(pull(jaxpr, self.residuals, y_bars), others)
        x_bars = map(whole_cotangent, in_avals, x_bars)
        return in_tree.unflatten(
            own_memory(x_bars, [*given, *self.residuals]))


def fit_given(aval, ct):
    """Returns a cotangent that the user gives, as one of such an output."""
    try:
        return fit_tangent(aval, ct)
    except (TypeError, ValueError):
        raise ValueError(
            'unexpected type (e.g. shape or dtype) of the cotangent: got '
            f'{typeof(ct)}, but the output of the function is {aval}. Pass '
            'one of the type of the output.') from None


def whole_cotangent(aval, ct):
    """Return the cotangent of an input as users get it: an array."""
    if type(ct) is np.ndarray and array_type(ct.shape, ct.dtype) is aval:
        return ct
    if typeof_result(ct).dtype == float0:
        return ct
    return convert(ct, aval.dtype, aval.weak_type)


seams.linearize.define(linearize_flat)


def linearize_tree(tag, f, primals, has_aux=False, linearizer=linearize_flat,
                   check=typeof, names=None):
    """Return the output of `f`, its linear program, residuals and aux.

    Args:
        tag: which application of which transformation this is.
        f: a function of trees.
        primals: the tuple of its arguments.
        has_aux: whether it returns a pair.
        linearizer: `linearize_flat`, or another way to do the same.
        check: takes a leaf, and returns its type or raises an error.
        names: what errors call the leaves, a function; by default primals.
    """
    xs, in_tree = tree_flatten(primals)
    in_avals = map_leaves(check, names or (
        lambda: leaf_names(in_tree, f'{tag}: primals')), xs)
    flat_f = FlatFunction(f, in_tree, has_aux)
    ys, jaxpr = linearizer(flat_f, xs, tag)
    ys, aux = flat_f.split(own_memory(ys, [*jaxpr.consts, *xs]))
    out_avals = map_leaves(typeof_result, flat_f.out_names, ys)
    del jaxpr.outvars[len(ys):]
    residuals, jaxpr.consts = jaxpr.consts, []
    program = LinearProgram(tag, jaxpr, in_tree, tuple(in_avals),
                            flat_f.out_tree, tuple(out_avals))
    return flat_f.out_tree.unflatten(ys), program, residuals, aux


@public
def linearize(f, *primals, has_aux=False):
    """Returns the output of `f`, and its derivative as a linear function.

    Args:
        f: a function of arrays, or trees of arrays, that computes with NumPy.
        primals: its arguments: the point.
        has_aux: whether `f` returns a pair, of which the second half is not
            to be differentiated.

    Returns:
        `(out, f_jvp)`, or `(out, f_jvp, aux)`.  The function `f_jvp` takes
        tangents, like the arguments, and returns the tangent of the output.
        It runs only what depends on the tangents.  It is a pytree, whose
        leaves are the arrays that it needs, the residuals.

    Raises:
        TypeError: something that goes into `f` or comes out of it is no
            array, or the tangents do not fit the arguments.

    Source: `jax.linearize`.

    Examples:
        >>> y, f_jvp = linearize(lambda x: x ** 2, 3.0)
        >>> y, f_jvp(1.0), f_jvp(10.0)
        (9.0, 6.0, 60.0)
    """
    tag = TraceTag('linearize', f)
    y, program, residuals, aux = linearize_tree(tag, f, primals, has_aux)
    program.jaxpr.consts = residuals
    jaxpr = drop_dead(program.jaxpr)
    residuals, jaxpr.consts = jaxpr.consts, []
    f_jvp = Pushforward(program._replace(jaxpr=jaxpr), residuals)
    return (y, f_jvp, aux) if has_aux else (y, f_jvp)


@public
def vjp(f, *primals, has_aux=False):
    """Returns the output of `f`, and its derivative run backwards.

    Args:
        f: a function of arrays, or trees of arrays, that computes with NumPy.
        primals: its arguments: the point.
        has_aux: whether `f` returns a pair, of which the second half is not
            to be differentiated.

    Returns:
        `(out, f_vjp)`, or `(out, f_vjp, aux)`.  The function `f_vjp` takes a
        cotangent, like the output, and returns a tuple of cotangents, like
        the arguments.  Those of integers and booleans have the dtype
        `float0`.  It is a pytree, whose leaves are the arrays that it needs,
        the residuals.  A complex cotangent stands for a linear function of
        `z`, that of which the value is the real part of `ct * z`.

    Raises:
        TypeError: something that goes into `f` or comes out of it is no
            array.
        ValueError: the cotangent does not fit the output.

    Source: `jax.vjp`.  The method, linearize and transpose, is that of
    A. Radul et al., "You only linearize once", POPL 2023.

    Examples:
        >>> y, f_vjp = vjp(lambda x, y: x * y, 3.0, 5.0)
        >>> y, f_vjp(1.0)
        (15.0, (5.0, 3.0))
    """
    tag = TraceTag('vjp', f)
    y, program, residuals, aux = linearize_tree(tag, f, primals, has_aux)
    f_vjp = Pullback(program, residuals)
    return (y, f_vjp, aux) if has_aux else (y, f_vjp)


@public
def linear_transpose(f, *primals):
    """Returns the linear function `f`, run backwards.

    Args:
        f: a linear function of arrays, or trees of arrays.
        primals: its arguments, or anything with their shapes and dtypes.

    Returns:
        A function of a cotangent, like the output, that returns a tuple of
        cotangents, like the arguments; a pytree, as that of vjp.

    Raises:
        TypeError, NotImplementedError: `f` is not linear.

    Source: `jax.linear_transpose`.

    Examples:
        >>> twice_the_sum = lambda x: np.sum(x) * 2
        >>> linear_transpose(twice_the_sum, np.ones(3))(1.0)
        (array([2., 2., 2.]),)
    """
    tag = TraceTag('linear_transpose', f)
    xs, in_tree = tree_flatten(tree_map(as_type, primals))
    names = lambda: leaf_names(in_tree, f'{tag}: primals')
    in_avals = map_leaves(typeof, names, xs)
    flat_f = FlatFunction(f, in_tree)
    jaxpr = linear_flat(flat_f, in_avals, tag)
    residuals, jaxpr.consts = jaxpr.consts, []
    program = LinearProgram(tag, jaxpr, in_tree, tuple(in_avals),
                            flat_f.out_tree, tuple(jaxpr.out_avals))
    return Pullback(program, residuals)


@public
def grad(f, argnums=0, has_aux=False, holomorphic=False, allow_int=False):
    """Returns a function that returns the gradient of `f`.

    Args:
        f: a function of arrays, or trees of arrays, that returns a scalar.
        argnums: the position of the argument to differentiate by, or a tuple
            of positions.
        has_aux: whether `f` returns a pair, of which the second half is not
            to be differentiated.
        holomorphic: whether `f` takes complex numbers to a complex number,
            and has a complex derivative.
        allow_int: whether that argument may hold integers and booleans.
            Their gradients have the dtype `float0`.

    Returns:
        A function of the same arguments.  It returns the gradient, which has
        the structure, shapes and dtypes of the argument; a tuple of
        gradients, if `argnums` is one; with `has_aux`, `(gradient, aux)`.
        By a complex argument `x + 1j * y`, the gradient of a real number is
        `df/dx - 1j * df/dy`, as in JAX: it falls along the conjugate.

    Raises:
        TypeError: `f` returns no scalar of a real floating type, an argument
            to differentiate by has integers, or there is no such argument.

    Source: `jax.grad`.

    Examples:
        >>> grad(lambda x: np.sum(x ** 2))(np.array([1.0, 2.0]))
        array([2., 4.])
    """
    differentiated = gradient_of(f, argnums, has_aux, holomorphic, allow_int)

    @public
    @named_after(f)
    def grad_of_f(*args, **kwargs):
        _, aux, gradient = differentiated(args, kwargs)
        return (gradient, aux) if has_aux else gradient
    return grad_of_f


@public
def value_and_grad(f, argnums=0, has_aux=False, holomorphic=False,
                   allow_int=False):
    """Returns a function that returns the value of `f` and its gradient.

    Args:
        f: a function that returns a scalar, as for grad.
        argnums: by which arguments to differentiate.
        has_aux: whether `f` returns a pair, the second half as it is.
        holomorphic: whether `f` has a complex derivative.
        allow_int: whether arguments may hold integers.

    Returns:
        A function of the same arguments.  It returns `(value, gradient)`;
        with `has_aux`, `((value, aux), gradient)`.

    Raises:
        TypeError: as grad.

    Source: `jax.value_and_grad`.

    Examples:
        >>> value_and_grad(lambda x, y: x * y, argnums=(0, 1))(3.0, 5.0)
        (15.0, (5.0, 3.0))
    """
    differentiated = gradient_of(f, argnums, has_aux, holomorphic, allow_int)

    @public
    @named_after(f)
    def value_and_grad_of_f(*args, **kwargs):
        y, aux, gradient = differentiated(args, kwargs)
        return ((y, aux) if has_aux else y), gradient
    return value_and_grad_of_f


def gradient_of(f, argnums, has_aux, holomorphic, allow_int):
    """Return a function of arguments, to output, aux, and gradient of `f`."""
    positions = positions_of(TraceTag('grad', f), argnums)

    def differentiated(args, kwargs):
        tag = TraceTag('grad', f)
        g, point, names = select(tag, f, argnums, positions, args, kwargs)
        check = partial(check_differentiable, tag, 'inputs', allow_int,
                        holomorphic or None)
        y, program, residuals, aux = linearize_tree(
            tag, g, point, has_aux, seams.linearize, check, names)
        one = [one_for(tag, y, program, holomorphic)]
        gradients = Pullback(program, residuals).of_leaves(one, one)
        return y, aux, chosen_arguments(argnums, gradients)
    return differentiated


def select(tag, f, argnums, positions, args, kwargs):
    """Return `f` as a function of some of its arguments; and these.

    And a function that returns what errors call their leaves.
    """
    count, chosen = len(args), []
    for i in positions:
        if not -count <= i < count:
            raise TypeError(
                f'{tag}: differentiating with respect to argnums={argnums} '
                f'requires at least {i + 1 if i >= 0 else -i} positional '
                'arguments to be passed by the caller, but got only '
                f'{count}' + ('. Pass it by position, not by keyword.'
                              if kwargs else ''))
        if i % count == 0 and type(args[0]) not in ORDINARY and (
                gives_self(f, args)):
            raise TypeError(
                f'{tag}: argnums={argnums} names self, of type '
                f'{type(args[0]).__name__}, which has no derivative. Write '
                'argnums=1 for the argument after self, or make the class a '
                'dataclass to differentiate by its fields')
        chosen.append(i % count)
    if len({*chosen}) < len(chosen):
        raise TypeError(f'{tag}: argnums={argnums} names an argument twice, '
                        f'of {count}: name each once')

    def f_of_some(*values):
        every = list(args)
        for i, value in zip(chosen, values, strict=True):
            every[i] = value
        return f(*every, **kwargs)

    def names():
        return [name for i in chosen for name in leaf_names(
            tree_structure(args[i]), f'{tag}: argument {i}')]
    f_of_some.__qualname__ = fun_name(f)
    return f_of_some, tuple(map(args.__getitem__, chosen)), names


def positions_of(tag, argnums) -> list:
    """Returns the positions in argnums; raises a TypeError for others."""
    several = isinstance(argnums, (tuple, list))
    try:
        return list(map(operator.index, argnums if several else [argnums]))
    except TypeError:
        f, names = fun_name(tag.function), names_of(tag.function)
        cure = (f'Write {names.index(argnums)}' if isinstance(argnums, str)
                and argnums in names else
                f'Pass arguments of {f} in a second call: '
                f'ad.{tag.transform}({f})(x)')
        raise TypeError(f'{tag}: argnums must be an int or a tuple of ints, '
                        f'but got {argnums!r}. {cure}.') from None


def check_differentiable(tag, what, allow_int, holomorphic, x):
    """Return the type of a leaf, or raise a TypeError if it's of no use.

    Args:
        tag: which application of which transformation this is.
        what: 'inputs' or 'outputs'.
        allow_int: whether integers are allowed.
        holomorphic: True if it has to be complex, False if it must not be,
            and None if it can be.
        x: an array.
    """
    aval = typeof(x)
    if aval.dtype.kind not in 'fc' and not allow_int:
        cure = (f'Write {float(x)}' if what == 'inputs' and aval.weak_type
                and not isinstance(x, Tracer) else
                'Convert it, x.astype(float)')
        raise TypeError(
            f'{tag.transform} requires real-valued {what} ({what[:-1]} '
            'dtype that is a sub-dtype of np.floating), but got '
            f'{aval}, which has no derivative. {cure}.')
    if holomorphic and aval.dtype.kind != 'c':
        raise TypeError(f'{tag.transform} with holomorphic=True requires '
                        f'complex-valued {what}, but got {aval}. Convert '
                        'it with astype, or leave holomorphic out.')
    if holomorphic is False and aval.dtype.kind == 'c':
        raise TypeError(
            f'{tag.transform} requires real-valued {what}, but got '
            f'{aval}. If the function has a complex derivative, pass '
            'holomorphic=True; if not, make them real, by np.abs say.')
    return aval


def one_for(tag, y, program, holomorphic):
    """Return the cotangent 1 for a scalar output, or raise a TypeError."""
    if program.out_tree is not LEAF:
        cure = ('Is a `return` missing?' if y is None else
                'Pass has_aux=True, so that only the first of the pair is '
                'differentiated.' if isinstance(y, tuple) and len(y) == 2
                else 'Return one number.')
        raise TypeError(f'{tag}: Gradient only defined for scalar-output '
                        f'functions. Output was: {y}. {cure}')
    [aval] = program.out_avals
    if aval.shape != ():
        raise TypeError(f'{tag}: Gradient only defined for scalar-output '
                        f'functions. Output had shape: {aval.shape}. Return '
                        'its sum or mean; for the derivative of each element '
                        'there is jacrev.')
    if aval.dtype.kind != 'f' or holomorphic:
        map_leaves(partial(check_differentiable, tag, 'outputs', False,
                           bool(holomorphic)), lambda: [f'{tag}: outputs'],
                   [y])
    one = aval.dtype.type(1)
    one = one.item() if aval.weak_type else one
    library = seams.library_of([y])
    return library.adapt(one) if library else one


def chosen_arguments(argnums, results):
    """Returns the results for the arguments: a tuple, or the only one."""
    return results if isinstance(argnums, (tuple, list)) else results[0]
