"""benchmark_tables: the tables of the book, made from invented data."""

import json
from collections import Counter

import pytest

from book.tools import benchmark_tables
from book.tools.benchmark_tables import (
    DATA, FIVE, SECTIONS, TABLES, benchmarks, five_rows, labeled, number,
    power, sizes)
from tests.book.invented import MEASURED, SAMPLE


@pytest.fixture(autouse=True)
def sample(monkeypatch):
    monkeypatch.setattr(benchmark_tables, 'DATA', SAMPLE)


def test_tables_of_the_book_say_where_they_were_measured():
    for name in TABLES:
        text = benchmarks(name)
        assert f'<figcaption>{MEASURED}' in text
        assert ('NumPy 2.1.0' in text) == (name == 'arrays')
    assert '\n- **a**: It copies.\n' in benchmarks('floor')
    assert 'take at most 4% longer' in benchmarks('arrays')


def test_a_table_without_data_is_named(monkeypatch, tmp_path):
    (tmp_path / 'empty.json').write_text('{}')
    monkeypatch.setattr(benchmark_tables, 'DATA', tmp_path / 'empty.json')
    for name in TABLES:
        with pytest.raises(ValueError, match='no data for it: run `make ben'):
            benchmarks(name)


def test_sizes_are_seconds_by_the_names_of_the_plot():
    assert sizes() == ([1, 1000], {'by hand': [1e-6, 2e-6],
                                   'jit': [3e-6, 4e-6], 'JAX': [5e-6, 6e-6]})


def test_numbers_have_two_or_three_digits():
    assert [*map(number, (0.0123, 9.99, 9.999, 99.97, 12345.6))] == [
        '0.012', '9.99', '10.0', '100', '12,346']


def test_power_finds_the_exponent_of_a_square():
    assert power({n: 3e-6 * n ** 2 for n in (10, 100, 1000)}) == (
        pytest.approx(2))


def test_every_row_is_in_one_table_of_the_book():
    rows = json.loads(DATA.read_text())['rows']
    places = Counter(w for names in SECTIONS.values() for w in names)
    assert {row['workload'] for row in rows} == {*places}
    assert {*places.values()} == {1}
    assert [row[0] for row in five_rows(rows)[1:]] == FIVE
    assert len({*map(labeled, rows)}) == len(rows)


def test_a_cell_of_a_table_has_one_number():
    data = json.loads(DATA.read_text())
    for key, make in TABLES.values():
        for _, *cells in make(data[key])[1:]:
            assert not any('/' in cell for cell in cells)
