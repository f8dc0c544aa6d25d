import autodiff_mini as ad


def deriv(f):
    return lambda x: ad.jvp(f, (x,), (1.0,))[1]


def test_several_come_in_the_order_of_their_positions(exercise):
    f = exercise.custom_jvp(lambda a, x, b: x, nondiff_argnums=(2, 0))

    def rule(primals, tangents, a, b):
        return f(a, *primals, b), (10 * a + b) * tangents[0]

    f.defjvp(rule)
    assert deriv(lambda x: f(1.0, x, 2.0))(5.0) == 12.0


def test_as_a_decorator_it_returns_the_rule(exercise):
    f = exercise.custom_jvp(lambda a, x: x, nondiff_argnums=(0,))
    rule = lambda primals, tangents, a: (primals[0], a * tangents[0])
    assert f.defjvp(rule) is rule


def test_symbolic_zeros(exercise):
    f, seen = exercise.custom_jvp(lambda x, y: x * y), []

    def rule(primals, tangents):
        seen.extend(map(type, tangents))
        return f(*primals), tangents[0] * primals[1]

    f.defjvp(rule, symbolic_zeros=True)
    assert deriv(lambda x: f(x, 2.0))(3.0) == 2.0
    assert ad.SymbolicZero in seen


def test_an_error_calls_the_rule_by_its_name(exercise):
    f = exercise.custom_jvp(lambda x: x)

    def only_the_tangent(primals, tangents):
        return tangents[0]

    f.defjvp(only_the_tangent)
    try:
        message = deriv(f)(1.0)
    except TypeError as error:
        message = str(error)
    assert 'only_the_tangent' in message and 'must produce' in message
