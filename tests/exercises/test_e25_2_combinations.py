import numpy as np

import autodiff_mini as ad

ARGS = np.array([0.5, -1.0, 2.0]), 2.0, np.array([1.5, 0.5, 1.0])


def row(terms):
    """Return a product of three operands, as a row.

    Args:
        terms: takes the three terms of the tangent, with None for a zero, and
            returns those that the rule adds.
    """
    p = ad.Primitive('product')
    p.def_impl(lambda x, y, z: x * y * z)
    p.def_abstract_eval(lambda x, y, z: ad.eval_shape(
        lambda x, y, z: x * y * z, x, y, z))

    @p.def_jvp
    def jvp(primals, tangents):
        x, y, z = primals
        others = y * z, x * z, x * y
        found = [None if isinstance(t, ad.Zero) else t * other
                 for t, other in zip(tangents, others)]
        return p.bind(x, y, z), sum(
            t for t in terms(*found) if t is not None) + 0 * (x * y * z)
    return p.bind


def forgets(*positions):
    """Return a row that loses a term if just these operands change."""
    def terms(*found):
        moving = tuple(i for i, t in enumerate(found) if t is not None)
        return found[:positions[-1]] + found[positions[-1] + 1:] if (
            moving == positions) else found
    return row(terms)


def report(exercise, f, args=ARGS, **options):
    """Return what is said about a row, and nothing if it passes."""
    try:
        exercise.check_row(f, args, **options)
    except AssertionError as error:
        return str(error)
    return ''


def test_a_right_row_passes(exercise):
    assert report(exercise, row(lambda *found: found)) == ''
    assert report(exercise, np.hypot, (1.0, ARGS[0])) == ''


def test_each_choice_is_checked(exercise):
    for positions in (0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2):
        found = report(exercise, forgets(*positions))
        assert found.startswith(f'{positions}: '), (positions, found)


def test_the_smallest_choice_is_reported(exercise):
    first_only = row(lambda x, y, z: (x, None, z) if x is not None else (y, z))
    assert report(exercise, first_only).startswith('(0, 1): ')
    never_the_last = row(lambda x, y, z: (x, y))
    assert report(exercise, never_the_last).startswith('(2,): ')


def test_the_order_is_passed_on(exercise):
    """The first derivative is right, and it's a constant for the next."""
    p = ad.custom_jvp(lambda x: np.sin(x))
    p.defjvps(lambda x_dot, y, x: ad.stop_gradient(np.cos(x)) * x_dot)
    assert report(exercise, p, (0.5,)) == ''
    assert report(exercise, p, (0.5,), order=2).startswith('(0,): ')
