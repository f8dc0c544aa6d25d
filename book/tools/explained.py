"""Explains every error of the library: `<!-- table: errors -->`.

For each error there is what it means, the smallest program that raises it,
and the cure.  The build runs the programs, and shows what they raise.  The
tests check that each `raise` of the library is run by one of them.

There are two hundred, so each is folded into two lines: what it means, and
how its message begins.
"""

import html
import linecache
import re
import textwrap
import warnings
from typing import NamedTuple

import numpy as np
from markdown.extensions.toc import slugify, unique

import autodiff_mini as ad
from book.tools.exercises import library_restored


class Explained(NamedTuple):
    """An error: what it means, a program that raises it, and the cure."""
    meaning: str
    program: str
    cure: str


def error_of(program):
    """Returns the exception that a program raises.

    Afterwards the library's tables are what they were.

    Raises:
        ValueError: it raises none.
    """
    scope = {'np': np, 'ad': ad, 'x': np.arange(3.0)}
    # An error reads the lines that it is about.
    linecache.cache['<program>'] = (len(program), None,
                                    program.splitlines(True), '<program>')
    code = compile(program, '<program>', 'exec')
    with (library_restored(), warnings.catch_warnings(),
          np.errstate(all='ignore')):
        warnings.simplefilter('ignore')
        try:
            exec(code, scope)
        except Exception as error:
            return error
    raise ValueError(f'this program raises nothing:\n{program}')


def table(page):
    """Returns all the errors as Markdown, after a list of their groups."""
    groups = '\n'.join(f'- [{title}](#{slugify(title, "-")}), {len(entries)}'
                       for title, entries in ERRORS.items())
    names = set()
    return '\n\n'.join(
        [f'<div class="works" markdown="1">\n\n{groups}\n\n</div>'] + [
            '\n\n'.join([f'### {title}',
                         *(entry(each, names) for each in entries)])
            for title, entries in ERRORS.items()])


def entry(explained, names):
    """Returns the Markdown of one error, with a name that is not in `names`.

    The heading is for the search, which leads to it and opens the entry. It
    is lower than those that stand in the table of contents.
    """
    error = error_of(explained.program)
    said = f'{type(error).__name__}: {error}'
    begins = quoted(textwrap.shorten(said, 110, placeholder=' …'))
    meaning = re.sub('&#96;(.*?)&#96;', r'<code>\1</code>',
                     quoted(explained.meaning))
    name = unique(slugify(explained.meaning, '-'), names)
    return f'''\
<details class="error" markdown="1">
<summary>{meaning}<br><code>{begins}</code></summary>

<h5 id="{name}" aria-level="4">{meaning}</h5>

```py
{explained.program}
```

<div class="output"><pre class="error" tabindex="0">{quoted(said)}</pre></div>

*Cure.* {explained.cure}

</details>'''


def quoted(text):
    """Returns text as HTML in which Markdown finds no marks and no end."""
    return html.escape(text).replace('`', '&#96;').replace(
        '\n\n', '\n&#8203;\n')


def group(*entries):
    """Returns the errors of a section, from (meaning, program, cure)."""
    return [Explained(meaning, textwrap.dedent(program).strip(), cure)
            for meaning, program, cure in entries]


ERRORS = {}

ERRORS['What a traced value refuses'] = group(
    ('A plain number was asked of a traced value. It would be a constant, '
     'and its derivative zero.',
     'ad.grad(lambda x: float(x) * x)(2.0)',
     'Stay with the traced value: leave `float` out.'),
    ('The same, by `int`.',
     'ad.grad(lambda x: int(x) * x)(2.0)',
     'Use `np.floor`, or `np.trunc`; for a number that is to be a constant, '
     'compute it outside.'),
    ('The same, by `complex`.',
     'ad.grad(lambda x: complex(x).real)(2.0)',
     'Leave `complex` out, or use `x.astype(complex)`.'),
    ('The same, by `item`.',
     'ad.grad(lambda x: x.item() * 2)(2.0)',
     'Leave `item` out: a traced scalar goes wherever a number does.'),
    ('The same, for a whole array.',
     'ad.linearize(lambda x: x.tolist(), x)',
     'Work with `x[0]`, `x[1]` and so on, which are traced.'),
    ('Python was to branch on a value that is not known while the program is '
     'written down, or mapped.',
     'ad.jit(lambda x: x if x > 0 else -x)(2.0)',
     '`np.where` chooses between two values, `ad.cond` between two '
     'functions.'),
    ('A traced value has no number to be printed in a format.',
     "ad.jit(lambda x: f'{x:.3f}' and x)(2.0)",
     "Leave the format out: `f'{x}'` says what the tracer is."),
    ('Python needs an integer, and has a traced value.',
     'ad.jit(lambda n: x[:n])(2)',
     'Make it a static argument, `ad.jit(f, static_argnums=0)`; to take an '
     'element of a plain array, write `ad.asarray(a)[n]`.'),
    ('NumPy makes a plain array of a list, and asks none of its elements.',
     'ad.linearize(lambda x: np.exp([x[0], x[1]]), x)',
     'Make the array yourself: `np.exp(np.array([x[0], x[1]]))`.'),
    ('The attribute describes the memory of an array, and a traced value '
     'has none of its own.',
     'ad.linearize(lambda x: x.strides, x)',
     'Leave it out, or look at a plain array.'),
    ('A traced value was kept, and used when its transformation had '
     'returned.',
     '''
     kept = []
     ad.linearize(lambda x: kept.append(x) or x, x)
     kept[0] + 1
     ''',
     'Return it. What a function returns is no longer traced.'),
    ('A traced value was kept, and used in another transformation.',
     '''
     kept = []
     ad.linearize(lambda x: kept.append(x) or x, x)
     ad.jit(lambda x: x + kept[0])(x)
     ''',
     'The same: return it.'),
    ('A symbolic zero is no array. It reaches those who write rules.',
     'ad.Zero(1.0) + 1.0',
     '`ad.instantiate_zeros(t)` makes an array of it, and '
     '`isinstance(t, ad.Zero)` tells it from one.'),
)

