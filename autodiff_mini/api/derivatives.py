"""Derivatives, for users: `linearize`, `vjp`, and `grad`.

Reverse mode is forward mode cut in two, with the linear half run backwards.
Chapter 10.
"""

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import repeat
from typing import NamedTuple

import numpy as np

from autodiff_mini.api.forward import whole_tangent
from autodiff_mini.api.staging import as_type
from autodiff_mini.core import seams
from autodiff_mini.core.errors import TypeOrValueError, UnexpectedTracerError
from autodiff_mini.core.jaxprs import Jaxpr, drop_dead
from autodiff_mini.core.memory import Loan, own_memory
from autodiff_mini.core.names import TraceTag, own_name
from autodiff_mini.core.public import public
from autodiff_mini.core.signature import gives_self, named_after
from autodiff_mini.core.trees import (
    LEAF, FlatFunction, PyTreeDef, leaf_names, map_leaves,
    register_pytree_node_class, tree_flatten, tree_leaves, tree_map,
    tree_structure)
from autodiff_mini.core.types import (
    NUMBERS, ShapedArray, array_type, convert, float0, typeof, typeof_result)
from autodiff_mini.core.zeros import (
    fit_tangent, instantiate_all, instantiate_zeros)
from autodiff_mini.interpreters.jaxpr import eval_jaxpr
from autodiff_mini.interpreters.partial_eval import (
    linear_flat, linearize_flat)


class LinearProgram(NamedTuple):
    """A linear function between trees, without its residuals.

    Args:
        tag: which application of which transformation made it.
        jaxpr: the function; its `constvars` are the residuals.
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


@dataclass(eq=False, repr=False)
class LinearFunction:
    """A linear function; a pytree, whose leaves are its residuals."""

    program: LinearProgram
    residuals: list

    def __repr__(self):
        return f'<{type(self).__name__} from {self.program.tag}>'

    def tree_flatten(self):
        return self.residuals, self.program

    @classmethod
    def tree_unflatten(cls, program, residuals):
        return cls(program, residuals)


@register_pytree_node_class
class Pushforward(LinearFunction):
    """A function from tangents of the arguments to one of the output."""

    @public
    def __call__(self, *tangents):
        tag, jaxpr, in_tree, in_avals, out_tree, out_avals = self.program
        x_dots, tree = tree_flatten(tangents)
        if tree != in_tree:
            raise TypeError(
                f'{tag}: the linear function takes tangents with the tree '
                f'structure of the primals, {in_tree}, but got {tree}')
        names = lambda: leaf_names(in_tree, f'{tag}: tangents')
        x_dots = map_leaves(partial(fit_given, UNLIKE_PRIMAL), names,
                            in_avals, x_dots)
        y_dots = eval_jaxpr(jaxpr, self.residuals,
                            *map(instantiate_zeros, x_dots))
        y_dots = list(map(whole_tangent, out_avals, y_dots))
        for y_dot in y_dots:
            typeof_result(y_dot)
        return out_tree.unflatten(
            own_memory(y_dots, [*x_dots, *self.residuals]))


@register_pytree_node_class
class Pullback(LinearFunction):
    """A function from a cotangent of the output to the arguments'."""

    @public
    def __call__(self, *cotangents):
        tag, _, _, _, out_tree, out_avals = self.program
        if len(cotangents) != 1:
            raise TypeError(
                f'{tag}: the pullback got {len(cotangents)} cotangents, but '
                'takes one, with the tree structure of the output of the '
                f'function, {out_tree}. It must be called with a single '
                'argument. For several outputs, pass a tuple.')
        given, tree = tree_flatten(*cotangents)
        if tree != out_tree:
            raise TypeOrValueError(
                f'{tag}: unexpected tree structure of the cotangent: got '
                f'{tree}, but the output of the function has {out_tree}')
        names = lambda: leaf_names(out_tree, f'{tag}: cotangent')
        y_bars = map_leaves(partial(fit_given, UNLIKE_OUTPUT), names,
                            out_avals, given)
        return self.of_leaves(y_bars, given)

    def of_leaves(self, y_bars, given):
        """Return the cotangents of the arguments; none is one of `given`.

        New arrays belong to the library of these and of the residuals.
        """
        _, jaxpr, in_tree, in_avals, *_ = self.program
        others = [*given, *self.residuals]
        if library := seams.library_of(others):
            y_bars = list(map(library.adapt, y_bars))
        x_bars = jaxpr.pull(self.residuals, y_bars)
        x_bars = map(whole_cotangent, in_avals, x_bars, repeat(others))
        return in_tree.unflatten(own_memory(list(x_bars), others))


