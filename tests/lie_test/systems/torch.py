"""PyTorch, without `torch.compile`."""

import torch
from torch import func
from torch.utils.checkpoint import checkpoint

torch.set_num_threads(1)    # a fork can't use more

version = f'PyTorch {torch.__version__}'
number = torch.tensor(0.0, dtype=torch.float64)
forks = True    # after an error inside `jvp`, forward mode stays on


def plain(x):
    return torch.exp(2 * x)


class Backward(torch.autograd.Function):
    """exp(2x) with a rule for reverse mode."""
    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return torch.exp(2 * x)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx, ct):
        x, = ctx.saved_tensors
        return 3 * Backward.apply(x) * ct


class Both(Backward):
    """exp(2x) with a rule for each mode."""

    @staticmethod
    def backward(ctx, ct):
        x, = ctx.saved_tensors
        return 3 * Both.apply(x) * ct

    @staticmethod
    def jvp(ctx, t):
        x, = ctx.saved_tensors
        return 3 * Both.apply(x) * t


def tape(f):
    """Differentiate in the usual way, keeping the graph."""
    def slope(x):
        if not x.requires_grad:
            x = x.detach().requires_grad_()
        return torch.autograd.grad(f(x), x, create_graph=True)[0]
    return slope


rules = {'backward and jvp': lambda x: Both.apply(x),
         'backward': lambda x: Backward.apply(x)}
wrappers = {
    'vmap': lambda f: lambda x: func.vmap(f)(torch.stack([x, x]))[1],
    'checkpoint': lambda f: lambda x: checkpoint(f, x, use_reentrant=False)}
derivatives = {
    'tape': tape,
    'grad': func.grad,
    'jvp': lambda f: lambda x: func.jvp(f, (x,), (torch.ones_like(x),))[1],
    'linearize': lambda f: lambda x: func.linearize(f, x)[1](
        torch.ones_like(x))}

for derivative in derivatives.values():     # import before any fork
    derivative(plain)(number)
