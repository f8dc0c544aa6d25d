"""The reference says what `help` says, and leads to sources and chapters."""

import inspect
import re
from pathlib import Path

import griffe
import pytest

import autodiff_mini as ad
from book.tools import modules, places, reference, weave
from tests.support.wings import needs

pytestmark = [needs(wing)
              for wing in ('applications', 'notebook', 'writing.patch')]

GROUPS = reference.groups()
ENTRIES = [name for names in GROUPS.values() for name in names]


@pytest.fixture(scope='module')
def package():
    """Return the library as mkdocstrings reads it."""
    return griffe.load('autodiff_mini', search_paths=[places.ROOT],
                       extensions=griffe.load_extensions(
                           'book.tools.modules'))


def test_each_public_name_is_in_one_group():
    assert sorted([*ENTRIES, 'remat']) == sorted(ad.__all__), (
        'list these in a page of book/reference')
    assert {page.stem for page in reference.FOLDER.glob('*.md')} == {
        *reference.GROUPS}


def test_the_reference_says_what_help_says(package):
    for name in ENTRIES:
        if inspect.isfunction(function := getattr(ad, name)):
            found = package[name]
            assert (inspect.cleandoc(found.docstring.value)
                    == inspect.getdoc(function))
            assert [(x.name, x.annotation) for x in found.parameters] == [
                (x, None) for x in inspect.signature(function).parameters]


def test_the_index_lists_names_with_summaries():
    text = reference.index()
    assert re.findall(r'#autodiff_mini\.(\w+)\) \S', text) == ENTRIES
    assert ('## [Control flow](reference/control_flow.md)\n\n'
            '- [`scan`](reference/control_flow.md#autodiff_mini.scan) '
            + ad.scan.__doc__.partition('\n\n')[0] + '\n') in text


def test_an_entry_links_to_the_line_that_defines_it():
    sources = modules.texts()
    for page, names in GROUPS.items():
        lines = re.findall(r'^Defined in \[`(.*?)`\]\((.*?)#L(\d+)\)\.',
                           reference.linked(page.read_text(), page),
                           re.MULTILINE)
        for name, (title, link, line) in zip(names, lines, strict=True):
            assert link == f'../modules/{title[:-3]}.md'
            own = getattr(getattr(ad, name), '__name__', name)
            text = sources[f'autodiff_mini/{title}'].splitlines()
            assert re.search(rf'\b{own}\b',
                             ' '.join(text[int(line) - 1:][:4]))


def test_each_public_name_is_explained_where_it_is_used():
    explained = reference.explained()
    assert list(explained) == ENTRIES
    for name, sections in explained.items():
        for place in sections:
            text = place.page.read_text()
            family = FAMILIES.get(name, name)
            assert re.search(rf'\b{family}\b', text), (name, place.page)


# These names have their explanation in a page that names a relative.
FAMILIES = {
    'linear_transpose': 'transpose', 'jacrev': 'jacfwd', 'eval_jaxpr': 'jaxpr',
    'zero_from_primal': 'SymbolicZero', 'CustomVJPPrimal': 'perturbed',
    'NaNError': 'debug_nans', 'which': 'plain', 'fori_loop': 'scan',
    'switch': 'cond', 'checkpoint_policies': 'checkpoint',
    'tree_leaves': 'leaves', 'tree_structure': 'structure',
    'register_pytree_node_class': 'register_pytree_node',
    'register_dataclass': 'Dataclasses', 'UnexpectedTracerError': 'tracer',
    **dict.fromkeys(['ConcretizationTypeError', 'TracerBoolConversionError',
                     'TracerIntegerConversionError',
                     'TracerArrayConversionError'], 'traced')}


def test_an_entry_links_to_the_chapters_that_explain_it(monkeypatch):
    place = places.Place(Path('book/chapters/07_x.md'), 'how', 'How')
    monkeypatch.setattr(reference, 'explained',
                        lambda: {'jvp': (place, place)})
    entry = '::: autodiff_mini.jvp\n    options:\n      members: []\n'
    found = reference.linked(entry, Path('book/reference/x.md'))
    chapter = 'chapter 7, [*How*](../chapters/07_x.md#how)'
    assert found.startswith(entry + '\nDefined in [`api/forward.py`](')
    assert found.endswith(f'. Explained in {chapter} and in {chapter}.\n')


def test_a_section_that_is_gone_is_an_error():
    with pytest.raises(LookupError, match='no section chapters/02_.*#gone'):
        reference.section('chapters/02_two_numbers_at_once.md#gone')


# The titles of listings.

LISTING = '''Before.

```python title="autodiff_mini/core.py" hl_lines="2"
{}
```

After.
'''


@pytest.fixture
def titled(tmp_path, monkeypatch):
    """Return a function of a listing of a small module: its page."""
    module = tmp_path / 'autodiff_mini/core.py'
    module.parent.mkdir()
    module.write_text('a = 1\n\n# Two.\nb = 2\nc = 3\n')
    monkeypatch.chdir(tmp_path)
    return lambda text: reference.linked(
        LISTING.format(text), Path('book/chapters/01_page.md'))


def test_the_title_of_a_listing_links_to_its_first_line(titled):
    assert titled('# Two.\nb = 2\nc = 3') == (
        'Before.\n\n[autodiff_mini/core.py](../modules/core.md#L3)'
        '{ .filename }\n\n```python hl_lines="2"\n# Two.\nb = 2\nc = 3\n```'
        '\n\nAfter.\n')
    Path('autodiff_mini/core.py').write_text('\n# Two.\nb = 2\n')
    assert '(../modules/core.md#L2)' in titled('# Two.\nb = 2')


def test_a_listing_that_no_module_has_keeps_its_title(titled):
    for text in 'z = 26', 'no Python':
        assert titled(text) == LISTING.format(text)


def test_every_listing_of_the_book_links_to_its_module():
    for page in weave.chapters(places.ROOT):
        found = reference.linked(page.read_text(), page)
        assert len(re.findall(r'\{ \.filename \}\n\n```', found)) == len(
            weave.woven(page)), page.name