ERRORS['What is not yours to write'] = group(
    ('A function writes into its argument, which is the memory of whoever '
     'calls it.',
     '''
     def f(x):
         x[0] = 1.0
     ad.linearize(f, x)
     ''',
     'Write into a copy, `x = x.copy()`.'),
    ('An array of a program that runs around this one.',
     '''
     def f(x):
         y = x * 2
         ad.grad(lambda t: y.fill(1.0) or t)(2.0)
     ad.linearize(f, x)
     ''',
     'Let the inner function return what is to be written, or copy `y` in '
     'it.'),
    ('A constant, as the program sees it.',
     'ad.jit(lambda t: ad.asarray(x).sort())(x)',
     '`np.array(a, like=t)` is a copy, which may be written.'),
    ('A number is no array.',
     'ad.linearize(lambda x: np.sum(x).fill(0), x)',
     'Give the name another number: `y = 0`.'),
    ('The array may be a view of another that is still in use, or not: of '
     'what `reshape` returns, nobody knows while it is traced.',
     '''
     def f(x):
         y = x * 2
         z = y.reshape(3, 1)
         z[0] = 1.0
         return y
     ad.linearize(f, x)
     ''',
     'Write into the array itself, `y[0] = 1.0`, or reshape a copy. Slices '
     'and transposes are views that do see a write.'),
    ('An array that nothing moves, of an outer transformation, is to take '
     'what moves.',
     'ad.jit(ad.grad(lambda t: np.floor(x * t).fill(t) or t))(2.0)',
     'Copy it first: `np.copy(a)` belongs to the transformation at work.'),
    ('A plain array cannot take what is traced.',
     '''
     y = np.zeros(3)
     ad.linearize(lambda x: np.sin(x, out=y), x)
     ''',
     'Make it inside the function: `y = np.zeros(3)`, or `y = np.copy(y)`.'),
    ('A plain array of an outer transformation cannot take what an inner '
     'one traces.',
     '''
     def f(x):
         y = np.zeros(2)
         ad.grad(lambda t: y.fill(t) or t)(2.0)
     ad.linearize(f, x)
     ''',
     'Let the inner function return what is to be written.'),
    ('The array has a view that sees its elements as another dtype.',
     '''
     def f(x):
         y = np.zeros(3, complex)
         real = y.real
         y[0] = x[0]
     ad.linearize(f, x)
     ''',
     'Write first, and take the view afterwards.'),
    ('The array was made read-only.',
     '''
     def f(x):
         y = np.zeros(3)
         y.flags.writeable = False
         y[0] = x[0]
     ad.linearize(f, x)
     ''',
     'As in NumPy: write into a copy.'),
    ('The words that `np.r_` takes first are not supported on traced values.',
     "ad.linearize(lambda x: np.r_['0,2', x, x], x)",
     'Use `np.concatenate` or `np.stack`.'),
    ('The array that `out=` names is of another shape than the result.',
     'ad.linearize(lambda x: np.sum(x, out=np.zeros_like(x)), x)',
     'Make one of the shape of the result.'),
    ('The result of a ufunc does not fit into the `out=` array.',
     'ad.linearize(lambda x: np.sin(x, out=np.zeros(1, like=x)), x)',
     'Pass an array of the shape of the result, or with more axes in '
     'front.'),
    ('NumPy would fill only a part of the `out=` array.',
     '''
     def f(x):
         np.cumsum(x[None], 0, out=np.zeros((2, 3), like=x))
     ad.linearize(f, x)
     ''',
     'Pass that part, `out=a[:1]`.'),
    ('The `out=` array of `dot` has another dtype than the result.',
     'ad.linearize(lambda x: np.dot(x, 2.0, out=np.zeros(3, int, like=x)), x)',
     'Pass an array of that dtype.'),
    ('The value of `out=` is not an array.',
     'ad.linearize(lambda x: np.sum(x, out=0.0), x)',
     'Pass an array, such as `np.zeros((), like=x)`.'),
    ('The array is given by position.',
     'ad.linearize(lambda x: np.sum(x, 0, None, np.zeros_like(x[0])), x)',
     'Give it by its name, `out=`.'),
    ('This view is read-only in NumPy, too, so the error is also a '
     '`ValueError`.',
     'ad.linearize(lambda x: np.diagonal(np.outer(x, x)).fill(1.0), x)',
     'Use `np.fill_diagonal`, or write into a copy.'),
    ('One element of `x.flat` takes one value.',
     '''
     def f(x):
         y = x * 2
         y.flat[0] = [1.0, 2.0]
     ad.linearize(f, x)
     ''',
     'Write into a part, `y.flat[:2]`.'),
    ('`place` has no values to insert.',
     'ad.linearize(lambda x: np.place(x * 2, np.ones(3), []), x)',
     'Pass at least one value.'),
    ('A traced mask has another shape than the array.',
     '''
     def f(x):
         y = x * 2
         y[x[:2] > 1] = 0.0
     ad.jit(f)(x)
     ''',
     'Give the mask the shape of the array, as in NumPy.'),
    ('What is written is of another shape.',
     '''
     def f(x):
         y = x * 2
         y[:2] = x
     ad.linearize(f, x)
     ''',
     'As in NumPy: it must broadcast to the part that is written.'),
    ('Floats are to be written into integers by an operator, or `out=`.',
     '''
     def f(x):
         n = np.zeros(3, int, like=x)
         n += x
     ad.linearize(f, x)
     ''',
     'As in NumPy: make the array of floats; `n[:] = x` cuts them off.'),
    ('Complex numbers are to be written into an array of real ones.',
     '''
     def f(x):
         y = x * 2
         y[0] = 1j
     ad.linearize(f, x)
     ''',
     'Make the array complex: `np.zeros_like(x, dtype=complex)`.'),
    ('A mask that is traced says where to write, and several numbers are '
     'given for it.',
     '''
     def f(x):
         y = x * 2
         y[x > 1] = x[:1]
     ad.jit(f)(x)
     ''',
     '`y[...] = np.where(mask, z, y)`, with `z` of the shape of `y`.'),
    ('A traced value has escaped, and is copied elsewhere.',
     '''
     kept = []
     ad.linearize(lambda x: kept.append(x) or x, x)
     np.copy(kept[0])
     ''',
     'Return it: what a function returns is no longer traced.'),
)

ERRORS['What is not yours to write'] += group(
    ('What `y.flat` returned reads memory that no longer holds the numbers.',
     '''
     def f(x):
         y = np.zeros(3)
         elements = y.flat
         y[0] = x[0]
         elements[:]
     ad.linearize(f, x)
     ''',
     'Ask for `y.flat` after you have written.'),
)

ERRORS['What cannot be traced'] = group(
    ('An argument, or something that meets one, is no array.',
     "ad.linearize(lambda x: x * 'a', x)",
     'Arrays and numbers are traced, and trees of these as arguments. Make '
     'other things static arguments, or close over them.'),
    ('An array of objects, strings or dates has no derivative, and no type '
     'for us.',
     'ad.jit(lambda x: x)(np.array([None]))',
     'Convert it with `astype`, or leave it outside.'),
    ('There is no rule for a function of NumPy\'s.',
     'ad.linearize(np.packbits, x)',
     'Write it with functions that there are, or make it a primitive of your '
     'own. The page *What works* lists them all.'),
    ('There is no rule for a method of a ufunc.',
     'ad.linearize(lambda x: np.hypot.at(x, [0], 1.0), x)',
     'Call the function that the method serves.'),
    ('An interpreter has no rule for a primitive.',
     '''
     from autodiff_mini.core import Primitive
     twice = Primitive('twice', lambda x: 2 * x)
     ad.jvp(twice.bind, (1.0,), (1.0,))
     ''',
     'Define one. For a primitive that is made with `ad.Primitive`, the '
     'error also names the method.'),
    ('A trace of your own does not say what a primitive means.',
     '''
     from autodiff_mini.core import Trace, TraceTag
     with Trace(Trace.base, TraceTag('mine', None)):
         ad.jit(np.sin)(1.0)
     ''',
     'Give it a method `process_primitive(primitive, args, params)`.'),
)

