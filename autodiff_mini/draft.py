"""The whole system in one file, in pieces, as the chapters first write it.

Its one idea: the library, before it grew up.  Every piece is at most twenty
lines, and what it says holds in the library, too, where it is said with more
care.

What the draft does not do.  It has some twenty functions of NumPy, and an
index only along the first axis; arguments are given by position, and `vmap`
maps the first axis of all of them; errors say little.  Five things it gets
wrong without a word: an array that is changed between a derivative and its
pullback changes the gradient; a maximum of equal numbers goes back to the
second of them; a loop whose carry changes its shape is written down with the
first one; the gradient of a `cond` under `vmap` may be nan, because
there both branches are computed; and a rule that applies a function with a
rule to a tangent loses that one in the derivative of a gradient.  Where
precisions are mixed, a tangent may have another one than its value.
"""

from dataclasses import dataclass
from functools import cache, partial, reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin


# 1a. An operation has a name, and one door.
class Primitive:
    """An operation that every interpreter is asked about by name."""

    def __init__(self, name, impl, is_call=False):
        self.name = name
        self.impl = impl
        self.is_call = is_call      # chapter 6 will ask

    def bind(self, *args, **params):
        return current_trace().process_primitive(self, args, params)

    def __repr__(self):
        return self.name


# 1b. The type of a value.
@dataclass(frozen=True)
class ShapedArray:
    """The type of an array: its shape and dtype, without its values."""
    shape: tuple
    dtype: np.dtype
    aval = property(lambda self: self)


def typeof(x):
    if hasattr(x, 'aval'):
        return x.aval
    return ShapedArray(np.shape(x), np.result_type(x))


# 1c. In the place of an array.
class Tracer(NDArrayOperatorsMixin):
    """A box in the place of an array: whose it is, its type, what is in it.

    What that is, is the business of the trace that has packed it.
    """
    shape = property(lambda self: self.aval.shape)
    __hash__ = object.__hash__

    def __init__(self, trace, aval, **inside):
        vars(self).update(inside, trace=trace, aval=aval)

    def __array_ufunc__(self, ufunc, method, *args, **kwargs):
        return getattr(numpy_table[ufunc], method)(*args, **kwargs)

    def __array_function__(self, function, types, args, kwargs):
        return numpy_table[function](*args, **kwargs)

    def __bool__(self):
        raise TypeError('this tracer has no value to branch on')


# 1d. Who answers: an interpreter at work.
class Trace:
    """An interpreter; inside its `with` it is asked about everything."""

    def __init__(self, parent, tag):
        self.parent = parent
        self.tag = tag

    def __enter__(self):
        at_work.append(self)
        return self

    def __exit__(self, *error):
        at_work.pop()

    def owns(self, x):
        return isinstance(x, Tracer) and x.trace.tag is self.tag


# 1e. The one at the bottom.
class EvalTrace(Trace):
    """The interpreter without a parent: it computes."""

    def process_primitive(self, primitive, args, params):
        if any(isinstance(x, Tracer) for x in (*args, *params.values())):
            raise TypeError('a tracer has left its transformation')
        return primitive.impl(*args, **params)


at_work = [EvalTrace(None, None)]


def current_trace():
    return at_work[-1]


# 1f. What NumPy's functions mean. Some are primitives as they are,
class Table(dict):
    """Who does what: for each function or primitive, what to call."""

    def __missing__(self, key):
        raise TypeError(f'the draft has nothing here for {key}')


numpy_table = Table()


def primitive_for(function):
    """Returns a primitive that stands for a function of NumPy's."""
    primitive = Primitive(function.__name__, function)
    numpy_table[function] = primitive.bind
    return primitive


elementwise = list(map(primitive_for, [
    np.negative, np.sin, np.cos, np.exp, np.log, np.tanh, np.add,
    np.subtract, np.multiply, np.divide, np.greater, np.where]))
(neg_p, sin_p, cos_p, exp_p, log_p, tanh_p, add_p, sub_p, mul_p, div_p,
 gt_p, where_p) = elementwise


# 1g. some have parameters, which are put in order at the door,
pow_p = Primitive('pow', lambda x, n: x ** n)
sum_p, reshape_p, transpose_p, broadcast_to_p = shaping = [
    Primitive(f.__name__, f) for f in
    (np.sum, np.reshape, np.transpose, np.broadcast_to)]


def numpy_sum(x, axis=None):
    axes = range(np.ndim(x)) if axis is None else np.atleast_1d(axis)
    return sum_p.bind(x, axis=tuple(int(i) % np.ndim(x) for i in axes))


