"""What the package says of itself that depends on where the book is put.

`mkdocs.yml` says where that is, or nobody does.
"""

import os
import re
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface

SETTING = re.compile(r"^ *(\w+)_url: !ENV \[(\w+), '(.*?)'\]", re.MULTILINE)
NAMES = {'site': 'Documentation', 'repo': 'Source', 'report': 'Issues'}
PICTURE = re.compile(r'!\[([^]]*)\]\(book/([^)]*)\)\n*')
LINK = re.compile(r'\[([^]]*)\]\((?!https?:)[^)]*\)')


def addresses(text):
    """Returns {name: address} of what a mkdocs.yml, or its variables, say."""
    found = {name: os.environ.get(variable, default)
             for name, variable, default in SETTING.findall(text)}
    return {name: address for name, address in found.items() if address}


def readme(text, site):
    """Returns the README for a page elsewhere: whole addresses, or none."""
    pictures = rf'![\1]({site.rstrip("/")}/\2)\n\n' if site else ''
    return LINK.sub(r'\1', PICTURE.sub(pictures, text))


class CustomMetadataHook(MetadataHookInterface):
    """Hatchling's name for it."""

    def update(self, metadata):
        root = Path(self.root)
        found = addresses((root / 'mkdocs.yml').read_text('utf-8'))
        metadata['urls'] = {NAMES[name]: address
                            for name, address in found.items()}
        metadata['readme'] = {
            'content-type': 'text/markdown',
            'text': readme((root / 'README.md').read_text('utf-8'),
                           found.get('site', ''))}
