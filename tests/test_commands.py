"""The commands of the Makefile: each of their shell lines parses."""

import os
import re
import subprocess

import pytest

from book.tools.places import ROOT

MAKEFILE = (ROOT / 'Makefile').read_text()
TARGETS = sorted({target for line in re.findall(
    r'(?m)^(?!\.PHONY)([\w./ -]+):(?!=)', MAKEFILE) for target in line.split()})
OPTIONS = {
    'SITE_URL': 'https://example.org/book/', 'PDF': '1',
    'TO': 'user@host:folder', 'ROW': 'tests/test_vmap.py', 'SHARE': '30',
    'E': '02_1', 'PORT': '9000', 'FLAGS': '--port 9000'}
ONLY_PARSES = '''#!/bin/sh
if [ "$2" = 'id -u' ]; then echo $USER_ID; else sh -n -c "$2"; fi
'''


def environment(**variables):
    """Return the variables for a `make` that `make test` does not affect."""
    return {name: value for name, value in os.environ.items()
            if name not in {'MAKEFLAGS', 'MAKELEVEL', 'MFLAGS', *OPTIONS}
            } | variables


@pytest.mark.parametrize('options', [{}, OPTIONS], ids=['bare', 'options'])
@pytest.mark.parametrize('user', [0, 1000])
def test_every_shell_line_parses(options, user, tmp_path):
    """`make` calls a shell that runs nothing, with all lines of all targets.

    It broke: `make lab` had a comma inside $(if ...), so that only a part of
    a message was left, and its quotation mark.
    """
    shell = tmp_path / 'shell'
    shell.write_text(ONLY_PARSES)
    shell.chmod(0o755)
    done = subprocess.run(
        ['make', '--always-make', '--keep-going', f'SHELL={shell}', *TARGETS],
        cwd=ROOT, env=environment(USER_ID=str(user), **options),
        text=True, capture_output=True)
    assert done.returncode == 0 and done.stderr == '', done.stderr
