"""What `make bench` says: the tables of a terminal, and that of README."""

import pytest

from book.tools.benchmark_tables import load, markdown
from book.tools.places import ROOT
from tests.benchmarks import report
from tests.benchmarks.report import (
    missed, readme_table, replace_table, tables)
from tests.tools.test_benchmark_tables import DATA, MEASURED

MARKDOWN = '''\
|  | by hand, µs | floor | small compiler | jit | eager | JAX jit \
| jit / JAX | spread |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
| W1 network | 2,000 | 0.25 | 3.00 | 0.50 | 15.0 | 0.40 | 1.25 | 4 % |
| W9 softplus | 1.00 | – | – | 3.00 | 4.00 | – | – | – |
| W9 softplus, without it | 1.00 | – | – | 2.00 | – | – | – | – |

| W1 network | 12 | 1,015 | 16.0 | 40.0 | 500 | 4.00 | 2.00 | 1.60 |

| GELU | 4.00 | 0.50 |

| jit | 1.00 | 1.00 | 1.00 | 1.00 |
| jit, JAX | 10.0 | – | – | – |

| all | 4 | 0.38 | 1.25 | 0.25 |'''


def test_tables_have_ratios_to_hand_and_leave_out_absent_peers():
    text = '\n\n'.join(map(markdown, tables(DATA)))
    assert all(part in text for part in MARKDOWN.split('\n\n'))


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


def test_missed_targets_are_named_and_unmeasured_ones_are_not():
    assert missed(DATA) == [
        'over its target: W1 network: jit/hand 0.50 > 0.40',
        'over its target: W1 network: jit/jax 1.25 > 0.30',
        'over its target: W9 softplus: jit/jit, without it 1.50 > 1.05']


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
