"""Programs as textbooks write them: arrays made of values, and filled.

Each maps a float array to a number or an array, in plain NumPy.
tests/test_textbook.py runs them under each transformation.
"""

import numpy as np

PROGRAMS = {}   # by name: a function, and a point to run it at


def program(*x):
    """Add a function to the table, with the point to run it at."""
    def add(f):
        PROGRAMS[f.__name__] = f, np.array(x)
        return f
    return add


# Differential equations

@program(1.0, 0.5, 0.3)
def pendulum_by_runge_kutta(p):
    def f(y):
        return np.array([y[1], -p[2] * y[1] - np.sin(y[0])])
    y, h = np.array([p[0], p[1]]), 0.1
    for _ in range(3):
        k1 = f(y)
        k2 = f(y + h / 2 * k1)
        k3 = f(y + h / 2 * k2)
        k4 = f(y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y


@program(0.4, 1.3)
def explicit_euler(p):
    n, h = 8, 0.1
    y = np.zeros(n)
    y[0] = p[0]
    for i in range(n - 1):
        y[i + 1] = y[i] + h * p[1] * y[i] * (1 - y[i])
    return y


@program(0.4, 1.3)
def adams_bashforth(p):
    h, y, f = 0.1, np.empty(7), np.empty(7)
    y[0] = p[0]
    f[0] = np.cos(p[1] * y[0])
    y[1] = y[0] + h * f[0]
    for i in range(1, 6):
        f[i] = np.cos(p[1] * y[i])
        y[i + 1] = y[i] + h / 2 * (3 * f[i] - f[i - 1])
    return y[-1]


@program(10.0, 28.0, 2.6)
def lorenz(p):
    path = np.ones((5, 3))
    for i in range(4):
        x, y, z = path[i]
        rate = np.array([p[0] * (y - x), x * (p[1] - z) - y,
                         x * y - p[2] * z])
        path[i + 1] = path[i] + 0.01 * rate
    return path


@program(0.9, 0.1, -0.2, 1.1)
def orbit_by_leapfrog(s):
    x, v, h = np.copy(s[:2]), np.copy(s[2:]), 0.1
    for _ in range(4):
        v -= h / 2 * x / np.linalg.norm(x)**3
        x += h * v
        v -= h / 2 * x / np.linalg.norm(x)**3
    return np.concatenate([x, v])


@program(0.0, 0.1, 1.0, -0.2, 0.3, 1.2)
def forces_of_three_bodies(s):
    x, m = s.reshape(3, 2), np.array([1.0, 2.0, 0.5])
    force = np.zeros((3, 2))
    for i in range(3):
        for j in range(i + 1, 3):
            d = x[j] - x[i]
            f = m[i] * m[j] * d / np.sum(d * d)**1.5
            force[i] += f
            force[j] -= f
    return force


@program(0.04, 0.3, 0.5)
def chemical_kinetics(k):
    c = np.array([1.0, 0.0, 0.0])
    S = np.array([[-1, 1, 0], [1, -1, -1], [0, 0, 1]])
    history = [c]
    for _ in range(4):
        rates = np.array([k[0] * c[0], k[1] * c[1] * c[2], k[2] * c[1]**2])
        c = c + 0.5 * S @ rates
        history.append(c)
    return np.array(history)


@program(0.8, 0.3)
def infection(p):
    S, I, R = np.zeros(6), np.zeros(6), np.zeros(6)
    S[0], I[0] = 0.9, 0.1
    for t in range(5):
        new, gone = p[0] * S[t] * I[t], p[1] * I[t]
        S[t + 1] = S[t] - new
        I[t + 1] = I[t] + new - gone
        R[t + 1] = R[t] + gone
    return np.vstack([S, I, R])


@program(0.5, 0.8, 0.7)
def leslie_matrix(p):
    L = np.zeros((3, 3))
    L[0, :] = [0.0, 1.5, p[0]]
    np.fill_diagonal(L[1:, :], p[1:])
    n = np.array([10.0, 5.0, 2.0])
    for _ in range(3):
        n = L @ n
    return n / n.sum()


@program(1.0, 0.5, 0.1)
def pid_control(k):
    y, integral, before = np.zeros(6), 0.0, 0.0
    for t in range(5):
        error = 1.0 - y[t]
        integral += error * 0.1
        u = k[0] * error + k[1] * integral + k[2] * (error - before) / 0.1
        y[t + 1] = y[t] + 0.1 * (u - y[t])
        before = error
    return np.sum((1.0 - y)**2)


# Partial differential equations

@program(1.0, -0.5, 0.2)
def heat_equation(p):
    u = np.sin(np.linspace(0, np.pi, 7))
    u[0], u[-1] = p[0], p[1]
    for _ in range(3):
        new = u.copy()
        new[1:-1] = u[1:-1] + p[2] * (u[2:] - 2 * u[1:-1] + u[:-2])
        u = new
    return u


@program(0.7, 0.3)
def wave_equation(p):
    nx, nt = 6, 5
    u = np.zeros((nt, nx))
    u[0, 1:-1] = p[1] * np.sin(np.arange(1, nx - 1))
    u[1] = u[0]
    for n in range(1, nt - 1):
        for i in range(1, nx - 1):
            u[n + 1, i] = (2 * u[n, i] - u[n - 1, i] + p[0]**2
                           * (u[n, i + 1] - 2 * u[n, i] + u[n, i - 1]))
    return u[-1]


@program(0.1, 0.4)
def burgers_equation(p):
    x = np.linspace(0, 2 * np.pi, 8, endpoint=False)
    u = np.full(8, p[1])
    u += np.sin(x)
    for _ in range(2):
        right, left = np.roll(u, -1), np.roll(u, 1)
        u[:] = (u - 0.1 * u * (right - left) / 2
                + 0.1 * p[0] * (right - 2 * u + left))
    return u


@program(1.0, 2.0, 0.5, -1.0)
def laplace_equation(edges):
    u = np.zeros((5, 5))
    u[0, :], u[-1, :], u[:, 0], u[:, -1] = edges
    for _ in range(3):
        u[1:-1, 1:-1] = (u[2:, 1:-1] + u[:-2, 1:-1]
                         + u[1:-1, 2:] + u[1:-1, :-2]) / 4
    return u[2, 1:4]


# Finite elements, and other assemblies

@program(1.0, 2.0, 1.5)
def rod_of_elements(k):
    K = np.zeros((4, 4))
    for e in range(3):
        d = [e, e + 1]
        K[np.ix_(d, d)] += k[e] * np.array([[1.0, -1.0], [-1.0, 1.0]])
    f = np.zeros(4)
    f[-1] = 1.0
    u = np.zeros(4)
    u[1:] = np.linalg.solve(K[1:, 1:], f[1:])
    return u


@program(0.0, 0.1, 1.0, -0.1, 0.5, 0.9)
def truss(x):
    nodes, K = x.reshape(3, 2), np.zeros((6, 6))
    for i, j in [(0, 1), (1, 2), (2, 0)]:
        length = np.linalg.norm(nodes[j] - nodes[i])
        c, s = (nodes[j] - nodes[i]) / length
        k = np.array([[c * c, c * s], [c * s, s * s]]) / length
        dofs = np.array([2 * i, 2 * i + 1, 2 * j, 2 * j + 1])
        K[np.ix_(dofs, dofs)] += np.block([[k, -k], [-k, k]])
    return np.linalg.solve(K[3:, 3:], np.array([0.0, 1.0, -1.0]))


@program(2.0, 3.0, 1.0)
def beam_element(p):
    E, L, q = p
    K = E / L**3 * np.array([[12, 6 * L, -12, 6 * L],
                             [6 * L, 4 * L**2, -6 * L, 2 * L**2],
                             [-12, -6 * L, 12, -6 * L],
                             [6 * L, 2 * L**2, -6 * L, 4 * L**2]])
    f = q * L * np.array([1 / 2, L / 12, 1 / 2, -L / 12])
    return np.linalg.solve(K[2:, 2:], f[2:])


@program(1.0, 0.5, 2.0, 0.1)
def nodal_analysis(g):
    G, branches = np.zeros((3, 3)), [(0, 1), (1, 2), (0, 2)]
    for (i, j), y in zip(branches, g):
        G[i, i] += y
        G[j, j] += y
        G[i, j] -= y
        G[j, i] -= y
    G[np.diag_indices(3)] += g[3]
    return np.linalg.inv(G) @ np.array([1.0, 0.0, -1.0])


@program(0.2, 0.7, 1.1, 0.4)
def loads_by_add_at(x):
    load = np.zeros(3)
    np.add.at(load, [0, 1, 1, 2], x)
    np.subtract.at(load, np.array([2, 2]), x[:2] * x[2:])
    return load * load


# Geometry

@program(2.0, 0.6, 0.8)
def spherical_jacobian(p):
    r, t, f = p
    return np.linalg.det(np.array([
        [np.sin(t) * np.cos(f), r * np.cos(t) * np.cos(f),
         -r * np.sin(t) * np.sin(f)],
        [np.sin(t) * np.sin(f), r * np.cos(t) * np.sin(f),
         r * np.sin(t) * np.cos(f)],
        [np.cos(t), -r * np.sin(t), 0]]))


@program(0.3, -0.4, 1.2)
def euler_angles(a):
    c, s = np.cos(a), np.sin(a)
    Rx = np.array([[1, 0, 0], [0, c[0], -s[0]], [0, s[0], c[0]]])
    Ry = np.array([[c[1], 0, s[1]], [0, 1, 0], [-s[1], 0, c[1]]])
    Rz = np.array([[c[2], -s[2], 0], [s[2], c[2], 0], [0, 0, 1]])
    return Rz @ Ry @ Rx @ np.array([1, 2, 3])


@program(0.3, -0.4, 1.2)
def robot_arm(q):
    def link(theta, d, a, alpha):
        ct, st, ca, sa = (np.cos(theta), np.sin(theta), np.cos(alpha),
                          np.sin(alpha))
        return np.array([[ct, -st * ca, st * sa, a * ct],
                         [st, ct * ca, -ct * sa, a * st],
                         [0, sa, ca, d], [0, 0, 0, 1]], dtype=float)
    T = np.eye(4)
    for theta, alpha in zip(q, [np.pi / 2, 0.0, 0.3]):
        T = T @ link(theta, 0.1, 0.5, alpha)
    return T[:3, 3]


@program(0.5, 0.1, -0.3, 0.8)
def rotation_by_a_quaternion(q):
    w, x, y, z = q / np.linalg.norm(q)
    R = np.empty((3, 3))
    R[0] = 1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)
    R[1] = 2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)
    R[2] = np.cross(R[0], R[1])
    return R


