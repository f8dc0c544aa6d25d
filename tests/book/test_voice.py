"""Text that people read is free of the turns that sound translated.

This is a net with wide meshes and not the aim, since a bad sentence can pass
it. If a pattern catches a good sentence, argue with the pattern here.
"""

import ast
import re
import tokenize
from functools import cache
from io import StringIO
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent

# Each pattern, and what to write instead.
TICS = {
    r"\w+ of (NumPy|JAX|Python|SciPy)'s(?=[.,;:)]|$)": 'a NumPy function',
    r'\bin the place of\b': 'instead of',
    r'\b([Ww]hoever|[Ss]omebody|[Aa]nybody)\b': 'the caller, the reader',
    r'\b[Nn]obody\b': 'a passive, or what is missing',
    r'\bshall\b': 'must, or the present tense',
    r'\b(is|are|was|were) (no|none) (array|number|tracer|function|tuple)\b':
        "isn't an array",
    r'\bLet us\b': "let's",
    r'\b(the|a|no|its) way (back|out)\b': 'the reverse pass',
    r'\bis to be [a-z]+ed\b': 'has to be',
    r'\b(Mind|Mark) (that|how)\b': 'leave it out',
    r'(?<=[a-z][.!?] )Of [^.,;:?!]{5,60} (it|we|they|you|there) \w+':
        'the subject comes first',
    r'\bas ever\b|\bbe it\b': 'leave it out',
}

PAGES = [*(ROOT / 'book').rglob('*.md'), ROOT / 'README.md',
         *(ROOT / 'book/questions').glob('*.toml'), ROOT / 'Makefile',
         ROOT / 'CONTRIBUTING.md', ROOT / 'CHANGELOG.md',
         ROOT / 'tests/CLAIMS.md',
         *(ROOT / 'book/exercises').glob('*.py'),
         *(ROOT / 'book/solutions').glob('*.py')]
MODULES = [*(ROOT / 'autodiff_mini').rglob('*.py'),
           *(ROOT / 'book/tools').glob('*.py')]


@cache
def words_of(path):
    """Return a page; or the strings and comments of a module, on one line."""
    text = path.read_text()
    if path not in MODULES:
        return text
    strings = [node.value for node in ast.walk(ast.parse(text))
               if isinstance(node, ast.Constant)
               and isinstance(node.value, str)]
    comments = [token.string.lstrip('# ') for token
                in tokenize.generate_tokens(StringIO(text).readline)
                if token.type == tokenize.COMMENT]
    return ' '.join(' '.join(strings + comments).split())


@pytest.mark.parametrize('tic', TICS)
def test_text_sounds_native(tic):
    caught = [f'{path.name}: …{text[max(found.start() - 40, 0):found.end()]}'
              for path in PAGES + MODULES for text in [words_of(path)]
              for found in re.finditer(tic, text)]
    assert caught == [], f'better: {TICS[tic]}'
