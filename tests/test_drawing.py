"""Pictures of programs: what is in them, in which order, and its place."""

import re
import xml.etree.ElementTree as ET
from contextlib import suppress
from functools import partial
from itertools import combinations

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.notebook.drawing import LARGEST, LETTER, draw
from autodiff_mini.primitives.elementwise import exp_p
from tests.programs import PROGRAMS as numpy_programs


def expit(x):
    return 1 / (1 + np.exp(-x))


def layer(x, w, b, y):
    return np.mean((np.tanh(x @ w + b) - y)**2)


def two_uses(x, w):
    constant = np.ones((3, 2))
    return np.sum(expit(constant @ w) * x, axis=0), x[0], np.sort(x)


def guarded(x):
    return np.where(x > 0, np.log1p(np.where(x > 0, x, 1)), 2)


PROGRAMS = {
    'expit': (expit, 1.0),
    'jvp': (lambda x, x_dot: ad.jvp(expit, (x,), (x_dot,)), 1.0, 1.0),
    'layer': (layer, np.ones((5, 3)), np.ones((3, 2)), np.ones(2),
              np.ones((5, 2))),
    'two uses': (two_uses, np.ones(3), np.ones(2)),
    'guarded': (guarded, np.ones(3)),
    'two results': (np.linalg.slogdet, np.ones((2, 2))),
    'identity': (lambda x: x, 1.0),
    'constant': (lambda x: (3.0, x), 1.0),
    'literal at the edge': (lambda x: np.logaddexp2(x, 3.125), 1.0),
    'nothing used': (lambda x: np.zeros(2), 1.0),
    'nothing given': (lambda: np.negative(ad.asarray(np.ones(2))),),
}


def staged(name):
    f, *args = PROGRAMS[name]
    return ad.make_jaxpr(f)(*args)


def elements(jaxpr, kind, **options):
    """Returns the elements of this kind in the picture of a program."""
    return list(ET.fromstring(draw(jaxpr, **options)).iter(kind))


def texts(jaxpr, **options):
    return [text.text for text in elements(jaxpr, 'text', **options)]


def test_a_jaxpr_shows_itself_in_a_notebook():
    jaxpr = staged('expit')
    assert type(jaxpr._repr_html_()._repr_html_()) is str
    assert jaxpr._repr_html_() == draw(jaxpr)


def test_words_stand_from_the_arguments_to_the_results():
    assert texts(staged('expit')) == [
        'a:float', 'neg', 'b:float', 'exp', 'c:float64[]',
        'add', '1', 'd:float64[]', 'div', '1', 'e:float64[]', 'e']
    heights = [float(text.get('y'))
               for text in elements(staged('expit'), 'text')]
    assert heights == sorted(heights)


@pytest.mark.parametrize('name', PROGRAMS)
def test_each_equation_argument_and_result_is_a_box(name):
    jaxpr = staged(name)
    assert len(elements(jaxpr, 'rect')) == sum(map(len, (
        jaxpr.constvars, jaxpr.invars, jaxpr.eqns, jaxpr.outvars)))


@pytest.mark.parametrize('name', PROGRAMS)
def test_letters_are_those_of_the_text(name):
    jaxpr = staged(name)
    typed = re.findall(r'\w+:\w+(?:\[.*?\])?', repr(jaxpr))
    assert sorted(text for text in texts(jaxpr) if ':' in text) == sorted(
        typed)


def test_each_use_is_a_wire():
    square = ad.make_jaxpr(lambda x: x * x)(1.0)
    assert len(elements(square, 'path')) == 3    # two of x, one of the result


def test_a_long_wire_goes_past_each_row():
    jaxpr = ad.make_jaxpr(lambda x: np.exp(np.sin(x)) * x)(1.0)
    straight = 4    # x, sin, exp, mul, and out
    assert len(elements(jaxpr, 'path')) == straight + 3


def box(element):
    """Returns left, right, top and bottom of a rectangle, or of a text."""
    get = lambda key: float(element.get(key))
    if element.tag == 'rect':
        return (get('x'), get('x') + get('width'),
                get('y'), get('y') + get('height'))
    size = float(element.get('font-size', 12))
    width = LETTER * len(element.text) * size / 12
    left = get('x') - width * {'start': 0, 'end': 1}.get(
        element.get('text-anchor'), 0.5)
    return left, left + width, get('y') - 0.8 * size, get('y') + 0.2 * size


