"""What mkdocs needs to know of the folder that `pages` has made.

ProperDocs reads this, too; an engine that does not builds the same pages.
"""

import os
from pathlib import Path

TIMES = {}              # {file on the site: time of what it is made of}


def on_files(files, config):
    """Notes how old the files are that are about to be read."""
    TIMES.update((file.abs_dest_path, os.path.getmtime(file.abs_src_path))
                 for file in files if file.abs_src_path)


def on_post_build(config):
    """Make a file of the site as old as what it is made of.

    What has changed since it was read is newer, then, and is read again.
    Nor is there a sitemap that lists nothing.
    """
    for path, read in TIMES.items():
        if os.path.exists(path):
            os.utime(path, (read, read))
    if not config.site_url:
        for name in 'sitemap.xml', 'sitemap.xml.gz':
            Path(config.site_dir, name).unlink(missing_ok=True)
