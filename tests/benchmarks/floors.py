"""The floor: the same numbers with as few NumPy calls as a person can find.

Each call writes with `out=` into an array that an earlier call used, in this
gradient or in the one before. Large arrays are processed in pieces that stay
in the cache. The algebra can be rearranged, and a function of one number uses
forward mode, which keeps no values. The result is written into the same
arrays each time, so a program could not use it. For single numbers, the floor
is Python arithmetic.

Each `floor(np, *args)` prepares its arrays and returns a call.
"""

import math

import numpy

BLOCK = 16_384
SLOPE, CUBE = (2 / math.pi) ** 0.5, 0.044715


def prepared(floor, args):
    """Return the call of a floor, with its number of NumPy calls as `count`.
    """
    call = floor(numpy, *args)
    call.count = counted(floor, args)
    return call


def counted(floor, args):
    """Return how many NumPy functions a floor calls."""
    calls = []

    class Counting:
        def __getattr__(self, name):
            f = getattr(numpy, name)
            return lambda *xs, **kwargs: calls.append(name) or f(
                *xs, **kwargs)

    call = floor(Counting(), *args)
    calls.clear()
    call()
    return len(calls)


def constants(np, *xs):
    """Return arrays without axes, which are then not made at each call."""
    return [np.array(float(x)) for x in xs]


def in_pieces(piece, arrays, outs, scratch):
    """Return a call that processes one piece after another.

    Args:
        piece: of pieces of the arrays, the results, and of scratch.
        arrays, outs: arrays of one length.
        scratch: arrays of the length of a piece, or more.
    """
    n, size = len(arrays[0]), len(scratch[0])
    pieces = [
        [x[start:start + size] for x in (*arrays, *outs)]
        + [x[:n - start] for x in scratch] for start in range(0, n, size)]

    def call():
        for arrays in pieces:
            piece(*arrays)
        return outs if len(outs) > 1 else outs[0]
    return call


def empty(np, count, n):
    return [np.empty(n) for _ in range(count)]


# W1

def cross_entropy(np, params, x, labels):
    dtype, n = x.dtype, len(x)
    weights = [w for w, _ in params]
    acts = [np.empty((n, w.shape[1]), dtype) for w in weights]
    cts = [np.empty_like(act) for act in acts]
    grads = [(np.empty_like(w), np.empty_like(b)) for w, b in params]
    masks = [np.empty(act.shape, bool) for act in acts[:-1]]
    column = np.empty((n, 1), dtype)
    zero, count = np.array(0, dtype), np.array(n, dtype)

    def call():
        y = x
        for (w, b), act in zip(params, acts):
            np.dot(y, w, act)
            np.add(act, b, act)
            if act is not acts[-1]:
                np.maximum(act, zero, out=act)
            y = act
        logits, ct = acts[-1], cts[-1]
        np.max(logits, 1, column, True)
        np.subtract(logits, column, logits)
        np.exp(logits, ct)
        np.sum(ct, 1, None, column, True)
        np.divide(ct, column, ct)
        np.subtract(ct, labels, ct)
        np.divide(ct, count, ct)
        np.log(column, column)
        np.subtract(column, logits, logits)
        loss = np.vdot(labels, logits) / dtype.type(n)
        for i in range(len(params) - 1, -1, -1):
            np.dot((acts[i - 1] if i else x).T, cts[i], grads[i][0])
            np.sum(cts[i], 0, None, grads[i][1])
            if i:
                np.dot(cts[i], weights[i].T, cts[i - 1])
                np.greater(acts[i - 1], zero, masks[i - 1])
                np.multiply(cts[i - 1], masks[i - 1], cts[i - 1])
        return loss, grads
    return call


# W2

def cdf_piece(np):
    """Return a call that writes a normal distribution function into `t`.

    It writes the slope into `u`, and `s` is scratch.
    """
    one, half, cube, slope, half_slope, half_cube = constants(
        np, 1, 0.5, SLOPE * CUBE, SLOPE, SLOPE / 2, 3 * SLOPE * CUBE / 2)

    def piece(x, s, t, u):
        np.multiply(x, x, s)
        np.multiply(s, cube, t)
        np.add(t, slope, t)
        np.multiply(t, x, t)
        np.tanh(t, t)
        np.multiply(t, t, u)
        np.subtract(one, u, u)
        np.multiply(s, half_cube, s)
        np.add(s, half_slope, s)
        np.multiply(u, s, u)
        np.multiply(t, half, t)
        np.add(t, half, t)
    return piece