numpy_table.update({
    np.shape: lambda x: x.shape,
    np.ndim: lambda x: len(x.shape),
    np.power: lambda x, n: pow_p.bind(x, n=n),
    np.sum: numpy_sum,
    np.reshape: lambda x, shape: reshape_p.bind(x, shape=shape),
    np.transpose: lambda x, axes: transpose_p.bind(x, axes=axes),
    np.broadcast_to: lambda x, shape: broadcast_to_p.bind(x, shape=shape)})


# 1h. and some are made of others.
def matmul(x, y):
    """Multiplies rows by columns, or by a single one."""
    if np.ndim(y) == 1:
        return np.sum(x * y, -1)
    rows, columns = np.shape(y)
    return np.sum(np.reshape(x, (*np.shape(x), 1)) * y, -2)


numpy_table.update({
    np.less: lambda x, y: np.greater(y, x),
    np.maximum: lambda x, y: np.where(x > y, x, y),
    np.minimum: lambda x, y: np.where(x < y, x, y),
    np.clip: lambda x, low, high: np.minimum(np.maximum(x, low), high),
    np.matmul: matmul})
Tracer.__len__ = lambda x: x.shape[0]
Tracer.__getitem__ = lambda x, i: np.eye(len(x))[range(len(x))[i]] @ x


# 2a. An interpreter that opens the boxes that are its own.
class JVPTrace(Trace):
    """Computes a tangent beside every primal that the input reaches."""

    def process_primitive(self, primitive, args, params):
        primals, tangents = self.split(args)
        with self.parent:
            if all(t is None for t in tangents):
                return primitive.bind(*primals, **params)
            rule = jvp_rules[primitive]
            out, out_dot = rule(self.tag, primals, tangents, **params)
        return tree_map(self.join, out, out_dot)

    def split(self, xs):
        """Returns the primals, and the tangents: None for what is still."""
        primals = [x.primal if self.owns(x) else x for x in xs]
        tangents = [x.tangent if self.owns(x) else None for x in xs]
        return primals, tangents

    def join(self, y, y_dot):
        """Returns a box with both; the primal, if it is still."""
        return y if y_dot is None else Tracer(
            self, typeof(y), primal=y, tangent=y_dot)


# 2b. The pattern of a rule.
jvp_rules = Table()


def defjvp(primitive, *rules):
    """Defines how the tangent of each operand reaches the output."""
    def jvp_rule(tag, primals, tangents, **params):
        y = primitive.bind(*primals, **params)
        terms = [rule(x_dot, y, *primals, **params)
                 for rule, x_dot in zip(rules, tangents, strict=True)
                 if rule and x_dot is not None]
        return y, fit(reduce(np.add, terms), y) if terms else None
    jvp_rules[primitive] = jvp_rule


def fit(x_dot, y):
    """Returns `x_dot` in the shape of `y`."""
    same = np.shape(x_dot) == np.shape(y)
    return x_dot if same else np.broadcast_to(x_dot, np.shape(y))


# 2c. The rules.
defjvp(neg_p, lambda x_dot, y, x: -x_dot)
defjvp(sin_p, lambda x_dot, y, x: x_dot * np.cos(x))
defjvp(cos_p, lambda x_dot, y, x: x_dot * -np.sin(x))
defjvp(exp_p, lambda x_dot, y, x: x_dot * y)
defjvp(log_p, lambda x_dot, y, x: x_dot / x)
defjvp(tanh_p, lambda x_dot, y, x: x_dot * (1 - y * y))
defjvp(pow_p, lambda x_dot, y, x, n: x_dot * (n * x ** (n - (n != 0))))
defjvp(add_p, lambda x_dot, z, x, y: x_dot, lambda y_dot, z, x, y: y_dot)
defjvp(sub_p, lambda x_dot, z, x, y: x_dot, lambda y_dot, z, x, y: -y_dot)
defjvp(mul_p, lambda x_dot, z, x, y: x_dot * y,
              lambda y_dot, z, x, y: x * y_dot)
defjvp(div_p, lambda x_dot, z, x, y: x_dot / y,
              lambda y_dot, z, x, y: y_dot * (-z / y))
defjvp(where_p, None, lambda x_dot, z, c, x, y: np.where(c, x_dot, 0.0),
                      lambda y_dot, z, c, x, y: np.where(c, 0.0, y_dot))
defjvp(gt_p, None, None)


# 2d. What is linear does to the tangent what it does to the value.
for primitive in shaping:
    defjvp(primitive, lambda x_dot, y, x, bind=primitive.bind, **params:
           bind(x_dot, **params))


