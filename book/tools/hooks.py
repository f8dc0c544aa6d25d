"""Hooks for mkdocs, for the folder that `pages` made.

ProperDocs also reads them.
"""

import os
import re
from copy import copy
from itertools import chain, pairwise
from pathlib import Path
from posixpath import dirname, relpath

from mkdocs.plugins import CombinedEvent, event_priority

from book.tools.searchable import searchable
from book.tools.typesetting import finished

TIMES = {}              # {file on the site: time of its source}
MODULES = 'modules/index.md'     # the page that lists the modules, in order
SIDEBARS = re.compile(
    r'(?s)(?<=data-md-component="sidebar").*(?=<div class="md-content")')

# {number of a chapter of Book One: the number that it had until 6 and 12
# were added}
OLD = {**{n: n - 1 for n in range(7, 12)}, **{n: n - 2 for n in range(13, 20)}}
# {chapter of Book Two: the chapters of the edition before that it tells}
EARLIER = {
    '20_at_the_edge': ['20_at_the_edge', '22_errors_that_name_your_function'],
    '21_numbers_with_types': ['21_numbers_with_types'],
    '22_rules_in_the_wild': ['23_zeros', '24_rules_in_the_wild'],
    '24_whose_memory_is_it': ['25_whose_memory_is_it'],
    '25_a_row_of_your_own': ['26_a_row_of_your_own'],
    '26_numbers_that_survive': ['28_numbers_that_survive'],
    '27_solving': ['29_solving'],
    '28_flowing': ['30_flowing'],
    '29_a_planets_orbit': ['31_a_planets_orbit', '31_likelihoods'],
    '30_who_answers': ['27_what_numpy_asks', '32_arrays_elsewhere'],
    '31_the_same_bits': ['33_nothing_twice', '34_reusing_buffers'],
    '32_once_is_enough': ['35_loops_taken_apart', '36_single_numbers',
                          '37_prepared_operations'],
    '33_reading_jax': ['38_reading_jax']}
# {folder of the library: the one it was in until the listing was made}
FORMER = {
    'core': '.', 'calls': 'higher_order',
    **{f'wings/{name}': name
       for name in ('applications', 'fast', 'fused', 'notebook')},
    'wings/array_libraries': 'elsewhere', 'wings/debugging': 'tools',
    'wings/messages': 'tools', 'wings/more_calls': 'more/calls',
    'wings/more_numpy': 'more', 'wings/writing': 'more',
    'wings/writing/patch': 'more/patch'}
# {module: its former name, with a folder if that isn't the one in FORMER}
RENAMED = {
    'trace': 'core', 'types': 'arrays', 'trees': 'pytree',
    'generated': 'source', 'table': './numpy_api',
    'reshaping': 'numpy_functions/shapes', 'arguments': 'more/arguments',
    'parts': 'more/parts', 'more_borrowed': 'borrowed',
    'more_composed': 'composed', 'more_elementwise': 'rows',
    'interpolation': 'tables', 'scipy_special': 'special',
    'assignment': 'writing', 'traced_numpy': 'names',
    'pullback_of_pullback': 'pulling_twice', 'jit_methods': 'tools/methods',
    'fused_compiler': 'compiler', 'fused_emitter': 'emitter',
    'loop_kernels': 'loops', 'short_road': 'short',
    'equal_programs': 'twins', 'wrong_calls': 'calls',
    'rule_results': 'rules', 'argument_checks': 'checks',
    'name_advice': 'names', 'numpy_advice': 'askers',
    'scipy_advice': 'instead', 'method_advice': 'habits',
    'lambda_names': 'lambdas', 'tracing_warnings': 'slips',
    'nans': 'debugging', '_until': 'notebook/drafting'}
MOVED = """<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<title>This page has a new address</title>
<link rel="canonical" href="{0}">
<script>location.replace("{0}" + location.hash)</script>
<noscript><meta http-equiv="refresh" content="0; url={0}"></noscript>
<p>This page has a new address: <a href="{0}">{0}</a></p>
"""


def on_files(files, config):
    """Note the times of the files that are about to be read."""
    TIMES.update((file.abs_dest_path, os.path.getmtime(file.abs_src_path))
                 for file in files if file.abs_src_path)


