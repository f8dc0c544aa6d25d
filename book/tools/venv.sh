#!/bin/sh
# Create .venv, unless it exists and works, with the first Python that is new
# enough.  If there is none, say what to do.
set -eu

fail() { echo "$1" >&2; exit 1; }

# A name can exist and still not run, such as a version manager's shim.
runs() { "$1" -c "$2" >/dev/null 2>&1; }
new='import sys; sys.exit(sys.version_info < (3, 11))'

.venv/bin/python -m pip --version >/dev/null 2>&1 && exit 0

found=''
for python in ${PYTHON:-python3 python3.14 python3.13 python3.12 \
                        python3.11 python}; do
    if runs "$python" "$new"; then
        found=$python
        runs "$python" 'import venv, ensurepip' || continue
        echo "Setting up .venv (once; it takes about a minute) ..."
        exec "$python" -m venv --clear .venv
    fi
done

if [ -n "$found" ]; then
    fail "$found has no venv and ensurepip modules. Install them (on Debian,\
 'apt install python3-venv'), or choose another Python: make PYTHON=..."
fi
fail "The book needs Python 3.11 or newer, but there is none\
${PYTHON:+ at $PYTHON}. Install it, or pass its path: make PYTHON=..."