ERRORS['NumPy\'s functions, on traced values'] = group(
    ('The number of results would depend on values.',
     'ad.jit(lambda x: x[x > 1])(x)',
     '`np.where(x > 1, x, 0)`. Under `grad` alone it works.'),
    ('The same, under `vmap`, where each row would have another length.',
     'ad.vmap(lambda x: x[x > 1])(np.stack([x, x]))',
     '`np.where(x > 1, x, 0)`.'),
    ('The same, for `np.where` with one argument.',
     'ad.linearize(lambda x: np.where(x), x)',
     'Give it all three arguments.'),
    ('An index is neither an integer nor a boolean.',
     'ad.linearize(lambda x: x[x], x)',
     'Convert it: `i.astype(int)`.'),
    ('There are more indices than axes.',
     'ad.jit(lambda x: x[0, 0])(x)',
     'Look at `x.shape`.'),
    ('An index is out of bounds, which is noticed by type alone.',
     'ad.jit(lambda x: x[5])(x)',
     'Look at `x.shape`.'),
    ('Arrays of indices do not fit each other.',
     'ad.jit(lambda x: x[:, None][np.arange(3), np.arange(2)])(x)',
     'They have to broadcast to one shape.'),
    ('A scalar has no length.',
     'ad.grad(lambda x: len(x) * x)(1.0)',
     'Use `np.size`, or `np.atleast_1d`.'),
    ('A scalar has no elements to go along.',
     'ad.grad(lambda x: sum(x))(1.0)',
     'Use `np.sum`, or `np.atleast_1d`.'),
    ('The shapes of a product do not fit.',
     'ad.jit(lambda x: np.ones((2, 2)) @ x)(x)',
     'Transpose or reshape one of the two.'),
    ('An array does not broadcast to the shape.',
     'ad.jit(lambda x: np.broadcast_to(x, (3,)))(np.ones((2, 3)))',
     'Axes are added in front, and those of length 1 stretch. Nothing '
     'shrinks.'),
    ('Arrays of different shapes cannot be stacked.',
     'ad.jit(lambda x: np.stack([x, x[1:]]))(x)',
     '`np.concatenate` joins arrays along an axis that there is.'),
    ('Arrays that are joined differ elsewhere than along the axis.',
     'ad.jit(lambda x: np.concatenate([x[None], x[None, 1:]]))(x)',
     'Choose another `axis`, or cut them to one shape.'),
    ('A matrix has to be square.',
     'ad.jit(np.linalg.det)(np.ones((2, 3)))',
     'For least squares, use `np.linalg.lstsq`.'),
    ('The right side of a system has another number of rows.',
     'ad.jit(np.linalg.solve)(np.eye(2), x)',
     'A vector is one system; for several, make it a matrix with a column '
     'for each.'),
    ('`reshape` takes two orders.',
     "ad.linearize(lambda x: np.reshape(x, 3, order='A'), x)",
     "Say `order='C'` or `order='F'`."),
    ('Only an axis of length 1 can be squeezed out.',
     'ad.linearize(lambda x: np.squeeze(x, 0), x)',
     'Take an element, `x[0]`, or sum over the axis.'),
    ('There must be a destination for each axis.',
     'ad.linearize(lambda x: np.moveaxis(x[None], [0], [0, 1]), x)',
     'Give both lists the same length.'),
    ('Indices along an axis need as many axes as the array.',
     'ad.linearize(lambda x: np.take_along_axis(x, np.eye(2) > 0, 0), x)',
     'Add axes with `None`.'),
    ('Indices along an axis have to be integers.',
     'ad.linearize(lambda x: np.take_along_axis(x, x, 0), x)',
     'Convert them: `i.astype(int)`.'),
    ('The indices of `take` have to be integers.',
     'ad.linearize(lambda x: np.take(x, x), x)',
     'Convert them: `i.astype(int)`.'),
    ('`pad` knows some modes only.',
     "ad.linearize(lambda x: np.pad(x, 1, mode='mean'), x)",
     'Pad with a constant, and put the value there with `np.where`.'),
    ('`diag` is for vectors and matrices.',
     'ad.linearize(lambda x: np.diag(x[None, None]), x)',
     '`np.diagonal` takes any two axes.'),
    ('`meshgrid` has two ways to order its axes.',
     "ad.linearize(lambda x: np.meshgrid(x, x, indexing='yx'), x)",
     "Say `indexing='xy'` or `indexing='ij'`."),
    ('There must be a choice for each condition.',
     'ad.linearize(lambda x: np.select([x > 0], [x, -x]), x)',
     'Make the lists equally long; the last case is `default=`.'),
    ('Conditions have to be booleans.',
     'ad.linearize(lambda x: np.select([x], [x]), x)',
     'Compare: `x != 0`.'),
    ('The axes that are summed over differ in length.',
     'ad.linearize(lambda x: np.tensordot(x, x[1:], 1), x)',
     'Look at the shapes, or name the axes.'),
    ('Arrays are to be joined in a dtype to which they cannot be cast.',
     'ad.linearize(lambda x: np.stack([x, x], dtype=int), x)',
     'Convert them with `astype`, or allow it with `casting=`.'),
    ('A maximum is to leave something out, and nothing might be left.',
     'ad.linearize(lambda x: np.max(x, where=x > 1), x)',
     'Say with `initial=` what it is to begin with.'),
    ('A vector is no matrix; under `vmap`, each row is a vector.',
     'ad.vmap(np.linalg.det)(np.eye(3))',
     'Pass a stack of matrices, or leave out `vmap`.'),
    ('A norm is for vectors or matrices.',
     'ad.linearize(lambda x: np.linalg.norm(x[:, None, None], 1), x)',
     'Name one axis, or two.'),
    ('Matrices have no norm of this order.',
     'ad.linearize(lambda x: np.linalg.norm(x[None], 3), x)',
     'The orders are 1, 2, `np.inf`, their negatives, `fro` and `nuc`.'),
    ('There are not as many letters as axes.',
     "ad.linearize(lambda x: np.einsum('ij->', x), x)",
     'A letter for each axis, a comma between operands.'),
    ('A letter of the output is not in the input, or is there twice.',
     "ad.linearize(lambda x: np.einsum('i->j', x), x)",
     'Sums go over the letters that the output leaves out.'),
    ('A letter stands for two lengths.',
     "ad.linearize(lambda x: np.einsum('ii', x[None]), x)",
     'Give them different letters.'),
    ('There is no such norm of a vector.',
     "ad.linearize(lambda x: np.linalg.norm(x, 'fro'), x)",
     'Take a number for `ord`.'),
    ('`diff` cannot be undone by a negative order.',
     'ad.linearize(lambda x: np.diff(x, -1), x)',
     '`np.cumsum` goes the other way.'),
    ('Weights have another shape than what is averaged.',
     'ad.linearize(lambda x: np.average(x, weights=x[1:]), x)',
     'Say which `axis` the weights are for.'),
    ('An array cannot be split into no parts.',
     'ad.linearize(lambda x: np.array_split(x, 0), x)',
     'One part at least.'),
    ('An array cannot be split into so many equal parts.',
     'ad.linearize(lambda x: np.split(x, 2), x)',
     '`np.array_split` allows unequal ones.'),
)