# 3a. What users pass, and what comes back: trees of arrays.
def tree_map(f, tree, *others):
    """Returns a tree of what `f` returns for leaves in equal places."""
    if isinstance(tree, dict):
        return {key: tree_map(f, *[t[key] for t in (tree, *others)])
                for key in tree}
    if isinstance(tree, (list, tuple)):
        return type(tree)([tree_map(f, *children) for children in
                           zip(tree, *others, strict=True)])
    return None if tree is None else f(tree, *others)


def tree_leaves(tree):
    leaves = []
    tree_map(leaves.append, tree)
    return leaves


def tree_like(tree, leaves):
    """Returns a tree like this one, with these leaves."""
    leaves = iter(leaves)
    return tree_map(lambda _: next(leaves), tree)


# 3b. Forward mode, for users.
def jvp(f, primals, tangents, tag=None):
    """Returns the output of `f`, and its derivative along the tangents."""
    with JVPTrace(current_trace(), tag or object()) as trace:
        out = f(*tree_map(trace.join, primals, tangents))
    ys, y_dots = trace.split(tree_leaves(out))
    y_dots = map(instantiate, ys, y_dots)
    return tree_like(out, ys), tree_like(out, y_dots)


def instantiate(x, x_dot):
    """Returns a tangent of `x` as an array: zeros, if it is still."""
    return x_dot if x_dot is not None else np.zeros(
        typeof(x).shape, np.result_type(typeof(x).dtype, np.float16))


# 4a. One element, which carries all.
class Axis(NamedTuple):
    """The axis of one application of `vmap`; it is its tag, too."""
    size: int


def row_type(x):
    """Returns the type of `x[i]`."""
    return ShapedArray(np.shape(x)[1:], typeof(x).dtype)


def rows_type(x, size):
    """Returns the type of so many of `x`, with an axis in front."""
    return ShapedArray((size, *typeof(x).shape), typeof(x).dtype)


# 4b. The interpreter.
class BatchTrace(Trace):
    """Computes all elements of an axis at once."""

    def process_primitive(self, primitive, args, params):
        with self.parent:
            if not primitive.is_call and not any(map(self.owns, args)):
                return primitive.bind(*args, **params)
            rule = vmap_rules[primitive]
            out = rule(self.tag, *map(self.val, args), **params)
        return tree_map(self.join, out)

    def val(self, x):
        """Returns all elements of `x`; all are equal if it is not ours."""
        return x.val if self.owns(x) else np.broadcast_to(
            x, (self.tag.size, *np.shape(x)))

    def join(self, val):
        return Tracer(self, row_type(val), val=val)


# 4c. For users.
def vmap_with(axis, f):
    """Returns `f`, all of whose arguments and results have the axis."""
    def mapped(*args):
        with BatchTrace(current_trace(), axis) as trace:
            out = f(*tree_map(trace.join, args))
        return tree_map(trace.val, out)
    return mapped


def vmap(f):
    """Returns `f`, mapped over the first axis of all its arguments."""
    return lambda *args: vmap_with(Axis(len(tree_leaves(args)[0])), f)(*args)


# 4d. The rule of what works element by element.
vmap_rules = Table()


def aligned(primitive, axis, *vals, **params):
    """NumPy aligns shapes at their ends; short ones are made longer."""
    rank = max(map(np.ndim, vals))
    return primitive.bind(*[lengthen(x, rank) for x in vals], **params)


def lengthen(x, rank):
    """Returns `x` with axes of length 1 behind its first."""
    size, *shape = np.shape(x)
    ones = [1] * (rank - np.ndim(x))
    return np.reshape(x, (size, *ones, *shape)) if ones else x


for primitive in *elementwise, pow_p:
    vmap_rules[primitive] = partial(aligned, primitive)


# 4e. What looks at the shape steps over the first axis.
vmap_rules[sum_p] = lambda batch, x, axis: np.sum(
    x, tuple(i + 1 for i in axis))
vmap_rules[reshape_p] = lambda batch, x, shape: np.reshape(
    x, (batch.size, *shape))
vmap_rules[transpose_p] = lambda batch, x, axes: np.transpose(
    x, (0, *[i + 1 for i in axes]))
vmap_rules[broadcast_to_p] = lambda batch, x, shape: np.broadcast_to(
    lengthen(x, 1 + len(shape)), (batch.size, *shape))


# 6a. A box with functions in it: vmap(call(f)) == call(vmap(f)).
def defcall(name):
    """Returns a primitive that calls the function `fun`."""
    primitive = Primitive(
        name, lambda *xs, fun, **rules: fun(*xs), is_call=True)
    vmap_rules[primitive] = partial(call_vmap, primitive)
    return primitive


def call_vmap(primitive, axis, *xs, **functions):
    """Whatever is in the box is mapped."""
    return primitive.bind(*xs, **{
        name: vmap_with(axis, f) for name, f in functions.items()})