@program(0.3, 0.5, 0.7)
def rodrigues_formula(w):
    K = np.zeros((3, 3))
    K[2, 1], K[0, 2], K[1, 0] = w
    K = K - K.T
    t = np.sqrt(np.dot(w, w))
    return np.eye(3) + np.sin(t) / t * K + (1 - np.cos(t)) / t**2 * K @ K


@program(0.1, 0.2, 1.1, 0.3, 0.6, 1.4)
def area_of_a_polygon(p):
    x, y = np.r_[p[::2], p[0]], np.r_[p[1::2], p[1]]
    area = 0.0
    for i in range(3):
        area += np.linalg.det(np.array([[x[i], x[i + 1]], [y[i], y[i + 1]]]))
    return area / 2


@program(0.3, 1.5)
def ray_marching(p):
    position, direction = np.zeros(2), np.array([np.cos(p[0]), np.sin(p[0])])
    for _ in range(5):
        distance = np.linalg.norm(position - np.array([2.0, 1.0])) - p[1] / 2
        position += 0.9 * distance * direction
    return position


# Linear algebra by loops

@program(4.0, 1.0, 0.5, 2.0)
def thomas_algorithm(p):
    n = 4
    a, b, c = np.full(n, p[1]), np.full(n, p[0]), np.full(n, p[2])
    d = np.linspace(1, p[3], n)
    for i in range(1, n):
        w = a[i] / b[i - 1]
        b[i] -= w * c[i - 1]
        d[i] -= w * d[i - 1]
    x = np.zeros(n)
    x[-1] = d[-1] / b[-1]
    for i in range(n - 2, -1, -1):
        x[i] = (d[i] - c[i] * x[i + 1]) / b[i]
    return x