ERRORS['Trees and arguments'] = group(
    ('A class was registered twice as a pytree.',
     'ad.register_pytree_node(dict, None, None)',
     'Once, where it is defined.'),
    ('The fields of a dataclass were not each named once.',
     '''
     from dataclasses import make_dataclass
     Line = make_dataclass('Line', ['w', 'b'])
     ad.register_dataclass(Line, ['w'], [])
     ''',
     'Name the fields to trace first, and then the static ones. If you name '
     'none, `field(metadata={\'static\': True})` marks the static ones.'),
    ('A method changes its object, and runs only once, with a copy.',
     '''
     class Counter:
         n = 0
         @ad.jit
         def count(self, x): self.n += 1
     Counter().count(x)
     ''',
     'Return the new value, and assign it outside of `jit`.'),
    ('A method of an object whose attributes hold objects with arrays.',
     '''
     from types import SimpleNamespace
     class Net:
         def __init__(self): self.layer = SimpleNamespace(w=x)
         @ad.jit
         def out(self, x): return self.layer.w * x
     Net().out(x)
     ''',
     'Make the class of the inner object a dataclass: its fields are traced.'),
    ('`grad` of a method differentiates by its first argument, `self`.',
     '''
     class Net:
         @ad.grad
         def loss(self, x): return x
     Net().loss(1.0)
     ''',
     'Count `self` as argument 0, and write `argnums=1`.'),
    ('Rules for single arguments cannot be told from the rule for `self`.',
     '''
     class Net:
         @ad.custom_jvp
         def f(self, x): return x
         f.defjvps(lambda x_dot, y, x: x_dot)
     ad.grad(Net().f)(1.0)
     ''',
     'Define one rule with `defjvp`, as `rule(self, primals, tangents)`.'),
    ('A dataclass has an attribute that is not a field, and would lose it.',
     '''
     from dataclasses import make_dataclass
     Line = make_dataclass('Line', ['w'])
     line = Line(1.0)
     line.length = 3.0
     ad.grad(lambda line: line.w)(line)
     ''',
     'Declare it as a field, or compute it in a property.'),
    ('The keys of a dictionary have no order.',
     "ad.tree_leaves({1: x, 'a': x})",
     'Use keys of one kind.'),
    ('A structure was given another number of leaves.',
     'ad.tree_unflatten(ad.tree_structure((1, 2)), [1])',
     'As many as `num_leaves` says.'),
    ('Two trees that should go together do not.',
     'ad.tree_map(lambda a, b: a, (1, 2), (1, 2, 3))',
     'The first tree decides; the others must begin like it.'),
    ('A rule cannot know an argument that the signature does not name.',
     '''
     f = ad.custom_jvp(lambda x, **options: x * options['n'])
     f.defjvps(None)
     f(2.0, n=3)
     ''',
     'Name the argument in the signature, or close over its value, '
     '`functools.partial(f, n=3)`, before you define the rule.'),
    ('A call does not fit the function.',
     '''
     f = ad.custom_jvp(lambda x: x)
     f.defjvps(None)
     f(2.0, 3.0)
     ''',
     'As Python says.'),
    ('A keyword was given to a function whose signature Python cannot read.',
     '''
     f = ad.custom_jvp(np.sin)
     f.defjvps(None)
     f(1.0, where=True)
     ''',
     'Give the arguments by position, or wrap it in a `lambda`.'),
    ('A transformation was given something else than a function.',
     'ad.grad(np.sin(1.0))',
     'The function itself, and not what it returns.'),
    ('A transformation with options was used as a decorator.',
     '''
     @ad.jit(static_argnums=1)
     def f(x, n):
         return x ** n
     ''',
     '`@functools.partial(ad.jit, static_argnums=1)`.'),
    ('`jit` was given a string.',
     "ad.jit(lambda x, mode: x)(1.0, 'fast')",
     "Make it static: `ad.jit(f, static_argnames='mode')`."),
    ('A function returned a string.',
     "ad.make_jaxpr(lambda x: 'done')(1.0)",
     'Return arrays and numbers.'),
    ('There is no argument of that name.',
     "ad.jit(lambda x: x, static_argnames='n')",
     'Look at the signature.'),
    ('There is no argument in that position.',
     'ad.jit(lambda x: x, static_argnums=1)',
     'They are counted from 0.'),
    ('`has_aux` says that there are two results.',
     'ad.grad(lambda x: x * x, has_aux=True)(2.0)',
     'Return a pair: what is differentiated, and what is not.'),
)

ERRORS['Forward mode'] = group(
    ('Arguments and tangents of `jvp` are tuples.',
     'ad.jvp(np.sin, 1.0, 1.0)',
     '`ad.jvp(np.sin, (1.0,), (1.0,))`.'),
    ('Arguments and tangents have different structures.',
     'ad.jvp(np.sin, (1.0,), (1.0, 1.0))',
     'A tangent for each argument, of the same tree.'),
    ('A tangent has another dtype than its primal.',
     'ad.jvp(np.sin, (x,), (np.arange(3),))',
     'For a float, a float. For an integer, zeros of dtype `ad.float0`.'),
    ('A tangent has another shape than its primal.',
     'ad.jvp(np.sin, (x,), (1.0,))',
     '`np.ones_like(x)`, for example.'),
    ('The linear function of `linearize` wants tangents like the arguments.',
     'ad.linearize(np.sin, x)[1](x, x)',
     'One for each argument.'),
)

ERRORS['vmap'] = group(
    ('`in_axes` is none.',
     "ad.vmap(np.sin, in_axes='0')",
     'An integer, None, or a tuple with an entry for each argument.'),
    ('`in_axes` does not fit the arguments.',
     'ad.vmap(np.sin, in_axes=(0, 0))(x)',
     'An entry for each argument.'),
    ('`in_axes` does not fit an argument, which is a tree.',
     'ad.vmap(np.add, in_axes=(0, {}))(x, x)',
     'For a tree, one entry, or a tree of them.'),
    ('The array has no such axis.',
     'ad.vmap(np.sin)(1.0)',
     'None is for arguments that are not mapped.'),
    ('Nothing is mapped, so nobody knows how often.',
     'ad.vmap(np.sin, in_axes=None)(x)',
     'Map an argument, or say `axis_size=`.'),
    ('Mapped arguments have different lengths.',
     'ad.vmap(np.add)(x, np.ones(2))',
     'For one that is the same for all, put None into `in_axes`.'),
    ('The output differs from element to element, and `out_axes` says that '
     'it does not.',
     'ad.vmap(np.sin, out_axes=None)(x)',
     '`out_axes=0`, or wherever the new axis is to be.'),
    ('The output has no place for the new axis.',
     'ad.vmap(np.sin, out_axes=2)(x)',
     'Count from the left, with the new axis.'),
)

ERRORS['Programs'] = group(
    ('A jaxpr was given another number of arguments.',
     'ad.eval_jaxpr(ad.make_jaxpr(np.sin)(x), [], x, x)',
     'Print it: the inputs stand before `let`.'),
    ('The source of a compiled function was asked for too early.',
     'ad.jit(np.sin).source',
     'Call it first. There is a program for each type of arguments.'),
    ('The arguments were given to `jit`, and not to what it returns.',
     'ad.jit(np.sin, 1.0)',
     '`ad.jit(np.sin)(1.0)`.'),
    ('A static argument is a part of a key, and needs a hash.',
     'ad.jit(lambda x, n: x, static_argnums=1)(x, [1])',
     'A tuple in place of the list.'),
    ('A function calls itself while it is traced, and a traced condition '
     'cannot stop it.',
     '''
     @ad.jit
     def factorial(n):
         return np.where(n < 2, 1, n * factorial(n - 1))

     factorial(5)
     ''',
     '`ad.while_loop(lambda c: c[0] > 1, lambda c: (c[0] - 1, c[0] * c[1]), '
     '(5, 1))[1]`.'),
)