def gelu_piece(np):
    """Return a call that writes the derivative of `gelu` into `out`."""
    cdf = cdf_piece(np)

    def piece(x, out, s, t):
        cdf(x, s, t, out)
        np.multiply(out, x, out)
        np.add(out, t, out)
    return piece


def gelu(np, x):
    return in_pieces(gelu_piece(np), [x], empty(np, 1, len(x)),
                     empty(np, 2, BLOCK))


def softplus_of_gelu(np, x):
    gelu, [one] = gelu_piece(np), constants(np, 1)

    def piece(x, out, s, t):
        gelu(x, out, s, t)
        np.multiply(x, t, t)
        np.negative(t, t)
        np.exp(t, t)
        np.add(t, one, t)
        np.divide(out, t, out)
    return in_pieces(piece, [x], empty(np, 1, len(x)), empty(np, 2, BLOCK))


def black_scholes(np, spot, time, volatility, strike, rate=0.03):
    cdf = cdf_piece(np)
    rate, minus, half = constants(np, rate, -rate, 0.5)

    def piece(spot, time, volatility, strike, spot_bar, time_bar, vol_bar,
              root, spread, d1, price, cdf1, slope1, cdf2, slope2, s):
        np.sqrt(time, root)
        np.multiply(volatility, root, spread)
        np.multiply(volatility, volatility, time_bar)
        np.multiply(time_bar, half, time_bar)
        np.add(time_bar, rate, time_bar)
        np.divide(spot, strike, d1)
        np.log(d1, d1)
        np.multiply(time_bar, time, s)
        np.add(d1, s, d1)
        np.divide(d1, spread, d1)
        np.multiply(time, minus, price)
        np.exp(price, price)
        np.multiply(price, strike, price)
        cdf(d1, s, cdf1, slope1)
        np.subtract(d1, spread, vol_bar)
        cdf(vol_bar, s, cdf2, slope2)
        np.multiply(slope2, price, slope2)      # of -d2
        np.multiply(slope1, spot, slope1)
        np.subtract(slope1, slope2, slope1)
        np.divide(slope1, spread, slope1)       # of d1
        np.multiply(d1, slope1, d1)
        np.subtract(slope2, d1, d1)             # of the spread
        np.divide(slope1, spot, s)
        np.add(cdf1, s, spot_bar)
        np.multiply(slope1, time_bar, time_bar)
        np.multiply(d1, volatility, s)
        np.divide(s, root, s)
        np.multiply(s, half, s)
        np.add(time_bar, s, time_bar)
        np.multiply(price, cdf2, price)
        np.multiply(price, rate, price)
        np.add(time_bar, price, time_bar)
        np.multiply(slope1, volatility, slope1)
        np.multiply(slope1, time, slope1)
        np.multiply(d1, root, d1)
        np.add(slope1, d1, vol_bar)
    n = len(spot)
    return in_pieces(piece, [spot, time, volatility, strike],
                     empty(np, 3, n), empty(np, 9, BLOCK))


# W3: forwards

def polynomial_of_float(np, x, x_dot=None):
    """Return the slope or, for a tangent, the value and the tangent."""
    def call():
        y, slope = x, 1.0
        for _ in range(500):
            slope = slope * x + y
            y = y * x + 0.5
        return slope if x_dot is None else (y, slope * x_dot)
    return call


def waves_of_float(np, x):
    sin, cos = math.sin, math.cos

    def call():
        y, slope = x, 1.0
        for _ in range(200):
            s, c = sin(y), cos(y)
            slope = slope * (c * x - s * 0.5) + s
            y = s * x + c * 0.5
        return slope
    return call


def polynomial(np, x, x_dot=None):
    [half], [y, slope] = constants(np, 0.5), empty(np, 2, len(x))
    multiply, add = np.multiply, np.add

    def call():
        np.copyto(y, x)
        np.copyto(slope, 1.0)
        for _ in range(500):
            multiply(slope, x, slope)
            add(slope, y, slope)
            multiply(y, x, y)
            add(y, half, y)
        if x_dot is None:
            return slope
        return y, multiply(slope, x_dot, slope)
    return call


