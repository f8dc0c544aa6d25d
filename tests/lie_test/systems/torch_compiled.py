"""PyTorch, in the orders that have `torch.compile`."""

import torch

from . import torch as eager
from .torch import derivatives, forks, number, plain, rules, tape

version = f'{eager.version}, compiled'
must_have = {'compile'}

# This backend needs no C++ compiler. The default one gives the same verdicts
# for two transformations, and takes longer.
wrappers = {'compile': lambda f: torch.compile(f, backend='aot_eager'),
            **eager.wrappers}

tape(wrappers['compile'](plain))(number)    # import before any fork
torch._dynamo.reset()
