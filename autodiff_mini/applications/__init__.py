"""A wing: what users build with the library, built with it.

Without this folder, the package has all other names.
"""

from autodiff_mini.applications.implicit import custom_root, fixed_point, root
from autodiff_mini.applications.ode import odeint
from autodiff_mini.applications.special import (
    expit, log1pexp, logit, logsumexp)

__all__ = ['logit', 'expit', 'log1pexp', 'logsumexp', 'fixed_point',
           'custom_root', 'root', 'odeint']
