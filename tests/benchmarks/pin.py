"""Run everything in one thread on one core.

This has to happen before NumPy, torch, and JAX are imported, so this module
imports none of them.
"""

import os

ONE = ('OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS', 'MKL_NUM_THREADS',
       'VECLIB_MAXIMUM_THREADS', 'NUMEXPR_NUM_THREADS', 'NUMBA_NUM_THREADS')


def pin_to_one_thread():
    os.environ |= dict.fromkeys(ONE, '1')
    os.environ['JAX_PLATFORMS'] = 'cpu'
    os.environ['XLA_FLAGS'] = ('--xla_cpu_multi_thread_eigen=false '
                               'intra_op_parallelism_threads=1')
    if hasattr(os, 'sched_setaffinity'):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