@program(3.0, 1.0, 0.5, 2.0)
def gauss_elimination(p):
    A = np.array([[p[0], p[1], 1.0], [p[2], p[0], p[3]], [1.0, 2.0, 5.0]])
    b = np.array([1.0, p[3], 3.0])
    for k in range(2):
        for i in range(k + 1, 3):
            m = A[i, k] / A[k, k]
            A[i, k:] -= m * A[k, k:]
            b[i] -= m * b[k]
    x = np.zeros_like(b)
    for i in reversed(range(3)):
        x[i] = (b[i] - A[i, i + 1:] @ x[i + 1:]) / A[i, i]
    return x


@program(0.4, -0.3, 1.1)
def cholesky_by_loops(x):
    A = np.outer(x, x) + np.diag([2.0, 3.0, 4.0])
    L = np.zeros((3, 3))
    for i in range(3):
        for j in range(i + 1):
            s = A[i, j] - np.dot(L[i, :j], L[j, :j])
            L[i, j] = np.sqrt(s) if i == j else s / L[j, j]
    return L


@program(4.0, 1.0, 0.5, 3.0)
def lu_decomposition(p):
    U, L = np.copy(p.reshape(2, 2)), np.eye(2)
    U = np.block([[U, np.ones((2, 1))], [np.zeros((1, 2)), p[0]]])
    L = np.identity(3)
    for k in range(2):
        L[k + 1:, k] = U[k + 1:, k] / U[k, k]
        U[k + 1:] -= np.outer(L[k + 1:, k], U[k])
    return L + U


