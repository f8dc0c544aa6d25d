"""benchmark_tables: the tables of the book, from data that is made up."""

import json

import pytest

from book.tools import benchmark_tables
from book.tools.benchmark_tables import (
    TABLES, benchmarks, number, power, sizes)

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

MEASURED = 'Measured on 2001-02-03, one thread of Z80'


@pytest.fixture
def stored(tmp_path, monkeypatch):
    """Return the file of the data that the book has, made up as well."""
    path = tmp_path / 'benchmarks.json'
    path.write_text(json.dumps(DATA), encoding='utf-8')
    monkeypatch.setattr(benchmark_tables, 'DATA', path)
    return path


def test_tables_of_the_book_say_where_they_were_measured(stored):
    for name in TABLES:
        text = benchmarks(name)
        assert f'<figcaption>{MEASURED}' in text
        assert ('NumPy 2.1.0' in text) == (name == 'ratios')
    for row in ('| network | – | – | – | 1.25 |',
                '| softplus | 3.00 | – | – | – |'):
        assert f'\n{row}\n' in benchmarks('lost')


@pytest.mark.parametrize('name', TABLES)
def test_a_table_without_data_is_named(stored, name):
    stored.write_text('{}')
    with pytest.raises(ValueError, match='has no data for it: run `make bench`'):
        benchmarks(name)


def test_sizes_are_seconds_by_the_names_of_the_plot(stored):
    assert sizes() == ([1, 1000], {'by hand': [1e-6, 2e-6],
                                   'jit': [3e-6, 4e-6], 'JAX': [5e-6, 6e-6]})


def test_numbers_have_two_or_three_digits():
    assert [*map(number, (0.0123, 9.99, 9.999, 99.97, 12345.6))] == [
        '0.012', '9.99', '10.0', '100', '12,346']


def test_power_of_a_square():
    assert power({n: 3e-6 * n ** 2 for n in (10, 100, 1000)}) == (
        pytest.approx(2))
