"""Control: actions now for a small cost later."""

import numpy as np

from tests.tables.gallery.table import piece

A = np.array([[1.0, 0.1, 0.0], [0.0, 1.0, 0.1], [-0.1, 0.0, 0.9]])
B = np.array([[0.0, 0.1], [0.1, 0.0], [0.0, 0.2]])
START = np.array([1.0, 0.5, -0.5])


@piece(np.array([0.0, -0.5, 0.3]), -1.0)
def lqr(log_q, log_r):
    """The cost-to-go, after twelve steps of the Riccati recursion."""
    q, r = np.diag(np.exp(log_q)), np.exp(log_r) * np.eye(2)
    p = q
    for _ in range(12):
        gain = np.linalg.solve(r + B.T @ p @ B, B.T @ p @ A)
        p = q + A.T @ p @ (A - B @ gain)
    return START @ p @ START


@piece(A, branches='it iterates until nothing changes')
def riccati(a):
    """The same without a horizon: iterate until the cost converges."""
    p, change = np.eye(3), np.inf
    while change > 0.5:
        gain = np.linalg.solve(np.eye(2) + B.T @ p @ B, B.T @ p @ a)
        new = np.eye(3) + a.T @ p @ (a - B @ gain)
        change = np.max(np.abs(new - p))
        p = new
    return np.trace(p)