@program(1.0, 0.2, 0.3, 1.1, -0.4, 0.9)
def gram_schmidt(x):
    A = x.reshape(3, 2)
    Q, R = np.zeros((3, 2)), np.zeros((2, 2))
    for j in range(2):
        v = A[:, j].copy()
        for i in range(j):
            R[i, j] = Q[:, i] @ A[:, j]
            v -= R[i, j] * Q[:, i]
        R[j, j] = np.linalg.norm(v)
        Q[:, j] = v / R[j, j]
    return np.vstack((Q, R))


@program(1.0, 0.2, 0.3)
def householder_reflection(x):
    v = np.array(x)
    v[0] += np.sqrt(x @ x)
    v /= np.linalg.norm(v)
    H = np.eye(3)
    H -= 2 * np.outer(v, v)
    return H @ x


@program(2.0, 1.0, 3.0)
def power_iteration(p):
    A = np.array([[p[0], p[1]], [p[1], p[2]]])
    v = np.ones(2)
    for _ in range(5):
        v = A @ v
        v /= np.sqrt(np.sum(v**2))
    return v @ A @ v


@program(2.0, 1.0, 3.0)
def jacobi_iteration(p):
    A = np.diag(p + 3.0) + np.diag([p[0], p[1]], k=1)
    A = A + np.diag([1.0, 1.0], -1)
    x = np.zeros(3)
    for _ in range(4):
        new = np.zeros(3)
        for i in range(3):
            new[i] = (1.0 - A[i, :i] @ x[:i] - A[i, i + 1:] @ x[i + 1:]
                      ) / A[i, i]
        x = new
    return x