def on_page_content(html, **_):
    """Finish the HTML of a page."""
    return finished(html)


# The search reads a page between these two.

@event_priority(100)
def leave_out(context, page, **_):
    """Leave out of a page what a search shouldn't find."""
    page.whole = page.content
    page.content = searchable(page.content)


@event_priority(-100)
def put_back(context, page, **_):
    """Give a page its whole content, and a module's page its sidebar."""
    page.content = page.whole
    context['nav'] = getattr(page, 'sidebar', context['nav'])


on_page_context = CombinedEvent(leave_out, put_back)


def on_nav(nav, files, **_):
    """Put the pages of the modules in order, each into its folder.

    A folder is in the sidebars of its own pages only.
    """
    index = files.get_file_from_path(MODULES)
    if not index:
        return
    home, folders = dirname(MODULES), {}
    for name in re.findall(r'\]\(([\w/]+\.md)\)', index.content_string):
        folders.setdefault(dirname(name), []).append(
            files.get_file_from_path(f'{home}/{name}').page)
    for folder, pages in folders.items():
        unfold(nav, index.page, f'{folder or "autodiff_mini"}/', pages)
    pages = [*chain.from_iterable(folders.values())]
    for page in pages:
        page.previous_page = index.page
    for before, after in pairwise(pages):
        before.next_page, after.previous_page = after, before


def unfold(nav, index, title, pages):
    """Give pages a sidebar that has them below the index, in a section."""
    section = copy(index.parent)
    section.title, section.children = title, pages
    sidebar, old, new = copy(nav), index, section
    for page in pages:
        page.parent, page.sidebar = section, sidebar
    while old.parent:
        outer = copy(old.parent)
        at = outer.children.index(old)
        outer.children = [*outer.children[:at], *(
            [old] if old is index else []), new, *outer.children[at + 1:]]
        new.parent, old, new = outer, old.parent, outer
    sidebar.items = [new if item is old else item for item in nav.items]


def on_post_page(output, **_):
    """Remove the indentation of the sidebars, most of their bytes."""
    return SIDEBARS.sub(lambda part: re.sub(r'\s*\n\s*', '\n', part[0]),
                        output, count=1)


def on_post_build(config):
    """Give each file of the site the time of its source.

    A source that has changed since it was read is then newer, so it is read
    again. Without an address, remove the sitemap, which would be empty. Add
    the addresses that chapters had.
    """
    for path, read in TIMES.items():
        if os.path.exists(path):
            os.utime(path, (read, read))
    if not config.site_url:
        for name in 'sitemap.xml', 'sitemap.xml.gz':
            Path(config.site_dir, name).unlink(missing_ok=True)
    keep_addresses(Path(config.docs_dir), Path(config.site_dir))


def keep_addresses(pages, site):
    """Let the old addresses of chapters and modules lead to the new ones."""
    for page in sorted(pages.glob('chapters/[0-9][0-9]_*.md')):
        for old in former_chapters(page.stem):
            (site / f'chapters/{old}.html').write_text(
                MOVED.format(f'{page.stem}.html'))
    for page in sorted(pages.glob('modules/**/*.md')):
        new = page.relative_to(pages / 'modules').with_suffix('.html')
        old = former(new)
        path = site / 'modules' / old
        if old != new and not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(MOVED.format(relpath(new, old.parent)))


def former_chapters(stem):
    """Return the addresses that a chapter had, without their suffix."""
    number, _, name = stem.partition('_')
    if stem in EARLIER:
        names = [earlier.partition('_') for earlier in EARLIER[stem]]
        return [f'{int(n) - back:02}_{name}' for n, _, name in names
                for back in (0, 2) if f'{int(n) - back:02}_{name}' != stem]
    return [f'{OLD[int(number)]:02}_{name}'] if int(number) in OLD else []


def former(page):
    """Return the address that the page of a module had, as a path."""
    name = RENAMED.get(page.stem, page.stem)
    if '/' in name:
        return Path(f'{name}.html')
    return Path(FORMER.get(page.parent.as_posix(), page.parent),
                f'{name}.html')
