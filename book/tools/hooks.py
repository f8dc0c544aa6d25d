"""Hooks for mkdocs, for the folder that `pages` made.

ProperDocs also reads them.
"""

import os
from pathlib import Path

from mkdocs.plugins import CombinedEvent, event_priority

from book.tools.searchable import searchable
from book.tools.typesetting import finished

TIMES = {}              # {file on the site: time of its source}

# {number of a chapter: the number that it had until 6 and 12 were added}
OLD = {**{n: n - 1 for n in range(7, 12)}, **{n: n - 2 for n in range(13, 39)}}
MOVED = """<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<title>This chapter has a new number</title>
<link rel="canonical" href="{0}">
<script>location.replace("{0}" + location.hash)</script>
<noscript><meta http-equiv="refresh" content="0; url={0}"></noscript>
<p>This chapter has a new number: <a href="{0}">{0}</a></p>
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
    """Give a page its whole content."""
    page.content = page.whole


on_page_context = CombinedEvent(leave_out, put_back)


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
    """Let the old address of each chapter lead to the new one."""
    for page in sorted(pages.glob('chapters/[0-9][0-9]_*.md')):
        number, _, name = page.stem.partition('_')
        if old := OLD.get(int(number)):
            (site / f'chapters/{old:02}_{name}.html').write_text(
                MOVED.format(f'{page.stem}.html'))