def waves(np, x):
    [half], [y, slope, s, c, t] = constants(np, 0.5), empty(np, 5, len(x))
    sin, cos, multiply, add = np.sin, np.cos, np.multiply, np.add
    subtract = np.subtract

    def call():
        np.copyto(y, x)
        np.copyto(slope, 1.0)
        for _ in range(200):
            sin(y, s)
            cos(y, c)
            multiply(c, x, t)
            multiply(s, half, y)
            subtract(t, y, t)
            multiply(slope, t, slope)
            add(slope, s, slope)
            multiply(s, x, y)
            multiply(c, half, c)
            add(y, c, y)
        return slope
    return call


# W4

def cubic(np, x):
    half, y = *constants(np, 0.5), np.empty(10)

    def call():
        np.multiply(x, x, y)
        np.add(y, half, y)
        return np.multiply(y, x, y)
    return call


def products(np, tree):
    a, b, c, d, e, f = tree.values()
    y, t = empty(np, 2, 10)

    def call():
        np.multiply(a, b, y)
        np.multiply(c, d, t)
        np.add(y, t, y)
        np.multiply(e, f, t)
        return np.add(y, t, y)
    return call


# W6

def network(np, weights, xs):
    recurrent, inward, bias = weights
    n, size = len(xs), len(bias)
    states = np.zeros((n + 1, size))
    inputs, cts, slopes = (np.empty((n, size)) for _ in range(3))
    ends, back = list(states), np.empty(size)
    there = [*zip(ends, ends[1:], inputs)]
    return_way = [*zip(cts, slopes)][::-1]
    grads = [np.empty(w.shape) for w in weights]
    one, two = constants(np, 1, 2)
    dot, add, multiply, tanh = np.dot, np.add, np.multiply, np.tanh

    def call():
        dot(xs, inward.T, inputs)
        add(inputs, bias, inputs)
        for state, after, x in there:
            dot(recurrent, state, after)
            add(after, x, after)
            tanh(after, after)
        multiply(states[1:], states[1:], slopes)
        np.subtract(one, slopes, slopes)
        multiply(states[1:], two, cts)
        np.copyto(back, 0.0)
        for ct, slope in return_way:
            add(ct, back, ct)
            multiply(ct, slope, ct)
            dot(ct, recurrent, back)
        dot(cts.T, states[:-1], grads[0])
        dot(cts.T, xs, grads[1])
        np.sum(cts, 0, None, grads[2])
        return tuple(grads)
    return call


def pendulum(steps, step, np, start):
    sin, cos = math.sin, math.cos

    def call():
        angle, speed = start
        slopes = []
        keep = slopes.append
        for _ in range(steps):
            keep(cos(angle))
            speed = speed - step * sin(angle)
            angle = angle + step * speed
        angle_bar, speed_bar = 1.0, 0.0
        for slope in slopes[::-1]:
            speed_bar = speed_bar + step * angle_bar
            angle_bar = angle_bar - step * slope * speed_bar
        return angle_bar, speed_bar
    return call


# W8, W9 and W10

def logistic(np, w, xs, labels):
    """Neither pieces nor a reused array for the result make it faster."""
    [one] = constants(np, 1)
    minus, s = -labels, np.empty(len(xs))

    def call():
        np.dot(xs, w, s)
        np.multiply(s, labels, s)
        np.exp(s, s)
        np.add(s, one, s)
        np.divide(minus, s, s)
        return np.multiply(s[:, None], xs)
    return call


def log1pexp(np, x):
    [one] = constants(np, 1)

    def piece(x, out, s):
        np.negative(x, s)
        np.exp(s, s)
        np.add(s, one, s)
        np.divide(one, s, out)
    return in_pieces(piece, [x], empty(np, 1, len(x)), empty(np, 1, BLOCK))


def rosenbrock(np, x):
    n = len(x)
    out, t = np.empty((n, n)), np.empty(n - 1)
    low, high, flat = x[:-1], x[1:], out.reshape(-1)
    diagonal = flat[::n + 1]
    above, below = flat[1::n + 1], flat[n::n + 1]
    a, b, two, last = constants(np, 1200, -400, 2, 200)

    def call():
        np.copyto(out, 0.0)
        np.multiply(low, low, t)
        np.multiply(t, a, t)
        np.add(t, two, diagonal[:-1])
        np.copyto(diagonal[-1:], 0.0)
        np.multiply(high, b, t)
        np.add(diagonal[:-1], t, diagonal[:-1])
        np.add(diagonal[1:], last, diagonal[1:])
        np.multiply(low, b, t)
        np.copyto(above, t)
        np.copyto(below, t)
        return out
    return call

