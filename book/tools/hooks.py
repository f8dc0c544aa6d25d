"""Hooks for mkdocs, for the folder that `pages` made.

ProperDocs also reads them. An engine that doesn't builds the same pages.
"""

import os
from pathlib import Path

TIMES = {}              # {file on the site: time of its source}


def on_files(files, config):
    """Note the times of the files that are about to be read."""
    TIMES.update((file.abs_dest_path, os.path.getmtime(file.abs_src_path))
                 for file in files if file.abs_src_path)


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
