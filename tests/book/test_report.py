"""What `make bench` says: the tables of a terminal, and that of README."""

import pytest

from book.tools.benchmark_tables import is_far, load, markdown
from book.tools.places import ROOT
from tests.benchmarks import report
from tests.benchmarks.report import (
    readme_table, replace_table, table_text, tables)
from tests.book.invented import DATA, MEASURED

MARKDOWN = '''\
|  | by hand, µs | floor | small compiler | jit | fused | eager | JAX jit \
| jit / JAX |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
| W1 network of 8 | 2,000 | 0.25 | 3.00 | 0.50 | 0.20 | 15.0 | 0.40 | 1.25 |
| W1 network of 9 | 1.00 | 0.50 | – | 0.55 | – | – | – | – |
| W9 softplus | 1.00 | – | – | 3.00 | – | 4.00 | – | – |

| W1 network of 8 | 12 | 1,015 | 16.0 | 40.0 | 2.00 | 1.60 | a |
| W1 network of 9 | 3 | 4 | – | – | 1.10 | – | – |

| µs | by hand | eager | autograd | JAX | eager / autograd |
| --- | ---: | ---: | ---: | ---: | ---: |
| custom_vjp for x, a float | 0.10 | 20.0 | 16.0 | 1,000 | 1.25 |
| custom_vjp for x, an array | 0.20 | 24.0 | – | 2,000 | – |

| GELU | 4.00 | 0.50 |

| jit | 1.00 | 1.00 | 1.00 | 1.00 |
| jit, JAX | 10.0 | – | – | – |

| all | 4 | 0.38 | 1.25 | 0.25 |

| import, ms | without |
| --- | ---: |
|  | 25.0 |'''


def test_tables_have_ratios_to_hand_and_leave_out_absent_peers():
    text = '\n\n'.join(map(markdown, tables(DATA)))
    for part in MARKDOWN.split('\n\n'):
        assert part in text


def test_what_is_far_above_its_floor_has_a_reason():
    assert table_text(DATA).endswith('\n\na: It copies.\n\n')
    assert all(row['why'] for row in load()['rows'] if is_far(row))


def test_readme_has_a_short_table(monkeypatch):
    monkeypatch.setattr(report, 'SHORT', [
        'network of 8', 'custom_vjp for x, a float'])
    assert readme_table(DATA) == (
        '|  | by hand, µs | jit | fused | eager | JAX jit |\n'
        '| --- | ---: | ---: | ---: | ---: | ---: |\n'
        '| network of 8 | 2,000 | 0.50 | 0.20 | 15.0 | 0.40 |\n'
        '| custom_vjp for x, a float | 0.10 | – | – | 200 | – |\n\n'
        f'{MEASURED}.')


def test_readme_shows_the_table_of_the_data():
    text = (ROOT / 'README.md').read_text()
    table = readme_table(load())
    assert replace_table(text, table) == text
    assert len(table.splitlines()[0].split('|')) - 2 <= 7
    assert len(table.splitlines()) == 4 + len(report.SHORT)


def test_replace_table_changes_only_what_is_between_the_marks():
    before = ('Title\n<!-- benchmarks -->\nold\n'
              '<!-- end benchmarks -->\nEnd\n')
    after = replace_table(before, r'| \1 |')
    assert after == ('Title\n<!-- benchmarks -->\n\n'
                     '| \\1 |\n\n<!-- end benchmarks -->\nEnd\n')
    assert replace_table(after, r'| \1 |') == after
    for text in 'nothing', after * 2:
        with pytest.raises(ValueError, match='one line <!-- benchmarks -->'):
            replace_table(text, '')