@program(2.0, 1.0, 3.0, 0.5)
def conjugate_gradients(p):
    A, b = np.array([[p[0] + 2, p[1]], [p[1], p[2]]]), np.array([1.0, p[3]])
    x, r = np.zeros(2), b.copy()
    d = r.copy()
    for _ in range(2):
        alpha = (r @ r) / (d @ A @ d)
        x += alpha * d
        old = r.copy()
        r -= alpha * A @ d
        d = r + (r @ r) / (old @ old) * d
    return x


# Interpolation and quadrature

@program(1.0, 2.0, 0.5, 1.7)
def divided_differences(y):
    x = np.array([0.0, 1.0, 2.5, 4.0])
    table = np.zeros((4, 4))
    table[:, 0] = y
    for j in range(1, 4):
        for i in range(4 - j):
            table[i, j] = (table[i + 1, j - 1] - table[i, j - 1]) / (
                x[i + j] - x[i])
    return table[0]


@program(0.3, 1.2, 2.8)
def lagrange_basis(x):
    nodes = np.array([0.0, 1.0, 2.0, 3.0])
    basis = np.ones((4, len(x)))
    for j in range(4):
        for m in range(4):
            if m != j:
                basis[j] *= (x - nodes[m]) / (nodes[j] - nodes[m])
    return basis


@program(1.0, 0.2, 1.3, 0.9)
def natural_spline(y):
    A, b = np.eye(4), np.zeros(4)
    for i in range(1, 3):
        A[i, i - 1:i + 2] = 1.0, 4.0, 1.0
        b[i] = 6 * (y[i + 1] - 2 * y[i] + y[i - 1])
    M = np.linalg.solve(A, b)
    t = 0.3
    return np.array([(1 - t) * y[i] + t * y[i + 1] + ((t**3 - t) * M[i + 1]
                     + ((1 - t)**3 - (1 - t)) * M[i]) / 6 for i in range(3)])


@program(2.3)
def b_splines(x):
    t, k = np.arange(8.0), 3
    N = np.zeros((k + 1, 7))
    N[0, 2] = 1.0
    for p in range(1, k + 1):
        for i in range(7 - p):
            N[p, i] = ((x[0] - t[i]) / (t[i + p] - t[i]) * N[p - 1, i]
                       + (t[i + p + 1] - x[0]) / (t[i + p + 1] - t[i + 1])
                       * N[p - 1, i + 1])
    return N[k]


@program(0.5, -1.0, 2.0)
def synthetic_division(a):
    b = np.empty_like(a)
    b[0] = a[0]
    for i in range(1, len(a)):
        b[i] = a[i] + 1.5 * b[i - 1]
    return b


@program(1.7)
def romberg_table(x):
    R, b = np.zeros((4, 4)), x[0]
    for i in range(4):
        t = np.linspace(0, b, 2**i + 1)
        h, f = b / 2**i, np.exp(-t * t)
        R[i, 0] = h * (f.sum() - (f[0] + f[-1]) / 2)
        for j in range(1, i + 1):
            R[i, j] = R[i, j - 1] + (R[i, j - 1] - R[i - 1, j - 1]) / (
                4**j - 1)
    return R[3, 3]


@program(0.2, 1.9)
def gauss_quadrature(p):
    nodes, weights = np.array([-1, 0, 1]) * np.sqrt(0.6), np.array([5, 8, 5])
    a, b = p
    total = np.zeros(())
    for x, w in zip(nodes, weights / 9):
        total += w * np.sin((b - a) / 2 * x + (a + b) / 2)**2
    return (b - a) / 2 * total