ERRORS['Reverse mode'] = group(
    ('A gradient is that of a scalar, and this is a tree.',
     'ad.grad(lambda x: (x, x))(1.0)',
     'Return one number. For a second result, `has_aux=True`.'),
    ('A gradient is that of a scalar, and this is an array.',
     'ad.grad(np.sin)(x)',
     'Sum it; for the derivative of each element, `ad.jacrev`.'),
    ('The output has no derivative.',
     'ad.grad(lambda x: np.argmax(x))(x)',
     'Return a float. An index does not move a little.'),
    ('An argument has no derivative.',
     'ad.grad(lambda n: n * 2.0)(3)',
     'Write `3.0`.'),
    ('A Jacobian by complex numbers has a column for each, and no word says '
     'that one is enough.',
     'ad.jacfwd(np.conj)(1j)',
     'If the function is holomorphic, `holomorphic=True`. `np.conj` is not.'),
    ('It says `holomorphic`, and a number is real.',
     'ad.jacfwd(np.exp, holomorphic=True)(1.0)',
     'Leave it out.'),
    ('`argnums` is no position.',
     "ad.grad(lambda x: x, argnums='x')(1.0)",
     'An integer, or a tuple of integers.'),
    ('There is no such argument, or it was given by keyword.',
     'ad.grad(lambda x: x, argnums=1)(1.0)',
     'Give it by position.'),
    ('An argument was named twice.',
     'ad.grad(lambda x: x, argnums=(0, -1))(1.0)',
     'Once.'),
    ('A pullback takes one cotangent, also of several outputs.',
     'ad.vjp(lambda x: (x, x), 1.0)[1](1.0, 1.0)',
     '`pullback((1.0, 1.0))`.'),
    ('A cotangent has another structure than the output.',
     'ad.vjp(np.sin, x)[1]((x, x))',
     'It is like the output of the function, and not like its arguments.'),
    ('A cotangent has another shape or dtype than the output.',
     'ad.vjp(np.sin, x)[1](1.0)',
     '`np.ones_like(y)`, for example.'),
    ('A function that should be linear is not.',
     'ad.linear_transpose(lambda x: x * x, 1.0)(1.0)',
     'To transpose the derivative, `ad.vjp`.'),
    ('A loop that should be linear begins with something else than zero.',
     '''
     def f(x):
         return ad.scan(lambda c, x: (c + x, None), 1.0, x)[0]
     ad.linear_transpose(f, x)(1.0)
     ''',
     'To transpose the derivative, `ad.vjp`.'),
)

ERRORS['Checking derivatives'] = group(
    ('The arguments of the function are no tuple.',
     'ad.check_grads(np.sin, 1.0, 1)',
     '`ad.check_grads(np.sin, (1.0,), 1)`.'),
    ('There is no such order.',
     'ad.check_grads(np.sin, (1.0,), 0)',
     '1, for first derivatives, or more.'),
    ('There is no such mode.',
     "ad.check_grads(np.sin, (1.0,), 1, modes='forward')",
     "`modes=('fwd', 'rev')`."),
    ('A derivative is wrong, or the function has a corner there.',
     '''
     f = ad.custom_jvp(lambda x: 2 * x)
     f.defjvps(lambda x_dot, y, x: 3 * x_dot)
     ad.check_grads(f, (1.0,), 1)
     ''',
     'Look at the rule that the message names. If both numbers are close, '
     'try another `eps`.'),
)

ERRORS['NaN'] = group(
    ('An operation made a NaN inside `with ad.debug_nans()`.',
     '''
     with ad.debug_nans():
         ad.grad(lambda x: np.where(x > 0, np.sqrt(x), 0.0))(0.0)
     ''',
     'Choose the operand before the operation: '
     '`np.sqrt(np.where(x > 0, x, 1.0))`.'),
    ('`debug_nans` was entered while a transformation was running, whose '
     'values it would not see.',
     '''
     def f(x):
         with ad.debug_nans():
             return x * 2

     ad.grad(f)(1.0)
     ''',
     'Put the `with` around the call: `with ad.debug_nans(): '
     'ad.grad(f)(1.0)`.'),
)