UNLIKE_PRIMAL = (
    'linearized function called on tangent values inconsistent with the '
    'original primal values: the primal is {wanted} and the tangent is {got}')
UNLIKE_OUTPUT = (
    'unexpected type (e.g. shape/dtype) of the cotangent: got {got}, but the '
    'output of the function is {wanted}. Pass a cotangent of that type.')


def fit_given(text, aval, t):
    """Convert a user's tangent or cotangent to the type of the primal.

    Args:
        text: the error if it does not fit.
        aval: the type of the primal.
        t: the tangent or cotangent.
    """
    try:
        return fit_tangent(aval, t)
    except UnexpectedTracerError:
        raise
    except (TypeError, ValueError):
        raise TypeOrValueError(
            text.format(wanted=aval, got=typeof(t))) from None


def whole_cotangent(aval, ct, others):
    """Return the cotangent of an input as an array, for the user."""
    if NUMBERS.get(type(ct)) is aval or type(ct) is np.ndarray and (
            array_type(ct.shape, ct.dtype) is aval):
        return ct
    if type(ct) is np.float64 and aval is NUMBERS[float]:
        return ct.item()
    [ct] = instantiate_all([ct], others)
    if typeof_result(ct).dtype == float0:
        return ct
    return convert(ct, aval.dtype, aval.weak_type)


def linearize_tree(tag, f, primals, has_aux, linearizer=linearize_flat,
                   types_of=None):
    """Return the output of `f`, its linear program, residuals and aux.

    Args:
        tag: which application of which transformation this is.
        f: a function of trees.
        primals: the tuple of its arguments.
        has_aux: whether it returns a pair.
        linearizer: `linearize_flat`, or a function that replaces it.
        types_of: takes the leaves, and returns their types or raises an
            error.
    """
    xs, in_tree = tree_flatten(primals)
    in_avals = types_of(xs) if types_of else map_leaves(
        typeof, lambda: leaf_names(in_tree, f'{tag}: primals'), xs)
    flat_f = FlatFunction(f, in_tree, has_aux)
    ys, jaxpr = linearizer(flat_f, xs, tag)
    ys, aux = flat_f.split(own_memory(ys, [*jaxpr.consts, *xs]))
    out_avals = map_leaves(typeof_result, flat_f.out_names, ys)
    del jaxpr.outvars[len(ys):]
    residuals, jaxpr.consts = jaxpr.consts, []
    program = LinearProgram(tag, jaxpr, in_tree, tuple(in_avals),
                            flat_f.out_tree, tuple(out_avals))
    return flat_f.out_tree.unflatten(ys), program, residuals, aux


@public(takes_function=True)
def linearize(f, *primals, has_aux=False):
    """Return the output of `f` and its derivative, a linear function.

    Args:
        f: a function of arrays, or trees of arrays, that computes with NumPy.
        primals: the arguments at which to differentiate.
        has_aux: whether `f` returns a pair whose second element is not
            differentiated.

    Returns:
        `(out, f_jvp)`, or `(out, f_jvp, aux)`.  The function `f_jvp` takes
        one tangent per argument and returns the tangent of the output.  It
        runs only operations that depend on the tangents.  It is a pytree
        whose leaves are the residuals, the arrays that it needs.

    Raises:
        TypeError: an input or output of `f` is not an array, or the tangents
            do not fit the arguments.

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


@public(takes_function=True)
def vjp(f, *primals, has_aux=False):
    """Return the output of `f` and its pullback, a vector-Jacobian product.

    Args:
        f: a function of arrays, or trees of arrays, that computes with NumPy.
        primals: the arguments at which to differentiate.
        has_aux: whether `f` returns a pair whose second element is not
            differentiated.

    Returns:
        `(out, f_vjp)`, or `(out, f_vjp, aux)`.  The function `f_vjp` takes
        the cotangent of the output and returns a tuple with the cotangent
        of each argument.  It is a pytree whose leaves are the residuals, the
        arrays that it needs.  Cotangents of integers and booleans have the
        dtype `float0`.  A complex cotangent `ct` represents the linear
        function of `z` whose value is the real part of `ct * z`.

    Raises:
        TypeError: an input or output of `f` is not an array.
        ValueError: the cotangent does not fit the output.

    Source: `jax.vjp`.  The method, linearize and transpose, is from
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


