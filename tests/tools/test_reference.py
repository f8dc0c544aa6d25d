"""The reference says what `help` says, and leads to the book and back."""

import inspect
import re

import griffe
import pytest

import autodiff_mini as ad
from book.tools import reference, weave
from tests.wings import needs

BOOK = reference.ROOT / 'book'
TEXT = (BOOK / reference.PAGE).read_text()
ENTRIES = re.findall(r'^::: autodiff_mini\.(\w+)', TEXT, re.MULTILINE)


@pytest.fixture(scope='module')
def package():
    """Returns the library as mkdocstrings reads it."""
    return griffe.load('autodiff_mini', search_paths=[reference.ROOT],
                       extensions=griffe.load_extensions(
                           'book.tools.reference'))


@pytest.mark.parametrize('name', [
    name for name in ENTRIES if inspect.isfunction(getattr(ad, name))])
def test_the_reference_says_what_help_says(package, name):
    found, function = package[name], getattr(ad, name)
    parameters = inspect.signature(function).parameters
    assert inspect.cleandoc(found.docstring.value) == inspect.getdoc(function)
    assert [(x.name, x.annotation) for x in found.parameters] == [
        (x, None) for x in parameters]


@needs('applications')
@needs('notebook')
def test_every_entry_of_the_reference_leads_to_where_it_is_built():
    found = reference.with_places(TEXT)
    assert len(re.findall('^Built in ', found, re.MULTILINE)) == len(ENTRIES)
    assert ('::: autodiff_mini.jit\n    options:\n      members: [source]\n\n'
            'Built in [chapter 14, *What users call*]'
            '(chapters/14_from_program_to_program.md#what-users-call).\n'
            ) in found


@needs('applications')
@needs('notebook')
def test_every_listing_of_what_users_call_leads_to_the_reference():
    pages = {page: reference.with_entries(page.read_text(), '../')
             for page in weave.chapters(reference.ROOT)}
    found = {name for text in pages.values() for name in re.findall(
        r'\]\(\.\./reference\.md#autodiff_mini\.(\w+)\)', text)}
    assert found == {*ENTRIES} - {'float0'}     # which has no listing alone
    chapter = BOOK / 'chapters' / '10_backwards.md'
    assert ('```\n\nIn the reference: [`grad`](../reference.md'
            '#autodiff_mini.grad), [`value_and_grad`]') in pages[chapter]


def test_a_heading_in_a_listing_is_no_heading(tmp_path):
    page = tmp_path / 'page.md'
    page.write_text('# Title\n\n## A *section*\n\n```python\n## no\n```\n\nx')
    assert reference.heading_above(page, 9) == 'A section'
