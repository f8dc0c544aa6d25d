"""What to write instead of the methods that arrays of other systems have.

A user of PyTorch, JAX, or TensorFlow writes `x.clone()`, `x.sum(dim=0)`, and
`x.at[0].set(1.0)`.  A table says in one place what each is called in NumPy.
See the page *Errors explained*.
"""

import ast
import re
from itertools import takewhile

import numpy as np

from autodiff_mini.core.trace import Tracer
from autodiff_mini.wings.messages.syntax import nodes_around, value_of

GRADIENT = 'Write ad.grad(f)(x), which returns the gradient'
DIFFERENTIATED = ('Leave it out: ad.grad(f)(x) differentiates f with respect '
                  'to x')
ACCEPTED = 'Leave it out, because NumPy accepts {x}'
IN_MEMORY = 'Leave it out, because NumPy arrays are in main memory'
COPY = 'Write into a copy: y = np.copy({x}), then y[i] = value'
OUTSIDE = ('Return it from the function, with has_aux=True, and read it '
           'outside')


def by_name(table):
    """Return a table by single names from one by several names."""
    return {name: words for names, words in table.items()
            for name in names.split()}


METHODS = by_name({     # {0} is the first argument, {all} are all of them
    'clone': 'Write np.copy({x})',
    'detach detach_ data': 'Write ad.stop_gradient({x})',
    'grad backward': GRADIENT,
    'requires_grad requires_grad_ retain_grad is_leaf grad_fn':
        DIFFERENTIATED,
    'register_hook': 'Give the function a rule for the reverse pass, with '
                     'ad.custom_vjp',
    'numpy to_numpy block_until_ready contiguous resolve_conj evaluate eval':
        ACCEPTED,
    'cpu cuda to device devices is_cuda sharding get_device': IN_MEMORY,
    'val _value value': OUTSIDE,
    'values': 'Leave it out, because np.max returns only the values',
    'indices': 'Write np.argmax instead',
    'view': 'Write {x}.reshape({all})',
    'size': 'Write {x}.shape[{0}]',
    'unsqueeze': 'Write np.expand_dims({x}, {all})',
    'permute': 'Write {x}.transpose({all})',
    't': 'Write {x}.T', 'numel nelement': 'Write {x}.size',
    'dim ndimension': 'Write {x}.ndim', 'get_shape': 'Write {x}.shape',
    'expand': 'Write np.broadcast_to({x}, ({all}))',
    'expand_as': 'Write np.broadcast_to({x}, {0}.shape)',
    'view_as reshape_as': 'Write {x}.reshape({0}.shape)',
    'float double': 'Write {x}.astype(float)',
    'half': 'Write {x}.astype(np.float16)', 'bool': 'Write {x}.astype(bool)',
    'int long': 'Write {x}.astype(int)', 'type': 'Write {x}.astype({all})',
    'type_as': 'Write {x}.astype({0}.dtype)',
    'add': 'Write {x} + {0}', 'sub': 'Write {x} - {0}',
    'mul': 'Write {x} * {0}', 'div': 'Write {x} / {0}',
    'pow': 'Write {x} ** {0}', 'neg': 'Write -{x}',
    'mm bmm mv matmul': 'Write {x} @ {0}', 'rsqrt': 'Write 1 / np.sqrt({x})',
    'add_ assign_add': 'Write {x} = {x} + {0}',
    'sub_ assign_sub': 'Write {x} = {x} - {0}',
    'mul_': 'Write {x} = {x} * {0}', 'div_': 'Write {x} = {x} / {0}',
    'zero_': 'Write {x} = np.zeros_like({x})',
    'fill_': 'Write {x} = np.full_like({x}, {0})',
    'copy_ assign set_': 'Write {x} = np.copy({0})',
    'clamp clamp_ clip_by_value': 'Write np.clip({x}, {all})',
    'clamp_min': 'Write np.maximum({x}, {0})',
    'clamp_max': 'Write np.minimum({x}, {0})',
    'masked_fill masked_fill_': 'Write np.where({0}, {1}, {x})',
    'gather': 'Write np.take_along_axis({x}, {1}, {0})',
    'index_select': 'Write np.take({x}, {1}, {0})',
    'scatter scatter_ scatter_add scatter_add_ index_add_ index_put_ '
    'masked_scatter_ index_copy_ at index_fill_': COPY,
    'norm': 'Write np.linalg.norm({x})',
    'inverse': 'Write np.linalg.inv({x})',
    'relu relu_': 'Write np.maximum({x}, 0)',
    'sigmoid': 'Write ad.expit({x})', 'softplus': 'Write ad.log1pexp({x})',
    'logsumexp': 'Write ad.logsumexp({x}, {all})',
    'softmax': 'Write np.exp({x} - ad.logsumexp({x}, axis={all}, '
               'keepdims=True))',
    'log_softmax': 'Write {x} - ad.logsumexp({x}, axis={all}, keepdims=True)',
    'erf': 'Write scipy.special.erf({x})',
    'lgamma': 'Write scipy.special.gammaln({x})',
    'tofile dump dumps tobytes':
        'Return {x} from the function, and write it outside',
})
# Functions of other systems that take a list, or no array.
FUNCTIONS = {
    'cat': 'Write np.concatenate({all})',
    'tensor': 'Write np.array({all})', 'as_tensor': 'Write np.asarray({all})',
    'from_numpy': ACCEPTED, 'Tensor': 'Write np.ndarray',
    'no_grad': 'Write ad.stop_gradient(x)',
    'manual_seed': 'Write np.random.default_rng({all})'}
