"""The whole system, one module per transformation: what Book One builds.

    >>> import numpy as np
    >>> from autodiff_mini import draft as ad
    >>> f = ad.vmap(ad.jit(ad.grad(lambda x: x * np.sin(x))))
    >>> f(np.array([0.0, 1.0])).round(3)
    array([0.   , 1.382])

Read the modules in this order: core, primitives, trees, jvp, vmap, calls,
jaxpr, source, partial_eval, transpose, custom_vjp, jit, programs, loops,
branches, checkpoint.

The draft refuses some programs with a short error.  It knows some thirty
NumPy functions and one method, `x.sum()`; it indexes with integers and
slices; arguments are positional; `vmap` maps the first axis of all of them;
`while_loop` has no `vmap` and no reverse mode; a call can't capture a tracer
of forward mode unless one of its operands has a tangent, too; and a function
with a rule can't capture a tracer at all.

It gets others wrong without an error, until the chapter named here.  A
program that mixes float32 with Python numbers or float64 can claim the wrong
dtype, and so can a tangent (21).  A result can share memory with an argument
(25).  `np.errstate` inside a jitted function has no effect, and each program
that `jit` or a loop has seen is kept forever (both: the library's `jit`).
And `jit` keeps the arrays and rules that a function captured when it was
first called, as JAX and the library do.
"""

from ._until import until  # for notebooks: what earlier chapters wrote
from .branches import cond, while_loop
from .calls import custom_jvp
from .checkpoint import checkpoint
from .custom_vjp import custom_vjp
from .jaxpr import make_jaxpr
from .jit import jit
from .jvp import check_jvp, jvp
from .loops import scan
from .partial_eval import linearize
from .transpose import check_grads, grad, vjp
from .vmap import vmap
