"""The libraries to compare, and how each of them computes a gradient.

A workload is written once, as `program(np, *args)`, where `np` is NumPy for
us and a peer's own module for the peer. Arguments are prepared once, so
copying NumPy arrays into a peer's own arrays is not measured.
"""

from functools import partial
from importlib.util import find_spec

import numpy as np

import autodiff_mini as ad
from tests.benchmarks.floors import floor_of

try:
    import autograd
    import autograd.numpy as anp
except ImportError:
    autograd = anp = None
try:
    import torch
    import torch.utils.checkpoint
    torch.set_num_threads(1)
except ImportError:
    torch = None
try:
    import jax
    import jax.numpy as jnp
    jax.config.update('jax_enable_x64', True)
except ImportError:
    jax = jnp = None

EVERYBODY = ('autograd', 'torch', 'jax')
FUSES = all(map(find_spec, ('numba', 'autodiff_mini.wings.fused')))
LIBRARIES = ['numpy', *[peer.__name__ for peer in (autograd, torch, jax)
                        if peer], *['numba'] * FUSES]


def gradients(program, args, hand, argnums=0, value=False,
              peers=EVERYBODY, torch_program=None):
    """Return {column: call}, the gradient of one program in each library.

    Args:
        program: `program(np, *args)`, a scalar.
        args: floats and arrays, or trees of them.
        hand: `hand(*args)`, the same gradient, by hand.
        argnums: an int, or a tuple of them.
        value: whether the value of the program is wanted too.
        peers: which of the peers can do it.
        torch_program: the program for torch, if it uses other functions.
    """
    def function(ad, np):
        return partial(torch_program if torch_program and np is torch
                       else program, np)
    return gradients_of(function, args, hand, argnums, value, peers)


def gradients_of(function, args, hand, argnums=0, value=False,
                 peers=EVERYBODY):
    """Return {column: call}, the gradient of `function(ad, np)` in each.

    The function that it returns can use other functions of the library.
    The other arguments are those of `gradients`.
    """
    transform = 'value_and_grad' if value else 'grad'
    calls = everywhere(lambda ad, np: getattr(ad, transform)(
        function(ad, np), argnums), args, hand, {*peers} - {'torch'})
    if torch and 'torch' in peers:
        calls['torch'] = torch_gradient(
            function(torch.func, torch), args, argnums, value)
    return calls


def everywhere(make, args, hand, peers=EVERYBODY):
    """Return {column: call} for a function that each library transforms.

    Args:
        make: `make(ad, np)`, with a library and its NumPy.
        args, hand, peers: as for `gradients`. The peer `jax eager` is JAX
            without its jit.
    """
    f = make(ad, np)
    calls = {'hand': partial(hand, *args), 'floor': floor_of(hand, args),
             'small': small_call(f, args), 'jit': partial(ad.jit(f), *args),
             'eager': partial(f, *args)}
    if autograd and 'autograd' in peers:
        calls['autograd'] = partial(make(autograd, anp), *args)
    if torch and 'torch' in peers:
        calls['torch'] = partial(make(torch.func, torch),
                                 *map(tensor, args))
    if jax and 'jax' in peers:
        calls['jax'] = jax_call(jax.jit(make(jax, jnp)), args)
    if jax and 'jax eager' in peers:
        calls['jax eager'] = jax_call(make(jax, jnp), args)
    return calls


def fused(calls):
    """Return the calls and one of the fused backend, if it's installed."""
    if not FUSES:
        return calls
    jitted = calls['jit']
    return calls | {'fused': partial(
        ad.jit(jitted.func.f, backend='fused'), *jitted.args)}


def small_call(f, args):
    """Return a jitted call, compiled without the wing `fast`."""
    compiled = ad.jit(f)

    def call():
        with ad.plain():
            return compiled(*args)
    return call


def jax_call(f, args):
    """Return a call of JAX that waits for its result."""
    args = jax.tree.map(jax_leaf, args)
    return lambda: jax.block_until_ready(f(*args))


def jax_leaf(x):
    return jnp.asarray(x) if isinstance(x, np.ndarray) else x


def tensor(x):
    return torch.tensor(x, dtype=None if isinstance(x, np.ndarray)
                        else torch.float64)


def torch_gradient(f, args, argnums, value):
    """Return a call that records `f` and runs its reverse pass."""
    args = ad.tree_map(tensor, args)
    wanted = args[argnums] if isinstance(argnums, int) else tuple(
        args[i] for i in argnums)
    leaves, tree = ad.tree_flatten(wanted)
    for leaf in leaves:
        leaf.requires_grad_()

    def call():
        y = f(*args)
        found = tree.unflatten(torch.autograd.grad(y, leaves))
        return (y.detach(), found) if value else found
    return call