KEYMETHODS = {'dim': 'axis', 'dims': 'axis', 'reduction_indices': 'axis',
            'keepdim': 'keepdims', 'keep_dims': 'keepdims',
            'unbiased': 'ddof'}
LEFT_OUT = 'requires_grad', 'device', 'memory_format', 'inplace'
WRITES = {'set': '=', 'add': '+=', 'subtract': '-=', 'multiply': '*=',
          'mul': '*=', 'divide': '/=', 'power': '**='}
OURS = by_name({        # the keywords of our own functions
    'requires_grad': DIFFERENTIATED,
    'argnums': 'Pass it to ad.grad, which returns a function of all '
               'arguments: ad.grad(f, argnums=0)',
    'args': 'Pass the arguments themselves: ad.odeint(func, y0, t, k)',
    'argnum wrt': 'Write argnums', 'static_argnum': 'Write static_argnums',
    'in_dims': 'Write in_axes', 'out_dims': 'Write out_axes',
    'method': 'Leave it out, because the steps are those of Dormand and '
              'Prince',
    'create_graph retain_graph allow_unused is_grads_batched':
        'Leave it out, because each derivative can be differentiated again',
    'donate_argnums donate_argnames device inline fullgraph mode dynamic '
    'axis_name spmd_axis_name randomness chunk_size use_reentrant vectorize '
    'strict': 'Leave it out, because it has no equal here'})
ARRAYS = Tracer, np.ndarray, np.generic
NOT_CALLED = 'size', 'shape', 'ndim', 'T', 'dtype', 'real', 'imag', 'itemsize'
OPERATIONS = (ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp)
LACKS = re.compile(r"has no attribute '(\w+)'|property '(\w+)' of .* no set"
                   r'ter|^numpy\.ndarray\.(\w+) is not supported')
TIGHT = re.compile(r'\}\.| [-+*/@]+ |-\{')     # where an operation needs ()
NOT_NUMBERS = re.compile(
    r"unsupported operand|can't multiply sequence|can only concatenate")
KEYWORD = re.compile(r"unexpected keyword argument '(\w+)'")


def instead_of_habit(error, frame, instruction):
    """Return what to write instead of the habit behind an error, or None.

    Args:
        error: the error.
        frame, instruction: the place in the user's program.
    """
    nodes, text = nodes_around(frame, instruction), str(error)
    if found := LACKS.search(text):
        [name] = filter(None, found.groups())
        return instead_of_attribute(error, name, nodes, frame)
    match nodes[:1]:
        case [ast.Call() as call] if found := KEYWORD.search(text):
            return instead_of_keyword(found[1], call, frame)
        case [ast.Call(_, arguments)] if text.startswith('descriptor ') and (
                "'numpy.ndarray' objects" in text):
            every = ', '.join(map(ast.unparse, arguments))
            return f'Write np.{text.split(chr(39))[1]}({every}).'
        case [ast.Call(function, arguments)] if (
                text.startswith('Cannot interpret ')):
            return instead_of_dtype(function, arguments)
        case [ast.Call(ast.Name() as x, [index])] if (
                'not callable' in text
                and isinstance(value_of(x, frame), ARRAYS)):
            return ('An array is indexed with brackets: write '
                    f'{ast.unparse(ast.Subscript(x, index))}.')
        case [ast.Call(ast.Attribute(x, name) as function, arguments)] if (
                isinstance(value_of(x, frame), (*ARRAYS, type(None)))):
            if 'not callable' in text and name in NOT_CALLED and not (
                    name == 'size' and arguments):
                return ('Leave the parentheses out: write '
                        f'{ast.unparse(function)}.')
            if 'not callable' in text and name in METHODS or (
                    name == 'view' and 'sub-type of ndarray' in text):
                return f'{filled(METHODS[name], x, arguments)}.'
        case [ast.BinOp()] if NOT_NUMBERS.match(text) and (
                not hasattr(error, '__notes__')):
            return instead_of_arithmetic(nodes, frame)
    return None


def instead_of_arithmetic(nodes, frame):
    """Return arithmetic on containers as a call of tree_map, or None."""
    whole = [*takewhile(lambda node: isinstance(node, ast.BinOp), nodes)][-1]
    names = ', '.join(dict.fromkeys(
        ast.unparse(x) for x in operands(whole)
        if isinstance(x, ast.Name)
        and type(value_of(x, frame)) in (dict, list, tuple)))
    return names and (f'Write ad.tree_map(lambda {names}: '
                      f'{ast.unparse(whole)}, {names}).')


