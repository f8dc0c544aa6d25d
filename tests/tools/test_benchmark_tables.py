"""The tables of the benchmarks, from data that is made up."""

import json

import pytest

from book.tools import benchmark_tables
from book.tools.benchmark_tables import (
    TABLES, benchmarks, load, markdown, number, power, sizes)
from book.tools.places import ROOT
from tests.benchmarks import report
from tests.benchmarks.report import (
    SHORT, missed, readme_table, replace_table, table_text, tables)

DATA = {
    'date': '2001-02-03',
    'machine': {'cpu': 'Z80', 'cores': 1, 'system': 'CP/M',
                'architecture': 'z80'},
    'versions': {'Python': '3.11.0', 'numpy': '2.1.0', 'jax': '0.9.0'},
    'rows': [
        {'workload': 'W1', 'label': 'network',
         'seconds': {'hand': 0.002, 'floor': 0.0005, 'small': 0.006,
                     'jit': 0.001, 'eager': 0.03, 'jax': 0.0008},
         'spread': {'hand': 0.1, 'floor': 0.02, 'jit': 0.04},
         'work': {'calls': {'floor': 12, 'jit': 1015},
                  'bytes': {'floor': 16_000_000, 'jit': 40_000_000}},
         'targets': {'jit/hand': 0.4, 'jit/jax': 0.3, 'eager/torch': 1}},
        {'workload': 'W9', 'label': 'softplus',
         'seconds': {'hand': 1e-6, 'jit': 3e-6, 'eager': 4e-6,
                     'jit, without it': 2e-6},
         'targets': {'jit/jit, without it': 1.05}}],
    'passes': [
        {'label': 'GELU', 'seconds': {'hand': 2e-3, 'as written': 8e-3,
                                      'blocks': 1e-3}}],
    'first_calls': [
        {'kind': 'jit', 'operations': n, 'equations': n,
         'seconds': {'ours': n * 1e-6} | ({'jax': n * 1e-5} if n < 99 else {})
         } for n in (10, 100, 1000)],
    'figures': [
        {'workload': 'W11', 'label': 'import', 'value': 0.025, 'unit': 's',
         'target': 0.03},
        {'workload': 'W11', 'label': 'memory', 'value': 6.0,
         'unit': 'arrays', 'target': 1.5},
        {'workload': 'W5', 'label': 'equation', 'value': 7e-5, 'unit': 's',
         'target': 6e-5},
        {'workload': 'W5', 'label': 'other', 'value': 6.0, 'unit': '',
         'target': None}],
    'gallery': [
        {'theme': 'optics', 'label': f'optics.{n}', 'seconds': {
            'eager': n * 1e-3, 'autograd': 4e-3, 'jit': 1e-3}}
        for n in (1, 2, 5)] + [
        {'theme': 'puzzles', 'label': 'puzzles.loop', 'seconds': {
            'eager': 1e-3, 'autograd': 4e-3}}],
    'sizes': {'elements': [1, 1000], 'seconds': {'hand': [1e-6, 2e-6],
                                                 'jit': [3e-6, 4e-6],
                                                 'jax': [5e-6, 6e-6]}},
}

MARKDOWN = '''\
|  | by hand, µs | floor | small compiler | jit | eager | JAX jit \
| jit / JAX | spread |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
| W1 network | 2,000 | 0.25 | 3.00 | 0.50 | 15.0 | 0.40 | 1.25 | 4 % |
| W9 softplus | 1.00 | – | – | 3.00 | 4.00 | – | – | – |
| W9 softplus, without it | 1.00 | – | – | 2.00 | – | – | – | – |

|  | calls | of jit | MB | of jit | floor, µs | by hand | jit | JAX jit |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
| W1 network | 12 | 1,015 | 16.0 | 40.0 | 500 | 4.00 | 2.00 | 1.60 |

|  | as written | blocks |
| --- | ---: | ---: |
| GELU | 4.00 | 0.50 |

| first call, µs an operation | 10 | 100 | 1,000 | power |
| --- | ---: | ---: | ---: | ---: |
| jit | 1.00 | 1.00 | 1.00 | 1.00 |
| jit, JAX | 10.0 | – | – | – |

| time / autograd | programs | eager | worst | jit |
| --- | ---: | ---: | ---: | ---: |
| optics | 3 | 0.50 | 1.25 | 0.25 |
| puzzles | 1 | 0.25 | 0.25 | – |
| all | 4 | 0.38 | 1.25 | 0.25 |

|  | measured |
| --- | ---: |
| W11 import | 25.0 ms |
| W11 memory | 6.00 arrays |
| W5 equation | 70.0 µs |
| W5 other | 6.00 |'''


MEASURED = 'Measured on 2001-02-03, one thread of Z80'


def test_tables_have_ratios_to_hand_and_leave_out_absent_peers():
    assert '\n\n'.join(map(markdown, tables(DATA))) == MARKDOWN