def overlap(a, b):
    return (a[0] < b[1] and b[0] < a[1]) and (a[2] < b[3] and b[2] < a[3])


def check_nothing_overlaps(jaxpr):
    for kind in ('text', 'rect'):
        for one, other in combinations(elements(jaxpr, kind), 2):
            assert not overlap(box(one), box(other))


def points(path):
    """Returns points on a wire."""
    x, top, bottom, *curve = map(float, re.findall(
        r'-?[\d.]+', path.get('d')))
    (p, q), (r, s), (end, y) = curve[:2], curve[2:4], curve[4:]
    t = np.linspace(0, 1, 50)
    yield from ((x, y) for y in np.linspace(top, bottom, 20))
    yield from zip(
        (1 - t)**3 * x + 3 * (1 - t)**2 * t * p + 3 * (1 - t) * t**2 * r
        + t**3 * end,
        (1 - t)**3 * bottom + 3 * (1 - t)**2 * t * q
        + 3 * (1 - t) * t**2 * s + t**3 * y)


def check_no_wire_crosses_a_word(jaxpr):
    words = [box(text) for text in elements(jaxpr, 'text')]
    for path in elements(jaxpr, 'path'):
        for x, y in points(path):
            assert not any(left < x < right and top < y < bottom
                           for left, right, top, bottom in words)


@pytest.mark.parametrize('name', PROGRAMS)
def test_nothing_overlaps_and_no_wire_crosses_a_word(name):
    check_nothing_overlaps(staged(name))
    check_no_wire_crosses_a_word(staged(name))


def test_nothing_overlaps_in_programs_of_numpy():
    count = 0
    for program in numpy_programs[::10]:
        def value_and_tangent(*args):
            return ad.jvp(partial(program.function, np), args, args)
        with suppress(TypeError):    # it asks for a value, or is not smooth
            jaxpr = ad.make_jaxpr(value_and_tangent)(*program.args)
            check_nothing_overlaps(jaxpr)
            check_no_wire_crosses_a_word(jaxpr)
            count += draw(jaxpr).startswith('<svg')
    assert count > 50


@pytest.mark.parametrize('name', PROGRAMS)
def test_all_is_inside_the_picture(name):
    jaxpr = staged(name)
    svg = ET.fromstring(draw(jaxpr))
    left, _, width, height = map(float, svg.get('viewBox').split())
    for element in [*svg.iter('text'), *svg.iter('rect')]:
        a, b, top, bottom = box(element)
        assert left <= a and b <= left + width
        assert 0 <= top and bottom <= height


def test_the_label_is_the_text_of_the_program():
    jaxpr = staged('two uses')
    svg = ET.fromstring(draw(jaxpr))
    assert svg.get('role') == 'img'
    assert svg.get('aria-label') == repr(jaxpr)
    assert '\n' not in draw(jaxpr)    # so it can stand in Markdown


def test_the_colour_is_that_of_the_page():
    assert set(re.findall(r'(?:fill|stroke)="(.*?)"', draw(
        staged('two uses')))) == {'currentColor', 'none'}


def test_literals_stand_beside_the_operation():
    jaxpr = ad.make_jaxpr(lambda x: 1 / x + 0.123456789)(1.0)
    sides = {text.text: text.get('text-anchor')
             for text in elements(jaxpr, 'text')}
    assert sides['1'] == 'end'
    assert sides['0.123…'] == 'start'


def test_parameters_that_say_nothing_are_left_out():
    jaxpr = ad.make_jaxpr(lambda x: np.sum(x, axis=0))(np.ones(3))
    assert 'axis=(0,)' in texts(jaxpr)
    assert 'keepdims' not in ' '.join(texts(jaxpr))


def test_arrays_closed_over_have_a_dashed_frame():
    jaxpr = staged('two uses')
    assert len(jaxpr.constvars) == 1
    assert draw(jaxpr).count('dasharray') == 1