@public(takes_function=True)
def linear_transpose(f, *primals):
    """Return the transpose of the linear function `f`.

    Args:
        f: a linear function of arrays, or trees of arrays.
        primals: its arguments, or anything with their shapes and dtypes.

    Returns:
        A function that takes the cotangent of the output and returns a tuple
        with the cotangent of each argument.  As in `vjp`, it is a pytree.

    Raises:
        TypeError, NotImplementedError: `f` is not linear.

    Source: `jax.linear_transpose`.

    Examples:
        >>> twice_the_sum = lambda x: np.sum(x) * 2
        >>> linear_transpose(twice_the_sum, np.ones(3))(1.0)
        (array([2., 2., 2.]),)
    """
    def record(flat_f, xs, tag):
        jaxpr = linear_flat(flat_f, list(map(typeof, xs)), tag)
        return jaxpr.out_avals, jaxpr
    _, program, residuals, _ = linearize_tree(
        TraceTag('linear_transpose', f), f, tree_map(as_type, primals),
        has_aux=False, linearizer=record)
    return Pullback(program, residuals)


@public(takes_function=True)
def grad(f, argnums=0, has_aux=False, holomorphic=False, allow_int=False):
    """Return a function that returns the gradient of `f`.

    Args:
        f: a function of arrays, or trees of arrays, that returns a scalar.
            It can only read the arrays that it is passed.
        argnums: the position of the argument to differentiate with respect
            to, or a tuple of positions.
        has_aux: whether `f` returns a pair whose second element is not
            differentiated.
        holomorphic: whether `f` takes complex numbers to a complex number
            and has a complex derivative.
        allow_int: whether that argument can hold integers and booleans.
            Their gradients have the dtype `float0`.

    Returns:
        A function that takes the same arguments and returns the gradient,
        which has the structure, shapes, and dtypes of the argument; a tuple
        of gradients if `argnums` is a tuple; with `has_aux`,
        `(gradient, aux)`.
        For a complex argument `x + 1j * y`, the gradient of a real output is
        `df/dx - 1j * df/dy`, as in JAX, so descend along its conjugate.

    Raises:
        TypeError: `f` does not return a real floating-point scalar, or an
            argument in `argnums` holds integers or does not exist.

    Source: `jax.grad`.

    Examples:
        >>> grad(lambda x: np.sum(x ** 2))(np.array([1.0, 2.0]))
        array([2., 4.])
    """
    return differentiating('grad', f, gradient, Options(
        argnums, has_aux, holomorphic, allow_int))


@public(takes_function=True)
def value_and_grad(f, argnums=0, has_aux=False, holomorphic=False,
                   allow_int=False):
    """Return a function that returns the value of `f` and its gradient.

    Args:
        f: a function that returns a scalar, as for `grad`.
        argnums: the positions of arguments, as for `grad`.
        has_aux: whether `f` returns a pair, as for `grad`.
        holomorphic: whether `f` has a complex derivative.
        allow_int: whether arguments can hold integers.

    Returns:
        A function that takes the same arguments and returns
        `(value, gradient)`; with `has_aux`, `((value, aux), gradient)`.

    Raises:
        TypeError: as for `grad`.

    Source: `jax.value_and_grad`.

    Examples:
        >>> value_and_grad(lambda x, y: x * y, argnums=(0, 1))(3.0, 5.0)
        (15.0, (5.0, 3.0))
    """
    return differentiating('grad', f, gradient, Options(
        argnums, has_aux, holomorphic, allow_int, with_value=True))


class Options(NamedTuple):
    """What a user asks of a derivative.

    Args:
        argnums, has_aux, holomorphic, allow_int: as for grad.
        with_value: whether to return the value of the function, too.
        is_complex: False if no input can be complex without `holomorphic`.
    """

    argnums: int | Sequence[int]
    has_aux: bool
    holomorphic: bool
    allow_int: bool
    with_value: bool = False
    is_complex: bool | None = None


def differentiating(transform, f, find, options):
    """Return a function of the arguments of `f` that computes a derivative.

    Args:
        transform: its name in errors.
        f: the function to differentiate.
        find: `gradient`, or a function that computes a Jacobian.
        options: the Options of the user.
    """
    argnums, has_aux, holomorphic, allow_int, with_value, is_complex = options
    positions = positions_of(TraceTag(transform, f), argnums)
    kinds = Kinds(transform, 'inputs', allow_int, holomorphic or is_complex)
    is_usual = not (holomorphic or allow_int)

    @public
    @named_after(f)
    def derivative(*args, **kwargs):
        tag = TraceTag(transform, f)
        g, point, names = select(tag, argnums, positions, args, kwargs)
        short = find is gradient and seams.short_gradient(
            tag, g, point, has_aux, is_usual)
        if type(short) is tuple:
            y, aux, found = short
        else:
            y, program, residuals, aux = linearize_tree(
                tag, g, (point,), has_aux, short or linearize_flat,
                partial(map_leaves, kinds.type_of, names))
            found = find(options, point, y, program, residuals)
        if with_value:
            return ((y, aux) if has_aux else y), found
        return (found, aux) if has_aux else found
    return derivative