ERRORS['Rules for the way out: custom_jvp'] = group(
    ('The rule doubles its tuples, and not what is in them.',
     '''
     f = ad.custom_jvp(lambda x: x * 2)
     f.defjvp(lambda x, t: (x * 2, t * 2))
     ad.jvp(f, (1.0,), (1.0,))
     ''',
     'Unpack them: `(x,), (t,) = primals, tangents`.'),
    ('A rule makes a `custom_vjp` function that closes over the tangent, and '
     'an outer transformation can ask for the rules of that function.',
     '''
     def rule(p, t):
         k = ad.custom_vjp(lambda y: y * t[0])
         k.defvjp(lambda y: (k(y), None), lambda _, ct: (ct * t[0],))
         return f(*p), k(p[0])
     f = ad.custom_jvp(lambda x: x * x / 2)
     f.defjvp(rule)
     ad.jvp(ad.grad(f), (2.0,), (1.0,))
     ''',
     'Pass the tangent to the function as an argument, as in '
     '`k(p[0], t[0])`.'),
    ('A rule makes a `custom_jvp` function that closes over the tangent and '
     'over another value that is being differentiated.',
     '''
     def rule(p, t):
         k = ad.custom_jvp(lambda s: s * t[0] * p[0])
         k.defjvp(lambda q, s: (k(*q), s[0] * t[0] * p[0]))
         return f(*p), k(1.0)
     f = ad.custom_jvp(lambda x: x * x / 2)
     f.defjvp(rule)
     ad.jvp(ad.grad(f), (2.0,), (1.0,))
     ''',
     'Pass the other value to the function as an argument.'),
    ('`defjvps` got more or fewer rules than the function has arguments.',
     '''
     f = ad.custom_jvp(lambda x, y: x * y)
     f.defjvps(None)
     ad.grad(f)(1.0, 2.0)
     ''',
     'Give a rule or None for each argument.'),
    ('There is no rule yet.',
     'ad.grad(ad.custom_jvp(np.sin))(1.0)',
     'Give it one with `defjvp`.'),
    ('A rule returns something else than a pair.',
     '''
     f = ad.custom_jvp(lambda x: 2 * x)
     f.defjvp(lambda primals, tangents: 2 * tangents[0])
     ad.jvp(f, (1.0,), (1.0,))
     ''',
     'The output, and its tangent.'),
    ('The output and its tangent have different structures.',
     '''
     f = ad.custom_jvp(lambda x: 2 * x)
     f.defjvp(lambda primals, tangents: (f(*primals), tangents))
     ad.jvp(f, (1.0,), (1.0,))
     ''',
     '`tangents` is a tuple; take its elements.'),
    ('A rule takes its tuples for arrays, and NumPy makes arrays of them.',
     '''
     f = ad.custom_jvp(np.sin)
     f.defjvp(lambda x, x_dot: (np.sin(x), np.cos(x) * x_dot))
     ad.jvp(f, (1.0,), (1.0,))
     ''',
     'Take the elements of both tuples.'),
    ('A rule takes other arguments.',
     '''
     f = ad.custom_jvp(lambda n, x: n * x, nondiff_argnums=0)
     f.defjvp(lambda primals, tangents: (1.0, 1.0))
     ad.jvp(lambda x: f(2, x), (1.0,), (1.0,))
     ''',
     'Arguments that are not differentiated come first.'),
    ('The rule returns another output than the function. It is noticed '
     'where both are written down.',
     '''
     f = ad.custom_jvp(lambda x: 2 * x)
     f.defjvp(lambda primals, tangents: (x, x))
     ad.jvp(ad.jit(f), (1.0,), (1.0,))
     ''',
     'Call the function in the rule.'),
    ('`defjvps` has no place for arguments that are not differentiated.',
     '''
     f = ad.custom_jvp(lambda n, x: n * x, nondiff_argnums=0)
     f.defjvps(lambda x_dot, y, x: x_dot)
     ''',
     'Use `defjvp`, whose rule gets them first.'),
    ('An argument that is not differentiated moves.',
     '''
     f = ad.custom_jvp(lambda a, x: a * x, nondiff_argnums=0)
     f.defjvp(lambda a, primals, tangents: (f(a, *primals), a * tangents[0]))
     ad.grad(lambda x: f(x, x))(3.0)
     ''',
     'Make it an ordinary argument, with a tangent in the rule.'),
    ('The function uses a value that is being differentiated, and is no '
     'argument.',
     '''
     def f(x):
         g = ad.custom_jvp(lambda y: x * y)
         g.defjvp(lambda primals, tangents: (g(*primals), x * tangents[0]))
         return g(1.0)
     ad.grad(f)(2.0)
     ''',
     'Make it an argument. `ad.closure_convert` does so for functions that '
     'others give you.'),
    ('The same, and the rule was asked.',
     '''
     def f(x):
         g = ad.custom_jvp(lambda y: y * 1.0)
         g.defjvp(lambda primals, tangents: (g(*primals), x))
         return g(x)
     ad.grad(f)(2.0)
     ''',
     'The same.'),
    ('The same, and the function had been written down.',
     '''
     def f(x):
         g = ad.custom_jvp(lambda y: x * y)
         g.defjvp(lambda primals, tangents: (g(*primals), x * tangents[0]))
         return ad.jit(g)(1.0)
     ad.grad(f)(2.0)
     ''',
     'The same.'),
    ('A rule that was written down uses a value that is gone.',
     '''
     def f(x):
         g = ad.custom_jvp(lambda y: 2 * y)
         g.defjvp(lambda primals, tangents: (g(*primals), x * tangents[0]))
         return g(x)
     ad.jvp(ad.jit(f), (1.0,), (1.0,))
     ''',
     'Pass it to the function as an argument. The rule gets all of them.'),
    ('Only the rule uses a mapped value, when the function has already run '
     'without.',
     '''
     def f(z):
         def inner(x):
             g = ad.custom_jvp(lambda y: y * 1.0)
             g.defjvp(lambda p, t: (p[0] * x, t[0]))
             return g(z)
         return ad.vmap(inner)(np.arange(3.0))
     jaxpr = ad.make_jaxpr(f)(1.0)
     ad.jvp(lambda z: ad.eval_jaxpr(jaxpr, [], z)[0], (1.0,), (1.0,))
     ''',
     'Pass it to the function as an argument.'),
    ('A record of a tangent was returned.',
     '''
     f = ad.custom_jvp(lambda x, y: x)
     f.defjvp(lambda primals, tangents: (tangents[1], 0.0),
              symbolic_zeros=True)
     ad.jvp(lambda x: f(x, 1.0), (1.0,), (1.0,))
     ''',
     '`ad.instantiate_zeros`, or return something that is an array.'),
)

ERRORS['Rules for the way back: custom_vjp'] = group(
    ('There is no rule yet.',
     'ad.grad(ad.custom_vjp(np.sin))(1.0)',
     'Give it one with `defvjp`.'),
    ('A function with a rule for the way back only was differentiated '
     'forwards.',
     '''
     f = ad.custom_vjp(np.sin)
     f.defvjp(lambda x: (np.sin(x), x), lambda x, ct: (np.cos(x) * ct,))
     ad.jvp(f, (1.0,), (1.0,))
     ''',
     '`ad.grad` or `ad.vjp`; or a second rule, with `defjvp`.'),
    ('`fwd` returns something else than a pair.',
     '''
     f = ad.custom_vjp(np.sin)
     f.defvjp(lambda x: np.sin(x), lambda x, ct: (np.cos(x) * ct,))
     ad.grad(f)(1.0)
     ''',
     'The output, and what `bwd` will need.'),
    ('`bwd` returns an array, or a tuple of another length.',
     '''
     f = ad.custom_vjp(np.sin)
     f.defvjp(lambda x: (np.sin(x), x), lambda x, ct: np.cos(x) * ct)
     ad.grad(f)(1.0)
     ''',
     'A tuple with one cotangent for each argument: mind the comma.'),
    ('A cotangent has another structure than its argument.',
     '''
     f = ad.custom_vjp(lambda p: p['a'])
     f.defvjp(lambda p: (p['a'], None), lambda r, ct: ((ct, ct),))
     ad.grad(f)({'a': 1.0})
     ''',
     'A dictionary for a dictionary. None stands for zeros, for all of an '
     'argument or a part.'),
    ('A cotangent has another shape than its argument.',
     '''
     f = ad.custom_vjp(lambda x: np.sum(x))
     f.defvjp(lambda x: (f(x), None), lambda r, ct: (ct,))
     ad.grad(f)(x)
     ''',
     '`ct * np.ones(3)`, here. Where the function broadcasts, the way back '
     'sums.'),
    ('A cotangent has another dtype than its argument.',
     '''
     f = ad.custom_vjp(lambda x: x)
     f.defvjp(lambda x: (x, None), lambda r, ct: (ct * 1j,))
     ad.grad(f)(1.0)
     ''',
     'Convert it with `astype`.'),
    ('`fwd` returned the record of an argument.',
     '''
     f = ad.custom_vjp(lambda x: x)
     f.defvjp(lambda x: (x, None), lambda r, ct: (ct,), symbolic_zeros=True)
     ad.grad(f)(1.0)
     ''',
     'Its `value`. That is what `symbolic_zeros=True` asks for.'),
    ('`fwd` kept the record of an argument.',
     '''
     f = ad.custom_vjp(lambda x: x)
     f.defvjp(lambda x: (x.value, x), lambda r, ct: (ct,),
              symbolic_zeros=True)
     ad.grad(f)(1.0)
     ''',
     'Its `value`, or `perturbed`, which is a boolean.'),
    ('The function uses a value that is being differentiated, and is no '
     'argument.',
     '''
     def f(x):
         g = ad.custom_vjp(lambda y: x * y)
         g.defvjp(lambda y: (g(y), None), lambda r, ct: (ct,))
         return g(1.0)
     ad.grad(f)(2.0)
     ''',
     'Make it an argument, or use `ad.closure_convert`.'),
    ('The same, and the function had been written down.',
     '''
     def f(x):
         g = ad.custom_vjp(lambda y: x * y)
         g.defvjp(lambda y: (g(y), None), lambda r, ct: (ct,))
         return ad.jit(g)(1.0)
     ad.grad(f)(2.0)
     ''',
     'The same.'),
    ('`bwd` uses such a value.',
     '''
     def f(x):
         g = ad.custom_vjp(lambda y: y * 1.0)
         g.defvjp(lambda y: (y * 1.0, None), lambda r, ct: (x * ct,))
         return g(x)
     ad.grad(f)(2.0)
     ''',
     'Return it from `fwd` as a residual.'),
    ('The same: `bwd` hands it back as it is.',
     '''
     def f(x):
         g = ad.custom_vjp(lambda y: y * 1.0)
         g.defvjp(lambda y: (y * 1.0, None), lambda r, ct: (x,))
         return g(x)
     ad.grad(f)(2.0)
     ''',
     'The same.'),
    ('`fwd` was written down, and uses a value that is gone.',
     '''
     def f(x):
         g = ad.custom_vjp(lambda y: 2 * y)
         g.defvjp(lambda y: (g(y), x), lambda r, ct: (ct,))
         return g(x)
     ad.vjp(ad.jit(f), 1.0)
     ''',
     'Pass it to the function as an argument.'),
    ('`bwd` uses a mapped value, and the function does not.',
     '''
     def f(z):
         def inner(x):
             g = ad.custom_vjp(lambda y: y * 1.0)
             g.defvjp(lambda y: (y * 1.0, None), lambda r, ct: (ct * x,))
             return g(z)
         return np.sum(ad.vmap(inner, out_axes=None, axis_size=3)(x))
     ad.grad(f)(1.0)
     ''',
     'Pass it to the function as an argument.'),
)

