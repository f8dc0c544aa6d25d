"""wings/notebook/drawing.py: the parts of a picture, and their places."""

import re
import xml.etree.ElementTree as ET
from itertools import combinations

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.primitives.elementwise import exp_p
from autodiff_mini.wings.notebook.drawing import LARGEST, LETTER, draw


def expit(x):
    return 1 / (1 + np.exp(-x))


def layer(x, w, b, y):
    return np.mean((np.tanh(x @ w + b) - y)**2)


def two_uses(x, w):
    constant = np.ones((3, 2))
    return np.sum(expit(constant @ w) * x, axis=0), x[0], np.sort(x)


custom = ad.custom_jvp(expit)
custom.defjvp(lambda xs, x_dots: (custom(*xs), x_dots[0]))
named = ad.custom_jvp(lambda x: x * 2)
named.defjvp(lambda xs, x_dots: (named(*xs), x_dots[0]))

PROGRAMS = {
    'expit': (expit, 1.0),
    'jvp': (lambda x, x_dot: ad.jvp(expit, (x,), (x_dot,)), 1.0, 1.0),
    'layer': (layer, np.ones((5, 3)), np.ones((3, 2)), np.ones(2),
              np.ones((5, 2))),
    'two uses': (two_uses, np.ones(3), np.ones(2)),
    'constant': (lambda x: (3.0, x), 1.0),
    'literals': (lambda x: 1 / x + 0.123456789, 1.0),
    'nothing used': (lambda x: np.zeros(2), 1.0),
    'nothing given': (lambda: np.negative(ad.asarray(np.ones(2))),),
}


def staged(name):
    f, *args = PROGRAMS[name]
    return ad.make_jaxpr(f)(*args)


def elements(jaxpr, kind, **options):
    """Return the elements of this kind in the picture of a program."""
    return list(ET.fromstring(draw(jaxpr, **options)).iter(kind))


def texts(jaxpr):
    return [text.text for text in elements(jaxpr, 'text')]


def test_a_picture_lists_arguments_first_and_results_last():
    jaxpr = staged('expit')
    assert jaxpr._repr_html_() == draw(jaxpr)
    assert texts(jaxpr) == [
        'a:float', 'neg', 'b:float', 'exp', 'c:float64[]',
        'add', '1', 'd:float64[]', 'div', '1', 'e:float64[]', 'e']
    heights = [float(text.get('y')) for text in elements(jaxpr, 'text')]
    assert heights == sorted(heights)


@pytest.mark.parametrize('name', PROGRAMS)
def test_a_picture_has_every_equation_without_overlaps(name):
    jaxpr = staged(name)
    before = repr(jaxpr)
    assert len(elements(jaxpr, 'rect')) == sum(map(len, (
        jaxpr.constvars, jaxpr.invars, jaxpr.eqns, jaxpr.outvars)))
    assert draw(jaxpr).count('dasharray') == len(jaxpr.constvars)
    assert sorted(text for text in texts(jaxpr) if ':' in text) == sorted(
        re.findall(r'\w+:\w+(?:\[.*?\])?', before))
    svg = ET.fromstring(draw(jaxpr))
    assert svg.get('role') == 'img' and svg.get('aria-label') == before
    assert '\n' not in draw(jaxpr)      # so it can stand in Markdown
    assert {*re.findall('(?:fill|stroke)="(.*?)"', draw(jaxpr))} <= {
        'currentColor', 'none'}
    check_nothing_overlaps(jaxpr)
    left, _, width, height = map(float, svg.get('viewBox').split())
    for element in [*svg.iter('text'), *svg.iter('rect')]:
        a, b, top, bottom = box(element)
        assert left <= a and b <= left + width
        assert 0 <= top and bottom <= height
    assert repr(jaxpr) == before


def box(element):
    """Return the left, right, top, and bottom of a rectangle or a text."""
    get = lambda key: float(element.get(key))
    if element.tag == 'rect':
        return (get('x'), get('x') + get('width'),
                get('y'), get('y') + get('height'))
    size = float(element.get('font-size', 12))
    width = LETTER * len(element.text) * size / 12
    left = get('x') - width * {'start': 0, 'end': 1}.get(
        element.get('text-anchor'), 0.5)
    return left, left + width, get('y') - 0.8 * size, get('y') + 0.2 * size


def points(path):
    """Yield points on a wire: a line down, and a cubic curve."""
    x, top, bottom, *curve = map(float, re.findall(
        r'-?[\d.]+', path.get('d')))
    yield from ((x, y) for y in np.linspace(top, bottom, 20))
    p, q, end = np.reshape(curve, (3, 2))
    t = np.linspace(0, 1, 50)[:, None]
    yield from ((1 - t)**3 * np.array([x, bottom]) + 3 * (1 - t)**2 * t * p
                + 3 * (1 - t) * t**2 * q + t**3 * end)


def check_nothing_overlaps(jaxpr):
    """Compare all words, all boxes, and all words with all wires."""
    for kind in ('text', 'rect'):
        for a, b in combinations(map(box, elements(jaxpr, kind)), 2):
            assert not (a[0] < b[1] and b[0] < a[1]
                        and a[2] < b[3] and b[2] < a[3])
    words = [box(text) for text in elements(jaxpr, 'text')]
    for path in elements(jaxpr, 'path'):
        for x, y in points(path):
            assert not any(left < x < right and top < y < bottom
                           for left, right, top, bottom in words)


def test_each_use_is_a_wire():
    square = ad.make_jaxpr(lambda x: x * x)(1.0)
    assert len(elements(square, 'path')) == 3    # two of x, one of the result


def test_a_box_shows_literals_parameters_and_names():
    sides = {text.text: text.get('text-anchor')
             for text in elements(staged('literals'), 'text')}
    assert (sides['1'], sides['0.123…']) == ('end', 'start')
    total = texts(ad.make_jaxpr(lambda x: np.sum(x, axis=0))(np.ones(3)))
    assert 'axis=(0,)' in total and 'keepdims' not in ' '.join(total)
    assert texts(ad.make_jaxpr(custom)(1.0)) == [
        'a:float', 'custom_jvp_call', 'expit', 'b:float64[]', 'b']
    assert '<lambda>' in texts(ad.make_jaxpr(named)(1.0))
    for f in named, lambda x: deep(named(x)):      # it is escaped
        assert '<lambda>' not in draw(ad.make_jaxpr(f)(1.0))


def test_equations_can_be_marked():
    for marked in {exp_p}, {1}, [exp_p, 1]:
        widths = [rect.get('stroke-width') for rect in elements(
            staged('expit'), 'rect', marked=marked)]
        assert [i for i, width in enumerate(widths) if width != '1.2'] == [2]
    table = draw(ad.make_jaxpr(deep)(1.0), marked={0})
    assert len(re.findall('<th ', table)) == 2 * 5


def deep(x):
    for _ in range(LARGEST + 1):
        x = np.sin(x)
    return x


def test_a_large_program_becomes_a_table():
    constant = np.ones(2)
    table = ET.fromstring(draw(ad.make_jaxpr(
        lambda x: deep(constant * x))(1.0)))
    head, a, b, first, *_ = [
        [cell.text or '' for cell in row] for row in table.iter('tr')]
    assert head == ['result', 'type', 'operation', 'operands', 'line']
    assert a == ['a', 'float64[2]', 'closed over', '', '']
    assert b == ['b', 'float', 'argument', '', '']
    assert first[:4] == ['c', 'float64[2]', 'mul', 'a b']
    assert re.fullmatch(r'test_drawing\.py:\d+', first[4])