def test_text_aligns_columns_and_has_the_sizes():
    lines = table_text(DATA).splitlines()
    assert lines[0].startswith(f'{MEASURED} (z80, CP/M): '
                               'Python 3.11.0, NumPy 2.1.0, JAX 0.9.0.')
    ratios = lines[2:6]
    assert len({len(line) for line in ratios}) == 1
    assert lines[-4:-1] == ['gradient of GELU, µs  hand   jit   jax',
                            '1                     1.00  3.00  5.00',
                            '1,000                 2.00  4.00  6.00']


def test_what_was_not_measured_has_no_table():
    few = {key: DATA[key] for key in ('date', 'machine', 'versions')}
    assert tables(few) == []
    [table, _] = tables(few | {'rows': DATA['rows']})
    assert table[2][0] == 'W9 softplus'


def test_readme_has_a_short_table(monkeypatch):
    monkeypatch.setattr(report, 'SHORT', ['network'])
    assert readme_table(DATA) == (
        '|  | by hand, µs | jit | eager | JAX jit |\n'
        '| --- | ---: | ---: | ---: | ---: |\n'
        '| network | 2,000 | 0.50 | 15.0 | 0.40 |\n\n'
        f'{MEASURED}.')


def test_readme_shows_the_table_of_the_data():
    text = (ROOT / 'README.md').read_text()
    table = readme_table(load())
    assert replace_table(text, table) == text
    assert len(table.splitlines()[0].split('|')) - 2 <= 6


def test_every_row_of_readme_is_measured():
    assert {*SHORT} <= {row['label'] for row in load()['rows']}


@pytest.fixture
def stored(tmp_path, monkeypatch):
    """Returns the file of the data that the book has, made up as well."""
    path = tmp_path / 'benchmarks.json'
    path.write_text(json.dumps(DATA), encoding='utf-8')
    monkeypatch.setattr(benchmark_tables, 'DATA', path)
    return path


@pytest.mark.parametrize('name, row', [
    ('ratios', '| softplus, without it | 1.00 | – | – | 2.00 | – | – | – |'),
    ('lost', '| network | – | – | – | 1.25 |'),
    ('lost', '| softplus | 3.00 | – | – | – |'),
    ('floor', '| network | 12 | 1,015 | 16.0 | 40.0 | 500 | 4.00 | 2.00 '
              '| 1.60 |'),
    ('passes', '| GELU | 4.00 | 0.50 |'),
    ('first calls', '| jit, JAX | 10.0 | – | – | – |')])
def test_tables_of_the_book_say_where_they_were_measured(stored, name, row):
    text = benchmarks(name)
    assert f'\n{row}\n' in text
    assert f'<figcaption>{MEASURED}' in text
    assert ('NumPy 2.1.0' in text) == (name == 'ratios')


@pytest.mark.parametrize('name', TABLES)
def test_a_table_without_data_is_named(stored, name):
    stored.write_text('{}')
    with pytest.raises(ValueError, match='has nothing for it: run `make bench`'):
        benchmarks(name)


def test_sizes_are_seconds_by_the_names_of_the_plot(stored):
    assert sizes() == ([1, 1000], {'by hand': [1e-6, 2e-6],
                                   'jit': [3e-6, 4e-6], 'JAX': [5e-6, 6e-6]})


def test_missed_targets_are_named_and_unmeasured_ones_are_not():
    assert missed(DATA) == [
        'over its target: W1 network: jit/hand 0.50 > 0.40',
        'over its target: W1 network: jit/jax 1.25 > 0.30',
        'over its target: W9 softplus: jit/jit, without it 1.50 > 1.05',
        'over its target: W11 memory 6.00 arrays > 1.50 arrays',
        'over its target: W5 equation 70.0 µs > 60.0 µs']


@pytest.mark.parametrize('x, text', [
    (0.0123, '0.012'), (9.99, '9.99'), (9.999, '10.0'), (99.97, '100'),
    (12345.6, '12,346')])
def test_numbers_have_two_or_three_digits(x, text):
    assert number(x) == text


def test_power_of_a_square():
    assert power({n: 3e-6 * n ** 2 for n in (10, 100, 1000)}) == (
        pytest.approx(2))


def test_replace_table_changes_only_what_is_between_the_marks():
    before = ('Title\n<!-- benchmarks -->\nold\n'
              '<!-- end benchmarks -->\nEnd\n')
    after = replace_table(before, r'| \1 |')
    assert after == ('Title\n<!-- benchmarks -->\n\n'
                     '| \\1 |\n\n<!-- end benchmarks -->\nEnd\n')
    assert replace_table(after, r'| \1 |') == after


@pytest.mark.parametrize('text', [
    'nothing', '<!-- end benchmarks -->\n<!-- benchmarks -->\n',
    '<!-- benchmarks -->\n<!-- end benchmarks -->\n' * 2])
def test_replace_table_needs_one_pair_of_marks(text):
    with pytest.raises(ValueError, match='one line <!-- benchmarks -->'):
        replace_table(text, '')