def select(tag, argnums, positions, args, kwargs):
    """Return the function of the arguments that `argnums` names.

    Also return that argument, or a tuple of several, and a function that
    returns the names of their leaves for errors.
    """
    f, count = tag.function, len(args)
    for i in positions:
        if not -count <= i < count:
            least = i + 1 if i >= 0 else -i
            cure = seams.advise('argnums', 'Pass the argument by position.',
                                f, i, count, kwargs)
            raise TypeError(
                f'{tag}: differentiating with respect to argnums={argnums} '
                f'requires at least {least} positional argument'
                f'{"s" * (least > 1)} to be passed by the caller, but '
                f'got only {count}. {cure}')
    several = isinstance(argnums, (tuple, list))

    def names():
        self = (' (self; argnums=1 names the next argument)'
                if gives_self(f, args) else '')
        return [name for i in positions for name in leaf_names(
            tree_structure(args[i]),
            f'{tag}: argument {i % count}' + ('' if i % count else self))]
    if count == 1 and not (several or kwargs):
        return f, args[0], names

    positions = [i % count for i in positions]
    if len({*positions}) < len(positions):
        raise TypeError(f'{tag}: argnums={argnums} names the same argument '
                        'twice. Name each argument once.')
    loan = Loan(f)
    lent = [x if i in positions else loan.lend(x) for i, x in enumerate(args)]
    kwargs = loan.lend(kwargs)

    def f_of_some(values):
        every = list(lent)
        for i, value in zip(positions, values if several else [values]):
            every[i] = value
        return loan.call(*every, **kwargs)
    f_of_some.__qualname__ = own_name(f)
    point = tuple(map(args.__getitem__, positions))
    return f_of_some, point if several else point[0], names


def positions_of(tag, argnums) -> list:
    """Return the positions in argnums; raise a TypeError for others."""
    several = isinstance(argnums, (tuple, list))
    seams.check('argnums', tag, argnums)
    return list(map(operator.index, argnums if several else [argnums]))


class Kinds(NamedTuple):
    """The kinds of numbers that a transformation accepts.

    Args:
        transform: its name.
        what: 'inputs' or 'outputs'.
        allow_int: whether integers are allowed.
        holomorphic: True if a leaf has to be complex, False if it must not
            be, and None if it can be.
    """

    transform: str
    what: str
    allow_int: bool
    holomorphic: bool | None

    def type_of(self, x):
        """Return the type of a leaf, or raise a TypeError for its kind."""
        transform, what, allow_int, holomorphic = self
        aval = typeof(x)
        kind = aval.dtype.kind
        if (kind in 'fc' or allow_int) and (
                holomorphic is not False if kind == 'c' else not holomorphic):
            return aval
        need = (f' with holomorphic=True requires complex-valued {what}'
                if holomorphic else f' requires real-valued {what} '
                f'({what[:-1]} dtype that is a sub-dtype of np.floating)')
        cure = seams.advise('kind', '.', what, x, holomorphic)
        raise TypeError(f'{transform}{need}, but got {aval}{cure}')


def check_output_kinds(program, y, allow_int, holomorphic):
    """Raise a TypeError if an output has no derivative of the kind wanted."""
    names = lambda: leaf_names(program.out_tree, f'{program.tag}: outputs')
    kinds = Kinds(program.tag.transform, 'outputs', allow_int, holomorphic)
    map_leaves(kinds.type_of, names, tree_leaves(y))


def gradient(options, point, y, program, residuals):
    """Return the gradient of a scalar output `y`."""
    shape = program.out_tree is LEAF and program.out_avals[0].shape
    if shape != ():
        what = f'had shape: {shape}' if shape else f'was: {y}'
        cure = seams.advise('scalar', 'Return a single number.', y)
        raise TypeError(f'{program.tag}: Gradient only defined for '
                        f'scalar-output functions. Output {what}. {cure}')
    [aval] = program.out_avals
    if aval.dtype.kind != 'f' or options.holomorphic:
        check_output_kinds(program, y, False, bool(options.holomorphic))
    one = aval.dtype.type(1)
    one = one.item() if aval.weak_type else one
    [found] = Pullback(program, residuals).of_leaves([one], [y])
    return found
