"""Hooks for mkdocs, for the folder that `pages` made.

ProperDocs also reads them.
"""

import os
from pathlib import Path

from book.tools.typesetting import finished

TIMES = {}              # {file on the site: time of its source}


def on_files(files, config):
    """Note the times of the files that are about to be read."""
    TIMES.update((file.abs_dest_path, os.path.getmtime(file.abs_src_path))
                 for file in files if file.abs_src_path)


def on_page_content(html, **_):
    """Finish the HTML of a page."""
    return finished(html)


def on_post_build(config):
    """Give each file of the site the time of its source.

    A source that has changed since it was read is then newer, so it is read
    again. Without an address, remove the sitemap, which would be empty.
    """
    for path, read in TIMES.items():
        if os.path.exists(path):
            os.utime(path, (read, read))
    if not config.site_url:
        for name in 'sitemap.xml', 'sitemap.xml.gz':
            Path(config.site_dir, name).unlink(missing_ok=True)