def operands(node) -> list:
    """Return the operands of nested arithmetic."""
    if not isinstance(node, ast.BinOp):
        return [node]
    return operands(node.left) + operands(node.right)


def instead_of_our_keyword(error):
    """Return what to write instead of a keyword that our function lacks."""
    found = KEYWORD.search(str(error))
    return f'{OURS[found[1]]}.' if found and found[1] in OURS else None


def instead_of_dtype(function, arguments):
    """Return what to write for a call that passes a number as a dtype."""
    name, texts = ast.unparse(function), list(map(ast.unparse, arguments))
    if texts[2:] in (['True'], ['False']):      # as in torch.mean(x, 0, True)
        return 'Write {}({}, axis={}, keepdims={}).'.format(name, *texts)
    return f'Write {name}(({", ".join(texts)})).' if len(texts) > 1 else None


def instead_of_attribute(error, name, nodes, frame):
    """Return what to write instead of an attribute that arrays lack."""
    node = next((x for top in nodes[:1] for x in ast.walk(top)
                 if isinstance(x, ast.Attribute) and x.attr == name), None)
    if node is None:
        return None
    owner, x = getattr(error, 'obj', None), node.value
    owner = value_of(x, frame) if owner is None else owner
    arguments = next((outer.args for outer in nodes
                      if getattr(outer, 'func', None) is node), [])
    if owner is np:
        first, *rest = arguments or [ast.Name('x')]
        words = (filled(FUNCTIONS[name], first, [first, *rest])
                 if name in FUNCTIONS else filled(METHODS[name], first, rest)
                 if name in METHODS else None)
        return words and f'{words}.'
    if not isinstance(owner, ARRAYS) and 'Tracer' not in str(error):
        return None
    words = instead_of_method(name, x, arguments, nodes)
    if not words:
        return None
    tag = getattr(getattr(owner, '_trace', None), 'tag', None)
    traced = f', traced by {tag}' if tag else ''
    return f'{ast.unparse(x)} is a NumPy array{traced}. {words}.'


def instead_of_method(name, x, arguments, nodes):
    """Return what to write instead of a method of an array, or None."""
    if name == 'at':
        return instead_of_at(x, nodes)
    if name in METHODS:
        return filled(METHODS[name], x, arguments)
    if name == 'shape':
        return filled('Write {x} = {x}.reshape(shape)', x, [])
    if type(getattr(np, name, None)) in (np.ufunc, type(np.sum)):
        return filled(f'Write np.{name}({{every}})', x, arguments)
    return None


def instead_of_at(x, nodes):
    """Return what to write instead of `x.at[i].set(value)`."""
    match nodes:
        case [_, ast.Subscript(_, index), ast.Attribute(_, write),
              ast.Call(_, [value, *_]), *_] if write in WRITES:
            where, value = ast.unparse(index), ast.unparse(value)
            can_repeat = write == 'add' and any(
                isinstance(part, ast.Name | ast.List)
                for part in ast.walk(index))
            return (f'Write into a copy: y = np.copy({ast.unparse(x)}), then '
                    + (f'np.add.at(y, {where}, {value})' if can_repeat else
                       f'y[{where}] {WRITES[write]} {value}'))
        case [_, ast.Subscript(_, index), ast.Attribute(_, 'get'), *_]:
            return f'Write {ast.unparse(ast.Subscript(x, index))}'
    return filled(COPY, x, [])


def instead_of_keyword(name, call, frame):
    """Return what to write instead of a keyword of another system."""
    function = value_of(call.func, frame)
    module = getattr(function, '__module__', None) or ''
    owner = getattr(call.func, 'value', None)
    if not (module.startswith('numpy') or name == 'requires_grad'
            or isinstance(value_of(owner, frame), ARRAYS)):
        return None
    if name in LEFT_OUT:
        return f'Leave {name} out.'
    if name not in KEYMETHODS:
        return None
    renamed = [ast.keyword(KEYMETHODS.get(x.arg, x.arg), x.value)
               for x in call.keywords]
    if name == 'unbiased':
        return 'Write ddof=1 for unbiased=True, and leave unbiased=False out.'
    return (f'NumPy calls it {KEYMETHODS[name]}. Write '
            f'{ast.unparse(ast.Call(call.func, call.args, renamed))}.')


def filled(words, x, arguments):
    """Return advice with the texts of an array and of arguments in it."""
    texts = list(map(ast.unparse, [x, *arguments]))
    every, several = ', '.join(texts), ', '.join(texts[1:]) or '...'
    if TIGHT.search(words):
        texts = [f'({text})' if isinstance(node, OPERATIONS) else text
                 for node, text in zip([x, *arguments], texts)]
    return words.format(*texts[1:], *['...'] * 2, x=texts[0], every=every,
                        all=several)