@program(0.5, 1.0, 1.8)
def vandermonde_matrix(x):
    V = np.ones((3, 3))
    for j in range(1, 3):
        V[:, j] = V[:, j - 1] * x
    return np.linalg.solve(V, np.c_[x, np.sin(x)])


@program(0.1, 0.9, 0.5)
def quadratic_bezier(p):
    points = np.array([[0.0, 0.0], [p[0], p[1]], [1.0, p[2]]])
    for k in (2, 1):
        for i in range(k):
            points[i] = 0.4 * points[i] + 0.6 * points[i + 1]
    return points[0]


# Dynamic programming

@program(0.1, 1.0, 0.5, 0.9)
def soft_time_warping(x):
    y = np.array([0.0, 0.8, 0.7])
    D = np.full((len(x) + 1, 4), 1e3)
    D[0, 0] = 0.0
    for i in range(1, len(x) + 1):
        for j in range(1, 4):
            r = np.array([D[i - 1, j], D[i, j - 1], D[i - 1, j - 1]])
            D[i, j] = (x[i - 1] - y[j - 1])**2 - np.log(np.sum(np.exp(-r)))
    return D[-1, -1]


@program(1.0, 0.7, 1.2)
def edit_distance(costs):
    a, b = 'kitten', 'sit'
    d = np.zeros((7, 4))
    d[:, 0] = costs[0] * np.arange(7)
    d[0, :] = costs[1] * np.arange(4)
    for i in range(1, 7):
        for j in range(1, 4):
            change = 0.0 if a[i - 1] == b[j - 1] else costs[2]
            d[i, j] = np.min([d[i - 1, j] + costs[0], d[i, j - 1] + costs[1],
                              d[i - 1, j - 1] + change])
    return d[6, 3]


@program(0.7, 0.4, 0.9)
def viterbi(p):
    A = np.array([[p[0], 1 - p[0]], [p[1], 1 - p[1]]])
    B = np.array([[p[2], 1 - p[2]], [0.2, 0.8]])
    observed = [0, 1, 1, 0]
    best = np.zeros((4, 2))
    best[0] = np.log([0.6, 0.4]) + np.log(B[:, 0])
    for t in range(1, 4):
        for s in range(2):
            best[t, s] = np.max(best[t - 1] + np.log(A[:, s])) + np.log(
                B[s, observed[t]])
    return best.max(axis=1)


@program(0.7, 0.4, 0.9)
def forward_algorithm(p):
    A = np.array([[p[0], 1 - p[0]], [p[1], 1 - p[1]]])
    B = np.array([[p[2], 1 - p[2]], [0.2, 0.8]])
    alpha = np.zeros((4, 2))
    alpha[0, :] = np.array([0.6, 0.4]) * B[:, 0]
    for t, o in enumerate([1, 1, 0], 1):
        for j in range(2):
            alpha[t, j] = alpha[t - 1] @ A[:, j] * B[j, o]
    return np.log(alpha[-1].sum())


@program(0.2, 0.05, 100.0)
def binomial_option_tree(p):
    n, dt = 4, 0.25
    u = np.exp(p[0] * np.sqrt(dt))
    q = (np.exp(p[1] * dt) - 1 / u) / (u - 1 / u)
    V = np.zeros(n + 1)
    for j in range(n + 1):
        V[j] = np.maximum(p[2] * u**(2 * j - n) - 95.0, 0)
    for i in range(n, 0, -1):
        V[:i] = np.exp(-p[1] * dt) * (q * V[1:i + 1] + (1 - q) * V[:i])
    return V[0]


# Statistics and signals

@program(0.1, 0.5, 1.0)
def kalman_filter(p):
    F, H = np.array([[1.0, p[0]], [0.0, 1.0]]), np.array([[1.0, 0.0]])
    Q, R = p[1] * np.eye(2), np.diag([p[2]])
    x, P = np.zeros(2), np.eye(2)
    for z in [0.3, 0.5, 0.9]:
        x, P = F @ x, F @ P @ F.T + Q
        K = P @ H.T @ np.linalg.inv(H @ P @ H.T + R)
        x = x + K @ (np.array([z]) - H @ x)
        P = (np.eye(2) - K @ H) @ P
    return np.append(x, np.diag(P))


