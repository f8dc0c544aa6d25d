"""What systems share that use JAX's names."""


def functions(np, lib):
    """Return the function without a rule, and with each kind of rule."""
    def plain(x):
        return np.exp(2 * x)

    forward = lib.custom_jvp(lambda x: np.exp(2 * x))
    forward.defjvp(lambda primals, tangents: (
        forward(*primals), 3 * forward(*primals) * tangents[0]))

    backward = lib.custom_vjp(lambda x: np.exp(2 * x))
    backward.defvjp(lambda x: (backward(x), x),
                    lambda x, ct: (3 * backward(x) * ct,))
    return plain, {'custom_jvp': forward, 'custom_vjp': backward}


def transformations(np, lib, lax):
    """Return the wrappers and the derivatives."""
    wrappers = {
        'jit': lib.jit,
        'vmap': lambda f: lambda x: lib.vmap(f)(x * np.ones(2))[1],
        'checkpoint': lib.checkpoint,
        'scan': lambda f: lambda x: lax.scan(
            lambda c, _: (f(c), 0.0), x, np.zeros(1))[0],
        'cond': lambda f: lambda x: lax.cond(
            x > -1, f, lambda x: 0 * x, x),
        'while': lambda f: lambda x: lax.while_loop(
            lambda s: s[1] < 1, lambda s: (f(s[0]), s[1] + 1), (x, 0))[0]}
    derivatives = {
        'grad': lib.grad,
        'jvp': lambda f: lambda x: lib.jvp(f, (x,), (1.0,))[1],
        'linearize': lambda f: lambda x: lib.linearize(f, x)[1](1.0)}
    return wrappers, derivatives
