"""Benchmarks: our gradients beside NumPy written by hand, and the peers.

    python -m tests.benchmarks            all workloads; prints the tables
    python -m tests.benchmarks W2 W3      some of them
    python -m tests.benchmarks --write    all, and into book/benchmarks.json
                                          and README.md: this is `make bench`

One process, one thread on one core for everybody.  What is compared computes
the same, which is checked first.  Whoever is compared takes turns, and the
figure is the best of many rounds; the spread says how far three quarters of
them exceed it.  The floor is in `floors`; the small compiler is what `jit`
is without the wing `fast/`.  autograd, torch and JAX are measured if they
are installed.  Nothing is asserted about time.
"""
