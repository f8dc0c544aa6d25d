"""Benchmarks: compare our gradients with NumPy by hand and with the peers.

    python -m tests.benchmarks            all workloads; prints the tables
    python -m tests.benchmarks W2 W3      some of them
    python -m tests.benchmarks --write    all, and into book/benchmarks.json
                                          and README.md: this is `make bench`

All of them run in one process, in one thread on one core. First we check that
they compute the same values. Then they take turns, and the figure is the best
of many rounds. The spread says by how much three quarters of the rounds
exceed it. The module `floors` has the floor, and the small compiler is `jit`
without the wing `fast`. autograd, torch, and JAX are measured if they are
installed, and the fused backend if numba is. Times are not asserted.
"""