@program(0.6, -0.2, 0.4)
def arma_process(p):
    shocks = np.array([0.5, -0.3, 0.8, 0.1, -0.6])
    y = np.zeros(5)
    for t in range(5):
        y[t] = shocks[t]
        if t > 0:
            y[t] += p[0] * y[t - 1] + p[2] * shocks[t - 1]
        if t > 1:
            y[t] += p[1] * y[t - 2]
    return y


@program(0.1, 0.2, 0.7)
def garch(p):
    r = np.array([0.1, -0.5, 0.3, 0.9, -0.2])
    s = np.empty(5)
    s[0] = p[0] / (1 - p[1] - p[2])
    for t in range(1, 5):
        s[t] = p[0] + p[1] * r[t - 1]**2 + p[2] * s[t - 1]
    return -0.5 * np.sum(np.log(s) + r**2 / s)


@program(0.3, 0.6, 0.2)
def markov_chain(p):
    P = np.zeros((3, 3))
    P[0, 1], P[1, 2], P[2, 0] = p
    for row in P:
        row[:] = row + 0.1
    P[np.arange(3), np.arange(3)] = 1 - P.sum(axis=1) + P.diagonal()
    A = np.vstack([P.T - np.eye(3), np.ones(3)])
    return np.linalg.lstsq(A, np.array([0.0, 0, 0, 1]), rcond=None)[0]


@program(0.05, 0.2)
def monte_carlo(p):
    z = np.random.default_rng(0).normal(size=(4, 3))
    S = np.zeros((4, 4))
    S[:, 0] = 1.0
    for t in range(3):
        S[:, t + 1] = S[:, t] * np.exp(p[0] - p[1]**2 / 2 + p[1] * z[:, t])
    payoff = np.zeros(4)
    np.maximum(S.mean(axis=1) - 0.5, 0.0, out=payoff)
    return payoff.mean()


@program(0.2, 0.7, 1.1, 0.4)
def soft_histogram(x):
    edges = np.linspace(0, 1.5, 4)
    counts = np.zeros(3)
    for i in range(3):
        counts[i] += np.sum(1 / (1 + np.exp(-20 * (x - edges[i]))))
        counts[i] -= np.sum(1 / (1 + np.exp(-20 * (x - edges[i + 1]))))
    counts /= counts.sum()
    return counts


@program(0.2, 0.7, 1.1, 0.4)
def convolution_by_loops(x):
    h = np.array([1.0, x[0]])
    y = np.zeros(len(x) + 1)
    for i, a in enumerate(x):
        for j, b in enumerate(h):
            y[i + j] += a * b
    return y


@program(0.3, 0.9, 0.2)
def mixture_by_em(p):
    x, mu, w = np.array([-1.0, 0.2, 0.4, 2.0]), p[:2].copy(), np.empty(2)
    w[0], w[1] = p[2], 1 - p[2]
    r = np.zeros((4, 2))
    for _ in range(2):
        for k in range(2):
            r[:, k] = w[k] * np.exp(-(x - mu[k])**2 / 2)
        r /= r.sum(axis=1, keepdims=True)
        for k in range(2):
            mu[k] = r[:, k] @ x / r[:, k].sum()
        w[:] = r.mean(axis=0)
    return np.array([mu, w])


# Learning

@program(0.5, -0.3, 0.8)
def page_rank(w):
    links = np.zeros((3, 3))
    links[[1, 2, 0], [0, 1, 2]] = np.exp(w)
    links[0, 1] = 1.0
    M = links / links.sum(axis=0)
    rank = np.ones(3) / 3
    for _ in range(4):
        rank = 0.85 * M @ rank + 0.15 / 3
    return rank


