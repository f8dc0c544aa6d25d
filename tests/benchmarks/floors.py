"""The floor: the same numbers with as few NumPy calls as a person can find.

Each call writes with `out=` into an array that an earlier call used, in this
gradient or in the one before. Large arrays are processed in blocks that stay
in the cache. The algebra can be rearranged, and a function of one number uses
forward mode, which keeps no values. The result is written into the same
arrays each time, so a program could not use it.

Each `floor(np, *args)` prepares its arrays and returns a call.
"""

import math

import numpy

BLOCK = 16_384
SLOPE, CUBE = (2 / math.pi) ** 0.5, 0.044715


def prepared(floor, args):
    """Return a call of a floor that stores how many it makes as `count`."""
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
    """Return 0-d arrays, so they are not created at each call."""
    return [np.array(float(x)) for x in xs]


def in_blocks(piece, arrays, outs, scratch):
    """Return a call that processes one block after another.

    Args:
        piece: takes blocks of the arrays, of the results, and of scratch.
        arrays: the arguments, all of one length.
        outs: the number of results.
        scratch: the number of arrays that `piece` uses up.
    """
    n = len(arrays[0])
    outs = [numpy.empty(n) for _ in range(outs)]
    scratch = [numpy.empty(BLOCK) for _ in range(scratch)]
    blocks = [
        [x[start:start + BLOCK] for x in (*arrays, *outs)]
        + [x[:n - start] for x in scratch] for start in range(0, n, BLOCK)]

    def call():
        for block in blocks:
            piece(*block)
        return outs if len(outs) > 1 else outs[0]
    return call


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


def gelu(np, x):
    cdf = cdf_piece(np)

    def piece(x, out, s, t):
        cdf(x, s, t, out)
        np.multiply(out, x, out)
        np.add(out, t, out)
    return in_blocks(piece, [x], 1, 2)


def black_scholes(np, *arrays, rate=0.03):
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
    return in_blocks(piece, arrays, 3, 9)


def polynomial(np, x):
    """Compute the value and the slope together, in forward mode."""
    [half], y, slope = constants(np, 0.5), np.empty(10), np.empty(10)
    multiply, add = np.multiply, np.add

    def call():
        np.copyto(y, x)
        np.copyto(slope, 1.0)
        for _ in range(500):
            multiply(slope, x, slope)
            add(slope, y, slope)
            multiply(y, x, y)
            add(y, half, y)
        return slope
    return call


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
