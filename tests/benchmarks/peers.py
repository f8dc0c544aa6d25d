"""The libraries to compare, and how each of them computes a gradient.

A workload is written once, as `program(np, *args)`, where `np` is NumPy for
us and a peer's own module for the peer. Arguments are prepared once, so
copying NumPy arrays into a peer's own arrays is not measured.
"""

from functools import partial

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
    torch.set_num_threads(1)
except ImportError:
    torch = None
try:
    import jax
    import jax.numpy as jnp
    jax.config.update('jax_enable_x64', True)
except ImportError:
    jax = jnp = None

PEERS = [peer for peer in (autograd, torch, jax) if peer]
EVERYBODY = ('autograd', 'torch', 'jax')


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
    transform = 'value_and_grad' if value else 'grad'
    calls = everywhere(lambda lib, np: getattr(lib, transform)(
        partial(program, np), argnums), args, hand, {*peers} - {'torch'})
    if torch and 'torch' in peers:
        calls['torch'] = torch_gradient(
            partial(torch_program or program, torch), args, argnums, value)
    return calls


def everywhere(make, args, hand, peers=EVERYBODY):
    """Return {column: call} for a function that each library transforms.

    Args:
        make: `make(ad, np)`, with a library and its NumPy.
        args, hand, peers: as for `gradients`.
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
        calls['jax'] = jax_call(make(jax, jnp), args)
    return calls


def small_call(f, args):
    """Return a jitted call, compiled without the wing `fast`."""
    compiled = ad.jit(f)

    def call():
        with ad.plain():
            return compiled(*args)
    return call


def jax_call(f, args):
    """Return a call of JAX's jit that waits for its result."""
    args, f = jax.tree.map(jax_leaf, args), jax.jit(f)
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