ERRORS['Rules for batches: custom_vmap'] = group(
    ('There is no rule yet.',
     'ad.vmap(ad.custom_vmap(np.sin))(x)',
     'Give it one with `def_vmap`.'),
    ('A rule returns something else than a pair.',
     '''
     f = ad.custom_vmap(np.sin)
     f.def_vmap(lambda axis_size, in_batched, x: np.sin(x))
     ad.vmap(f)(x)
     ''',
     'The output, and whether it is batched.'),
    ('The output and `out_batched` have different structures.',
     '''
     f = ad.custom_vmap(np.sin)
     f.def_vmap(lambda axis_size, in_batched, x: (np.sin(x), in_batched))
     ad.vmap(f)(x)
     ''',
     '`in_batched` is a list, with an entry for each argument; for this '
     'output, `in_batched[0]`.'),
    ('The rule returns another tree than the function. It is noticed where '
     'the function has run.',
     '''
     f = ad.custom_vmap(np.sin)
     f.def_vmap(lambda axis_size, in_batched, x: ((np.sin(x),), (True,)))
     ad.vmap(ad.jit(f))(x)
     ''',
     'The same tree as the function.'),
    ('A part of `out_batched` is no boolean.',
     '''
     f = ad.custom_vmap(np.sin)
     f.def_vmap(lambda axis_size, in_batched, x: (np.sin(x), 0))
     ad.vmap(f)(x)
     ''',
     'True; it says whether there is an axis, and not which.'),
    ('An output has no batch axis, or one of another length.',
     '''
     f = ad.custom_vmap(np.sin)
     f.def_vmap(lambda axis_size, in_batched, x: (np.sum(x), True))
     ad.vmap(f)(x)
     ''',
     'False, if it is one for all elements. The axis is in front.'),
    ('The function, or its rule, uses a value that is being mapped, and is '
     'no argument.',
     '''
     def f(x):
         g = ad.custom_vmap(lambda y: x * y)
         g.def_vmap(lambda axis_size, in_batched, y: (x * y, True))
         return g(2.0)
     ad.vmap(f)(x)
     ''',
     'Make it an argument.'),
    ('The same: the rule hands it back as it is.',
     '''
     def f(x):
         g = ad.custom_vmap(lambda y: y)
         g.def_vmap(lambda axis_size, in_batched, y: (x, False))
         return g(x)
     ad.vmap(f)(x)
     ''',
     'The same.'),
    ('The same, and the function had been written down.',
     '''
     def f(x):
         g = ad.custom_vmap(lambda y: x * y)
         g.def_vmap(lambda axis_size, in_batched, y: (y, True))
         return ad.jit(g)(2.0)
     ad.vmap(f)(x)
     ''',
     'The same.'),
)

ERRORS['Closures'] = group(
    ('A converted function was given other arguments than the examples.',
     '''
     f, values = ad.closure_convert(np.sin, 1.0)
     f(x)
     ''',
     'The same types as in `closure_convert`.'),
    ('A converted function was given another tree.',
     '''
     f, values = ad.closure_convert(np.sin, 1.0)
     f((1.0, 2.0))
     ''',
     'The same trees as in `closure_convert`.'),
    ('A converted function was called without its values.',
     '''
     def g(scale):
         f, values = ad.closure_convert(lambda x: scale * x, 1.0)
         return f(5.0)
     ad.grad(g)(2.0)
     ''',
     '`f(5.0, *values)`.'),
    ('A `custom_gradient` function returns no rule.',
     'ad.custom_gradient(lambda x: 2 * x)(1.0)',
     'A pair: the output, and a function of its cotangent.'),
)

ERRORS['Branches and loops'] = group(
    ('`cond` was given values in place of functions.',
     'ad.cond(True, 1.0, 2.0)',
     '`np.where` chooses between values.'),
    ('`fori_loop` was given its body first.',
     'ad.fori_loop(lambda i, c: c, 0, 3, 1.0)',
     'The bounds come first, and then the body.'),
    ('`scan` was given a list of numbers, which is a tree.',
     'ad.scan(lambda c, x: (c, x), 0.0, [1.0, 2.0])',
     'An array.'),
    ('`switch` has nothing to choose from.',
     'ad.switch(0, [], x)',
     'One branch at least.'),
    ('The index of `switch` is no integer.',
     'ad.switch(0.5, [np.sin, np.cos], x)',
     '`i.astype(int)`; for a condition, `ad.cond`.'),
    ('The condition of `cond` is an array.',
     'ad.cond(x > 0, np.sin, np.cos, x)',
     '`np.where`, or `ad.vmap`.'),
    ('Branches return different structures.',
     'ad.jit(lambda p: ad.cond(p, np.sin, lambda x: (x, x), x))(True)',
     'The same tree from each.'),
    ('Branches return different types.',
     'ad.jit(lambda p: ad.cond(p, np.sin, lambda x: x[0], x))(True)',
     'The same shape and dtype from each.'),
    ('The length of a scan is no integer.',
     'ad.scan(lambda c, _: (c, None), 0.0, None, length=1.5)',
     'An integer that is known.'),
    ('The length of a scan is negative.',
     'ad.scan(lambda c, _: (c, None), 0.0, None, length=-1)',
     'Zero steps are allowed.'),
    ('Nobody says how long a scan is.',
     'ad.scan(lambda c, _: (c, None), 0.0, None)',
     'Give it something to go along, or `length=`.'),
    ('What a scan goes along has several lengths.',
     'ad.scan(lambda c, _: (c, None), 0.0, (x, x[1:]))',
     'Make the first axes equal.'),
    ('A scan cannot go along a number.',
     'ad.scan(lambda c, _: (c, None), 0.0, 1.0)',
     'What is the same for all steps is closed over.'),
    ('The body of a scan returns no pair.',
     'ad.scan(lambda c, x: c + x, 0.0, x)',
     '`(carry, y)`, where y may be None.'),
    ('What is carried changes its structure.',
     'ad.scan(lambda c, x: ((c, c), None), 0.0, x)',
     'Carry from the start what there is at the end.'),
    ('What is carried changes its type.',
     'ad.scan(lambda c, y: (x, None), 0.0, x)',
     'Begin with an array of the right shape and dtype.'),
    ('The condition of a loop returns no boolean.',
     'ad.while_loop(lambda c: c, lambda c: c - 1, 3.0)',
     'Compare: `c > 0`.'),
    ('The bounds of a loop are no integers.',
     'ad.fori_loop(0, 2.5, lambda i, c: c, 0.0)',
     'Convert them.'),
    ('The policy of a checkpoint is no function.',
     "ad.checkpoint(np.sin, policy='dots')",
     '`ad.checkpoint_policies.dots_saveable`, or a function of yours.'),
    ('A loop of unknown length has no way back.',
     'ad.grad(lambda x: ad.while_loop(lambda c: c < 9, lambda c: c * x, x))'
     '(2.0)',
     '`ad.scan`; or forward mode; or a rule of your own.'),
)

