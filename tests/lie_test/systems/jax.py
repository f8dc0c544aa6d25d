"""JAX, in double precision on the CPU."""

import jax
import jax.numpy as jnp

from .with_jax_names import functions, transformations

jax.config.update('jax_enable_x64', True)
jax.config.update('jax_platforms', 'cpu')

version = f'JAX {jax.__version__}'
number = jnp.asarray(0.0)
plain, rules = functions(jnp, jax)
wrappers, derivatives = transformations(jnp, jax, jax.lax)
