"""The loop throws the dice three times, and `vmap` once, for all elements.
The sentence holds for functions whose result depends on their arguments
alone. JAX gives such programs a generator of random numbers that is an
argument, and can be mapped.
"""

import numpy as np


def breaks_it():
    rng = np.random.default_rng(seed=0)
    return lambda x: x + rng.normal(), np.arange(3.0)