@program(1.0, 0.5, 0.2)
def riccati_iteration(p):
    A, B = np.array([[1, p[0]], [0, 1]]), np.array([[0.0], [p[1]]])
    Q, R = np.diag([1.0, p[2]]), np.array([[p[2]]])
    P = np.copy(Q)
    for _ in range(3):
        K = np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)
        P = Q + A.T @ P @ (A - B @ K)
    return K


@program(0.5, -0.3, 0.8, 0.1)
def lstm_cell(w):
    def sigmoid(z):
        return 1 / (1 + np.exp(-z))
    W = np.tile(w, (4, 1)) * np.linspace(0.5, 1.5, 4)[:, None]
    h, c = np.zeros(2), np.zeros(2)
    for x in np.array([[1.0, 0.2], [0.3, -1.0]]):
        z = W @ np.concatenate((h, x))
        i, f, o = sigmoid(z[:3])
        g = np.tanh(z[3])
        c[0] = f * c[0] + i * g
        c[1] = c[1] + o * g
        h = o * np.tanh(c)
    return h


@program(0.5, -0.3, 0.8, 0.1, 0.4, 0.9)
def causal_attention(x):
    q = x.reshape(3, 2)
    scores = q @ q.T / np.sqrt(2)
    mask = np.triu(np.ones((3, 3), dtype=bool), 1)
    scores[mask] = -np.inf
    out = np.empty((3, 2))
    for i in range(3):
        e = np.exp(scores[i] - np.max(scores[i]))
        out[i] = e / e.sum() @ q
    return out


@program(0.5, -0.3, 0.8, 0.1, 0.4, 0.9)
def batch_norm(x):
    X = np.array(x).reshape(3, 2)
    out = np.zeros_like(X)
    for j in range(X.shape[1]):
        column = X[:, j]
        out[:, j] = (column - column.mean()) / np.sqrt(column.var() + 1e-3)
    running = np.zeros(2)
    running[...] = 0.9 * running + 0.1 * X.mean(0)
    return np.vstack([out, running])


@program(0.0, 1.0)
def soft_k_means(c):
    x, centers = np.array([-0.5, 0.1, 0.8, 1.3]), np.array(c)
    for _ in range(2):
        weights = np.array([[np.exp(-(xi - ck)**2) for ck in centers]
                            for xi in x])
        weights /= weights.sum(axis=1)[:, np.newaxis]
        for k in range(len(centers)):
            centers[k] = np.average(x, weights=weights[:, k])
    return centers


@program(1.0, 0.7)
def game_of_prices(p):
    prices, profits = np.array([p[0], p[1]]), np.zeros((3, 2))
    for t in range(3):
        for i in range(2):
            rival = prices[1 - i]
            prices[i] = 0.5 * (1.0 + 0.5 * rival)
            profits[t, i] = prices[i] * (1 - prices[i] + 0.5 * rival)
    return profits


@program(0.3, 0.8, 0.5)
def cellular_automaton(x):
    cells = np.zeros(7)
    cells[2:5] = x
    for _ in range(2):
        before = np.copy(cells)
        for i in range(1, 6):
            a, b, c = before[i - 1:i + 2]
            cells[i] = a * (1 - b) + c * (1 - a) * b
    return cells


@program(0.3, 0.8)
def backpropagation_by_hand(w):
    x, t = np.array([[0.0, 1.0], [1.0, 0.5]]), np.array([1.0, 0.0])
    W, v = np.asarray([[w[0], w[1]], [w[1], -w[0]]]), np.ones(2)
    for _ in range(2):
        h = np.tanh(x @ W.T)
        error = h @ v - t
        gradient = np.zeros_like(W)
        for i in range(2):
            gradient += np.outer(error[i] * v * (1 - h[i]**2), x[i])
        W -= 0.1 * gradient
        v = v - 0.1 * h.T @ error
    return W