# 6b. One function in it: jvp(call(f)) == call(jvp(f)).
call_p = defcall('call')


def call_jvp(tag, xs, x_dots, fun):
    x_dots = map(instantiate, xs, x_dots)
    return call_p.bind(*xs, *x_dots, fun=lambda *args: jvp(
        fun, *halves(args), tag))


def halves(xs):
    return xs[:len(xs) // 2], xs[len(xs) // 2:]


jvp_rules[call_p] = call_jvp


# 6c. Two functions in it: jvp(custom_jvp_call(f, f_jvp)) == f_jvp.
custom_jvp_call_p = defcall('custom_jvp_call')
jvp_rules[custom_jvp_call_p] = (
    lambda tag, xs, x_dots, fun, jvp: jvp(xs, x_dots))


# 6d. For users.
class custom_jvp:
    """A function whose derivative is a rule that you write."""

    def __init__(self, fun):
        self.fun = fun

    def defjvp(self, rule):
        self.rule = rule

    def __call__(self, *args):
        def jvp(xs, x_dots):
            x_dots = list(map(instantiate, xs, x_dots))
            return self.rule(own(args, xs), own(args, x_dots))
        return custom_jvp_call_p.bind(
            *tree_leaves(args), jvp=jvp,
            fun=lambda *xs: self.fun(*tree_like(args, xs)))


def own(args, xs):
    """Returns the operands as a tree like `args`, if there are no others."""
    if len(xs) != len(tree_leaves(args)):
        raise TypeError('a function with a rule closes over a tracer: pass '
                        'it as an argument')
    return tree_like(args, xs)


# 7a. What is written down.
class Var:
    """A name for a value that is not known yet."""

    def __init__(self, aval):
        self.aval = aval


class Equation(NamedTuple):
    """A line of a program: the results, and how to get them."""
    primitive: Primitive
    invars: list        # variables; what is known stands there as it is
    params: dict
    outvars: Any        # a variable, or a list of them


# 7b. A program is a function from arrays to a list of arrays.
@dataclass(eq=False)
class Jaxpr:
    """A program: equations, in the order in which they are computed."""
    invars: list
    eqns: list
    outvars: list

    def __call__(self, *args):
        env = dict(zip(self.invars, args, strict=True))

        def read(v):
            return env[v] if type(v) is Var else v
        for eqn in self.eqns:
            out = eqn.primitive.bind(*map(read, eqn.invars), **eqn.params)
            env.update(zip(tree_leaves(eqn.outvars), tree_leaves(out)))
        return list(map(read, self.outvars))


# 7c. Types without values: NumPy is asked, with ones.
abstract_rules = {}


def abstract(primitive, avals, params):
    """Returns the type of a result; a list, if there are several."""
    if primitive in abstract_rules:
        return abstract_rules[primitive](*avals, **params)
    for x in params.values():
        if type(x) is Jaxpr:
            return types(x.outvars)
    ones = [np.ones(aval.shape, aval.dtype) for aval in avals]
    return typeof(primitive.impl(*ones, **params))


def types(xs):
    return list(map(typeof, xs))


# 7d. An interpreter that computes nothing.
class JaxprTrace(Trace):
    """Writes down what it is asked about."""

    def __init__(self, parent, tag):
        super().__init__(parent, tag)
        self.eqns = []
        self.closed_over = {}       # tracers of others, and their names

    def process_primitive(self, primitive, args, params):
        """Appends an equation; returns boxes for its results."""
        if primitive.is_call and type(params['fun']) is not Jaxpr:
            return stage_call(self, primitive, args, params)
        out = tree_map(self.new, abstract(primitive, types(args), params))
        self.eqns.append(Equation(primitive, list(map(self.var, args)),
                                  params, tree_map(self.var, out)))
        return out

    def new(self, x):
        return Tracer(self, typeof(x), var=Var(typeof(x)))

    def var(self, x):
        """Returns what stands for `x` in an equation."""
        if self.owns(x):
            return x.var
        if isinstance(x, Tracer):
            return self.closed_over.setdefault(x, Var(x.aval))
        return x


# 7e. From function to program.
def stage(f, args, trace_type=JaxprTrace):
    """Returns `f` as a program for such arguments.

    And a list of the tracers that it closes over, which have become its
    first arguments; and a tree like its output.
    """
    with trace_type(current_trace(), object()) as trace:
        inputs = tree_map(trace.new, args)
        out = f(*inputs)
        outvars = list(map(trace.var, tree_leaves(out)))
    names = list(trace.closed_over.values())
    invars = names + [x.var for x in tree_leaves(inputs)]
    return Jaxpr(invars, trace.eqns, outvars), list(trace.closed_over), out


def make_jaxpr(f):
    return lambda *args: stage(f, args)[0]


# 7f. A program is printed as Python. What it speaks of has a text,
def text_of(x, names, scope, before):
    """Returns the text for `x`: a letter, a number, or a name in `scope`."""
    if type(x) is Var:
        letter = chr(97 + len(names) % 26)
        return names.setdefault(x, f'{letter}{len(names) // 26 or ""}')
    if isinstance(x, (int, float, tuple, np.generic)):
        return repr(x)
    name = f'{type(x).__name__.lower()}_{len(scope)}'
    scope[name] = x
    if type(x) is Jaxpr:
        before += ['    ' + line for line in lines_of(x, name, scope)]
    return name


# 7g. and an equation is a line.
def lines_of(jaxpr, name, scope):
    """Returns a program as lines of Python."""
    names, lines = {}, []

    def texts(xs):
        return [text_of(x, names, scope, lines) for x in xs]

    arguments = ', '.join(texts(jaxpr.invars))
    for eqn in jaxpr.eqns:
        scope[eqn.primitive.name] = eqn.primitive.impl
        params = map('{}={}'.format, eqn.params, texts(eqn.params.values()))
        right = ', '.join([*texts(eqn.invars), *params])
        left = ', '.join(texts(tree_leaves(eqn.outvars)))
        left = f'[{left}]' if type(eqn.outvars) is list else left
        lines.append(f'    {left} = {eqn.primitive}({right})')
    return [f'def {name}({arguments}):', *lines,
            f'    return [{", ".join(texts(jaxpr.outvars))}]']


Jaxpr.__repr__ = lambda jaxpr: '\n'.join(lines_of(jaxpr, 'program', {}))


# 8a. A call is written down, with all that is in its box.
def stage_call(trace, primitive, args, params):
    """The function is written down; its rules stay Python functions."""
    fun, consts, out = stage(params['fun'], args)
    return tree_like(out, trace.process_primitive(
        primitive, [*consts, *args], params | {'fun': fun}))


# 9a. Do now what can be done now.
class PartialEvalTrace(JaxprTrace):
    """Computes with what is known, and writes down what is not."""

    def process_primitive(self, primitive, args, params):
        if any(map(self.owns, args)):
            if primitive.is_call:       # a linear function needs no rule
                return params['fun'](*args)
            return super().process_primitive(primitive, args, params)
        with self.parent:
            return primitive.bind(*args, **params)


# 9b. A derivative, cut in two.
def linearize_at(f, primals):
    """Returns the output of `f`; its derivative there, as a program; and
    the residuals, which are the first arguments of the program."""
    def f_jvp(*tangents):
        f_jvp.y, y_dot = jvp(f, primals, tangents)
        return y_dot
    linear, residuals, _ = stage(f_jvp, primals, PartialEvalTrace)
    return f_jvp.y, linear, residuals


def linearize(f, *primals):
    y, linear, residuals = linearize_at(f, primals)
    return y, lambda *tangents: tree_like(
        y, linear(*residuals, *tree_leaves(tangents)))


# 10a. From the last equation to the first.
def backward_pass(linear, residuals, cts):
    """Returns the cotangents of the inputs of a linear program."""
    known = dict(zip(linear.invars, residuals))
    gathered = {}

    def give(variables, cts):
        for v, ct in zip(variables, cts, strict=True):
            if type(v) is Var and ct is not None:
                gathered[v] = gathered[v] + ct if v in gathered else ct

    give(linear.outvars, cts)
    for eqn in reversed(linear.eqns):
        outs = tree_leaves(eqn.outvars)
        if any(v in gathered for v in outs):
            cts = [instantiate(v, gathered.pop(v, None)) for v in outs]
            operands = [known.get(v, v) if type(v) is Var else v
                        for v in eqn.invars]
            rule = transpose_rules[eqn.primitive]
            give(eqn.invars, rule(cts, *operands, **eqn.params))
    return [instantiate(v, gathered.get(v))
            for v in linear.invars[len(residuals):]]


# 10b. The pattern of a rule.
transpose_rules = Table()


def deftranspose(primitive, *rules):
    """Defines how a cotangent of the output goes back to each operand."""
    def transpose_rule(cts, *operands, **params):
        return [unbroadcast(rule(*cts, *operands, **params), x.aval.shape)
                if type(x) is Var else None
                for rule, x in zip(rules, operands, strict=True)]
    transpose_rules[primitive] = transpose_rule


def unbroadcast(ct, shape):
    """Returns the sum of `ct` along what was broadcast from this shape."""
    if np.shape(ct) == shape:
        return ct
    want = (1,) * (np.ndim(ct) - len(shape)) + shape
    axes = [i for i, n in enumerate(np.shape(ct)) if n != want[i]]
    return np.reshape(np.sum(ct, tuple(axes)), shape)


# 10c. The rules, for what is linear, and for nothing else.
def spread_out(ct, x, axis):
    ones = [1 if i in axis else n for i, n in enumerate(x.aval.shape)]
    return np.broadcast_to(np.reshape(ct, ones), x.aval.shape)


deftranspose(neg_p, lambda ct, x: -ct)
deftranspose(add_p, lambda ct, x, y: ct, lambda ct, x, y: ct)
deftranspose(sub_p, lambda ct, x, y: ct, lambda ct, x, y: -ct)
deftranspose(mul_p, lambda ct, x, y: ct * y, lambda ct, x, y: x * ct)
deftranspose(div_p, lambda ct, x, y: ct / y, None)
deftranspose(where_p, None, lambda ct, c, x, y: np.where(c, ct, 0.0),
                            lambda ct, c, x, y: np.where(c, 0.0, ct))
deftranspose(sum_p, spread_out)
deftranspose(reshape_p, lambda ct, x, shape: np.reshape(ct, x.aval.shape))
deftranspose(transpose_p, lambda ct, x, axes: np.transpose(
    ct, tuple(map(int, np.argsort(axes)))))
deftranspose(broadcast_to_p, lambda ct, x, shape: ct)


# 10d. For users.
def vjp(f, *primals):
    """Returns the output of `f`, and its derivative run backwards."""
    y, linear, residuals = linearize_at(f, primals)
    return y, lambda y_bar: tree_like(
        primals, backward_pass(linear, residuals, tree_leaves(y_bar)))


def grad(f):
    """Returns a function for the gradient by the first argument."""
    def grad_of_f(x, *others):
        y, f_vjp = vjp(lambda x: f(x, *others), x)
        if typeof(y).shape or typeof(y).dtype.kind != 'f':
            raise TypeError('grad is for functions that return a real number')
        return f_vjp(1.0)[0]
    return grad_of_f


# 11a. An envelope, to be opened on the way back.
def sealed(*operands, **params):
    raise TypeError('forward mode meets a function that has a rule for the '
                    'way back only')


def custom_lin_transpose(cts, *operands, bwd, n, out_avals):
    return [None] * n + bwd(operands[:n], cts)


custom_lin_p = Primitive('custom_lin', sealed)
jvp_rules[custom_lin_p] = vmap_rules[custom_lin_p] = sealed
abstract_rules[custom_lin_p] = lambda *avals, bwd, n, out_avals: out_avals
transpose_rules[custom_lin_p] = custom_lin_transpose


# 11b. Three functions in the box.
def custom_vjp_jvp(tag, xs, x_dots, fun, fwd, bwd):
    """Forward mode is given a promise in the place of a tangent."""
    y, kept = fwd(xs)
    residuals = tree_leaves(kept)

    def open_envelope(residuals, cts):
        return bwd(tree_like(kept, residuals), tree_like(y, cts))
    return y, custom_lin_p.bind(
        *residuals, *map(instantiate, xs, x_dots), bwd=open_envelope,
        n=len(residuals), out_avals=tree_map(typeof, y))


custom_vjp_call_p = defcall('custom_vjp_call')
jvp_rules[custom_vjp_call_p] = custom_vjp_jvp


# 11c. For users.
class custom_vjp(custom_jvp):
    """A function with a rule of yours for the way back."""

    def defvjp(self, fwd, bwd):
        self.fwd, self.bwd = fwd, bwd

    def __call__(self, *args):
        def bwd(kept, ct):
            return tree_leaves(tree_map(
                instantiate, args, self.bwd(kept, ct)))
        return custom_vjp_call_p.bind(
            *tree_leaves(args), bwd=bwd,
            fun=lambda *xs: self.fun(*tree_like(args, xs)),
            fwd=lambda xs: self.fwd(*own(args, xs)))


# 13a. What no output needs.
def drop_dead(jaxpr):
    """Returns the program without equations whose results are not needed."""
    def names(xs):
        return {v for v in xs if type(v) is Var}

    needed, eqns = names(jaxpr.outvars), []
    for eqn in reversed(jaxpr.eqns):
        if needed & names(tree_leaves(eqn.outvars)):
            needed |= names(eqn.invars)
            eqns.append(eqn)
    return Jaxpr(jaxpr.invars, eqns[::-1], jaxpr.outvars)


# 13b. What is printed as Python is Python.
@cache
def compiled(jaxpr):
    """Returns the function that the text of a program defines."""
    scope = {'np': np, 'inf': np.inf, 'nan': np.nan}
    with np.printoptions(legacy=False):     # np.float32(0.1), and not 0.1
        exec('\n'.join(lines_of(drop_dead(jaxpr), 'program', scope)), scope)
    return scope['program']


def run(fun, *xs):
    return compiled(fun)(*xs) if type(fun) is Jaxpr else fun(*xs)


# 14a. A call of a program. Only evaluation compiles it.
jit_p = Primitive('jit', lambda *xs, fun: run(fun, *xs), is_call=True)
vmap_rules[jit_p] = partial(call_vmap, jit_p)
jvp_rules[jit_p] = call_jvp


def jit(f):
    """Returns `f`, which is written down once for each type of arguments."""
    programs = {}

    def jitted(*args):
        key = str(tree_map(typeof, args))
        jaxpr, consts, out = programs.get(key) or stage(f, args)
        if not consts:      # a tracer of others will be gone next time
            programs[key] = jaxpr, consts, out
        ys = jit_p.bind(*consts, *tree_leaves(args), fun=jaxpr)
        return tree_like(out, ys)
    return jitted


# 16a. A loop is an operation.
def run_scan(*operands, fun, num_carry, length, reverse):
    """Takes arrays to walk along, then the carry; a step takes their rows.

    Returns what the steps put out, stacked, then the last carry.
    """
    xs, carry = split(operands, num_carry)
    rows = [None] * length
    for i in range(length)[::-1 if reverse else 1]:
        outs = run(fun, *[x[i] for x in xs], *carry)
        rows[i], carry = split(outs, num_carry)
    return [*map(np.stack, zip(*rows)), *carry]


def split(xs, num_carry):
    n = len(xs) - num_carry
    return xs[:n], xs[n:]


def scan_types(*avals, fun, num_carry, length, reverse):
    ys, carry = split(types(fun.outvars), num_carry)
    return [rows_type(y, length) for y in ys] + carry


scan_p = Primitive('scan', run_scan)
abstract_rules[scan_p] = scan_types


# 16b. For users.
def scan(f, init, xs=None, length=None):
    """Returns the last carry of a loop, and what its steps have put out."""
    fun, consts, out = stage(lambda x, carry: f(carry, x)[::-1],
                             (tree_map(row_type, xs), init))
    n = len(consts)     # what is closed over is a carry that never changes
    fun = Jaxpr(fun.invars[n:] + fun.invars[:n], fun.eqns,
                fun.outvars + fun.invars[:n])
    rows, carry = tree_leaves(xs), tree_leaves(init) + consts
    outs = scan_p.bind(*rows, *carry, fun=fun, num_carry=len(carry),
                       length=length or len(rows[0]), reverse=False)
    return tree_like(out, outs)[::-1]


# 16c. Forwards: a loop of values, which keeps residuals; one of tangents.
@cache
def linearize_jaxpr(jaxpr):
    """Returns two programs: from primals to residuals and outputs, and from
    residuals and tangents to the tangents of the outputs."""
    def known(*primals):
        ys, known.linear, residuals = linearize_at(jaxpr, primals)
        return residuals + ys
    return stage(known, jaxpr.invars)[0], known.linear


def scan_jvp(tag, primals, tangents, fun, **loop):
    known, linear = linearize_jaxpr(fun)
    outs = scan_p.bind(*primals, fun=known, **loop)
    n = len(outs) - len(fun.outvars)
    return outs[n:], scan_p.bind(
        *outs[:n], *map(instantiate, primals, tangents), fun=linear, **loop)


jvp_rules[scan_p] = scan_jvp


# 16d. Backwards: the loop of tangents, transposed, from its end.
@cache
def transpose_jaxpr(jaxpr, n):
    """Returns a program from `n` arguments, and cotangents of the outputs,
    to cotangents of the other arguments, in which `jaxpr` is linear."""
    def transposed(*args):
        linear, residuals, _ = stage(lambda *ts: jaxpr(*args[:n], *ts),
                                     jaxpr.invars[n:], PartialEvalTrace)
        return backward_pass(linear, residuals, args[n:])
    return stage(transposed, jaxpr.invars[:n] + jaxpr.outvars)[0]


def scan_transpose(cts, *operands, fun, num_carry, length, reverse):
    n = [type(x) is Var for x in operands].index(True)
    n = min(n, len(operands) - num_carry)
    return [None] * n + scan_p.bind(
        *operands[:n], *cts, fun=transpose_jaxpr(fun, n),
        num_carry=num_carry, length=length, reverse=not reverse)


transpose_rules[scan_p] = scan_transpose


# 16e. Many loops at once: the steps stay in front.
@cache
def vmap_jaxpr(jaxpr, size):
    avals = [rows_type(v, size) for v in jaxpr.invars]
    return stage(vmap_with(Axis(size), jaxpr), avals)[0]


def scan_vmap(axis, *vals, fun, num_carry, **loop):
    xs, carry = split(vals, num_carry)
    outs = scan_p.bind(*map(swapped, xs), *carry, num_carry=num_carry,
                       fun=vmap_jaxpr(fun, axis.size), **loop)
    ys, carry = split(outs, num_carry)
    return [*map(swapped, ys), *carry]


def swapped(x):
    return np.transpose(x, (1, 0, *range(2, np.ndim(x))))


vmap_rules[scan_p] = scan_vmap


# 17a. A box with two programs; for many elements at once it runs both.
cond_p = Primitive('cond', lambda which, *xs, true, false: run(
    true if which else false, which, *xs))


def cond_vmap(axis, *operands, true, false):
    def both(which, *xs):
        return [np.where(which, x, y) for x, y in
                zip(true(which, *xs), false(which, *xs))]
    return vmap_with(axis, both)(*operands)


vmap_rules[cond_p] = cond_vmap


# 17b. What the tangent of a box needs, it does again.
def again_jvp(primitive, tag, primals, tangents, **programs):
    return primitive.bind(*primals, **programs), primitive.bind(
        *primals, *map(instantiate, primals, tangents), **{
            name: tangent_jaxpr(jaxpr) for name, jaxpr in programs.items()})


@cache
def tangent_jaxpr(jaxpr):
    """Returns a program from primals and tangents to tangents."""
    return stage(lambda *args: jvp(jaxpr, *halves(args))[1],
                 jaxpr.invars * 2)[0]


def again_transpose(primitive, cts, *operands, **programs):
    n = [type(x) is Var for x in operands].index(True)
    return [None] * n + primitive.bind(*operands[:n], *cts, **{
        name: transpose_jaxpr(jaxpr, n) for name, jaxpr in programs.items()})


jvp_rules[cond_p] = partial(again_jvp, cond_p)
transpose_rules[cond_p] = partial(again_transpose, cond_p)


# 17c. For users.
def cond(which, true_fun, false_fun, *operands):
    """Returns what one of two functions returns."""
    both, consts, out = stage(
        lambda *xs: [true_fun(*xs), false_fun(*xs)], operands)
    invars = [Var(typeof(which)), *both.invars]
    true, false = [drop_dead(Jaxpr(invars, both.eqns, outvars))
                   for outvars in halves(both.outvars)]
    ys = cond_p.bind(which, *consts, *tree_leaves(operands),
                     true=true, false=false)
    return tree_like(out[0], ys)


# 18a. As long as it takes.
def run_while(*xs, step, test):
    while run(test, *xs)[0]:
        xs = run(step, *xs)
    return list(xs)


while_p = Primitive('while_loop', run_while)


def while_jvp(tag, primals, tangents, step, test):
    """The tangents' loop does the primals' steps again, for the test."""
    both = stage(lambda *args: jvp(step, *halves(args)), step.invars * 2)[0]
    asks = stage(lambda *args: test(*halves(args)[0]), step.invars * 2)[0]
    outs = while_p.bind(*primals, *map(instantiate, primals, tangents),
                        step=both, test=asks)
    return while_p.bind(*primals, step=step, test=test), halves(outs)[1]


jvp_rules[while_p] = while_jvp


# 18b. For users.
def while_loop(test, step, init):
    """Returns the first of init, step(init), … that fails the test."""
    both, consts, _ = stage(lambda x: (step(x), test(x)), (init,))
    n = len(consts)
    step, test = [drop_dead(Jaxpr(both.invars, both.eqns, outvars))
                  for outvars in (both.invars[:n] + both.outvars[:-1],
                                  both.outvars[-1:])]
    xs = while_p.bind(*consts, *tree_leaves(init), step=step, test=test)
    return tree_like(init, xs[n:])


# 19a. Remember the arguments, and nothing else.
checkpoint_p = Primitive('checkpoint', lambda *xs, fun: run(fun, *xs))
jvp_rules[checkpoint_p] = partial(again_jvp, checkpoint_p)
transpose_rules[checkpoint_p] = partial(again_transpose, checkpoint_p)
vmap_rules[checkpoint_p] = lambda axis, *xs, fun: checkpoint_p.bind(
    *xs, fun=vmap_jaxpr(fun, axis.size))


def checkpoint(f):
    """Returns `f`, which remembers its arguments and nothing else."""
    def f_checkpointed(*args):
        fun, consts, out = stage(f, args)
        ys = checkpoint_p.bind(*consts, *tree_leaves(args), fun=fun)
        return tree_like(out, ys)
    return f_checkpointed
