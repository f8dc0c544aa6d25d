from tests.traces import SpyTrace, SpyTracer


class Door(SpyTrace):
    def process_primitive(self, primitive, args, params):
        self.names.append(primitive.name)
        return super().process_primitive(primitive, args, params)


def bound(f):
    """Returns the names of the primitives that `f` binds, in order."""
    with Door(f) as trace:
        trace.names = []
        f(SpyTracer(trace, 0.25))
    return trace.names


def test_a__two_numbers_and_a_tracer(exercise):
    assert exercise.prediction()['a'] == bound(exercise.a)


def test_b__a_tracer_and_two_numbers(exercise):
    assert exercise.prediction()['b'] == bound(exercise.b)


def test_c__two_exponentials(exercise):
    assert exercise.prediction()['c'] == bound(exercise.c)


def test_d__a_sum_of_a_list(exercise):
    assert exercise.prediction()['d'] == bound(exercise.d)