ERRORS['Primitives of your own'] = group(
    ('A rule is missing.',
     '''
     p = ad.Primitive('double')
     p.bind(x)
     ''',
     'The error names the method that defines it.'),
    ('A parameter, which is static, was given a traced value.',
     '''
     p = ad.Primitive('scale')
     p.def_impl(lambda x, factor: factor * x)
     ad.grad(lambda a: p.bind(1.0, factor=a))(2.0)
     ''',
     'Make it an operand: pass it by position.'),
    ('The rule for types returns something else than a type.',
     '''
     p = ad.Primitive('double')
     p.def_abstract_eval(lambda x: x.shape)
     ad.make_jaxpr(p.bind)(x)
     ''',
     '`ad.ShapedArray(shape, dtype)`; for multiple results, a list.'),
    ('A rule returns another type than was promised.',
     '''
     p = ad.Primitive('double')
     p.def_impl(lambda x: 2 * x[0])
     p.def_abstract_eval(lambda x: x)
     p.bind(x)
     ''',
     'Mend the one or the other. NumPy makes a float64 of much.'),
    ('The rule of a primitive returns a tree.',
     '''
     p = ad.Primitive('double')
     p.def_impl(lambda x: 2 * x)
     p.def_jvp(lambda p, t: ((2 * p[0],), (2 * t[0],)))
     ad.jvp(p.bind, (1.0,), (1.0,))
     ''',
     'An array; a list of arrays, if it has multiple results.'),
    ('A VJP rule returns no pair.',
     '''
     p = ad.Primitive('double')
     p.def_impl(lambda x: 2 * x)
     p.def_vjp(lambda primals: 2 * primals[0])
     ad.grad(p.bind)(1.0)
     ''',
     'The output, and a function of its cotangent.'),
    ('A vmap rule returns no pair.',
     '''
     p = ad.Primitive('double')
     p.def_vmap(lambda args, dims: 2 * args[0])
     ad.vmap(p.bind)(x)
     ''',
     'The output, and its axis, or None.'),
    ('A vmap rule names an axis that is not the mapped one.',
     '''
     p = ad.Primitive('double')
     p.def_vmap(lambda args, dims: (2 * args[0], 1))
     ad.vmap(p.bind)(x)
     ''',
     'Say where the mapped axis is in the output.'),
    ('A transpose rule returns no tuple, or not an entry for each operand.',
     '''
     p = ad.Primitive('double')
     p.def_abstract_eval(lambda x: x)
     p.def_transpose(lambda ct, x: 2 * ct)
     ad.linear_transpose(p.bind, 1.0)(1.0)
     ''',
     'A tuple: mind the comma. None is for operands that are known.'),
    ('A transpose rule returns a cotangent of another shape.',
     '''
     p = ad.Primitive('double')
     p.def_abstract_eval(lambda x: x)
     p.def_transpose(lambda ct, x: (np.sum(ct),))
     ad.linear_transpose(p.bind, x)(x)
     ''',
     'The shape of the operand.'),
    ('A rule uses a traced value, where a program is transformed that was '
     'written down.',
     '''
     p = ad.Primitive('double')
     p.def_abstract_eval(lambda x: x)
     p.def_impl(lambda x: 2 * x)
     def f(x):
         p.def_jvp(lambda primals, tangents: (
             p.bind(*primals), x * tangents[0]))
         return ad.jvp(ad.jit(p.bind), (1.0,), (1.0,))[1]
     ad.grad(f)(2.0)
     ''',
     'Make it an operand. A rule belongs to the primitive, and not to one '
     'use of it.'),
    ('A primitive goes into a pickle, and stands in no module.',
     '''
     import pickle
     pickle.dumps(ad.Primitive('double'))
     ''',
     'Let it be a variable of a module that whoever reads the pickle can '
     'import.'),
)

ERRORS['Solving and flowing'] = group(
    ('What a solver\'s function returns is not like the guess.',
     'ad.fixed_point(lambda a, x: (x, x), 1.0, 1.0)',
     'A function from such trees to such trees.'),
    ('It has another shape or dtype than the guess.',
     'ad.fixed_point(lambda a, x: np.stack([x, x]), 1.0, 1.0)',
     'Begin with a guess of the right shape.'),
    ('A solution is sought among the integers.',
     'ad.root(lambda a, x: x * 2, 1, np.array([1, 2]))',
     'Make the guess a float.'),
    ('A special function was given complex numbers.',
     'ad.expit(1j)',
     'They are defined for real numbers here.'),
    ('The times of a flow are no list.',
     'ad.odeint(lambda y, t: -y, 1.0, 0.5)',
     'An array of times, of which the first belongs to `y0`.'),
    ('A flow needs something that flows.',
     'ad.odeint(lambda y, t: y, (), x)',
     'One number at least.'),
    ('Something in a flow is complex.',
     'ad.odeint(lambda y, t: -y, 1j, x)',
     'Two real numbers for a complex one.'),
    ('The slope has another structure than the state.',
     'ad.odeint(lambda y, t: (y, y), 1.0, x)',
     'A slope for each number of the state, in the same tree.'),
    ('The slope has another shape than the state.',
     'ad.odeint(lambda y, t: np.stack([y, y]), 1.0, x)',
     'The shape of the state.'),
)

ERRORS['Live notebooks'] = group(
    ('A class whose instances are in use was given other slots.',
     '''
     from autodiff_mini.notebook.live import patch
     class Old:
         __slots__ = ('a',)
     class New:
         __slots__ = ('a', 'b')
     patch('Old', Old, New)
     ''',
     'Change the module, and restart the notebook.'),
)
