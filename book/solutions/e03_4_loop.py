"""The loop rolls the dice three times, and `vmap` rolls them once for all
elements. The promise holds for functions whose result depends only on their
arguments. That's why JAX passes the state of its random number generator as
an argument, which can be mapped.
"""

import numpy as np


def breaks_it():
    rng = np.random.default_rng(seed=0)
    return lambda x: x + rng.normal(), np.arange(3.0)