def test_a_call_is_one_box_with_its_name():
    custom = ad.custom_jvp(expit)
    custom.defjvp(lambda xs, x_dots: (custom(*xs), x_dots[0]))
    jaxpr = ad.make_jaxpr(custom)(1.0)
    assert texts(jaxpr) == [
        'a:float', 'custom_jvp_call', 'expit', 'b:float64[]', 'b']


def test_all_text_is_escaped():
    custom = ad.custom_jvp(lambda x: x * 2)
    custom.defjvp(lambda xs, x_dots: (custom(*xs), x_dots[0]))
    jaxpr = ad.make_jaxpr(custom)(1.0)
    assert '<lambda>' in texts(jaxpr)    # read back from &lt;lambda&gt;
    assert '<lambda>' not in draw(jaxpr)
    assert '<lambda>' not in draw(ad.make_jaxpr(
        lambda x: deep(custom(x)))(1.0))


@pytest.mark.parametrize('marked', [{exp_p}, {1}, [exp_p, 1]])
def test_equations_can_be_marked(marked):
    widths = [rect.get('stroke-width') for rect in elements(
        staged('expit'), 'rect', marked=marked)]
    assert [i for i, width in enumerate(widths) if width != '1.2'] == [2]


def deep(x):
    for _ in range(LARGEST + 1):
        x = np.sin(x)
    return x


def rows(jaxpr, **options):
    """Returns the words in the table of a program."""
    table = ET.fromstring(draw(jaxpr, **options))
    return [[cell.text or '' for cell in row] for row in table.iter('tr')]


def test_a_large_program_becomes_a_table():
    constant = np.ones(2)
    head, a, b, first, *_, last = rows(ad.make_jaxpr(
        lambda x: deep(constant * x))(1.0))
    assert head == ['result', 'type', 'operation', 'operands', 'line']
    assert a == ['a', 'float64[2]', 'closed over', '', '']
    assert b == ['b', 'float', 'argument', '', '']
    assert first[:4] == ['c', 'float64[2]', 'mul', 'a b']
    assert re.fullmatch(r'test_drawing\.py:\d+', first[4])
    assert last == ['', '', 'return', 'n', '']


def test_the_largest_picture_and_the_smallest_table():
    for count, start in ((LARGEST, '<svg'), (LARGEST + 1, '<table')):
        jaxpr = ad.make_jaxpr(lambda x: x)(1.0)
        for _ in range(count):
            outer = jaxpr
            jaxpr = ad.make_jaxpr(lambda x: np.sin(
                *ad.eval_jaxpr(outer, [], x)))(1.0)
        assert draw(jaxpr).startswith(start)


def test_a_line_of_a_cell_has_no_file():
    scope = {'np': np}
    path = '/tmp/ipykernel_12/34.py'
    exec(compile('def f(x):\n    return np.sin(x)', path, 'exec'), scope)
    table = rows(ad.make_jaxpr(lambda x: deep(scope['f'](x)))(1.0))
    assert table[2][-1] == 'cell:2'


def test_equations_are_marked_in_a_table_too():
    table = draw(ad.make_jaxpr(deep)(1.0), marked={0})
    assert len(re.findall('<th ', table)) == 2 * 5


def test_an_empty_program_is_a_table_of_nothing():
    assert rows(ad.make_jaxpr(lambda: ())())[1:] == [
        ['', '', 'return', '', '']]
    assert rows(ad.make_jaxpr(lambda: 3.0)())[1:] == [
        ['', '', 'return', '3.0', '']]


def test_a_wide_program_becomes_a_table():
    jaxpr = ad.make_jaxpr(lambda *xs: [x * 2 for x in xs])
    assert draw(jaxpr(*[1.0] * 5)).startswith('<svg')
    assert draw(jaxpr(*[1.0] * 10)).startswith('<table')


def test_drawing_changes_nothing():
    jaxpr = staged('jvp')
    before = repr(jaxpr)
    draw(jaxpr)
    assert repr(jaxpr) == before
    ad.jvp(lambda x: ad.eval_jaxpr(jaxpr, [], x, 1.0), (1.0,), (1.0,))
