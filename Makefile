# The commands of the project; `make help` lists them.
#
# Everything is installed into .venv from requirements.lock. The machine needs
# only make, Python >= 3.11, and access to a package index.

BIN := .venv/bin
PYTEST := $(BIN)/python -m pytest --no-header
INSTALL := $(BIN)/python -m pip install -qq --disable-pip-version-check \
           -c requirements.lock

# Two processes: one that runs out of tests takes some from the other.
HANDS := -n 2 --dist worksteal

# `make test-all` runs one in SHARE of the tests that `make test` leaves out.
SHARE ?= 1

# `make test` runs all tests, or with ROW those of a file or a row.
WHICH := $(if $(ROW),$(if $(findstring /,$(ROW)),,--row) $(ROW),$(HANDS))

# This setting, in .venv only, makes a click on Markdown open a notebook.
LAB_SETTINGS := .venv/share/jupyter/lab/settings/overrides.json

# If this were set, every process would compile all modules again.
unexport PYTHONDONTWRITEBYTECODE

# Keep Material from printing an advertisement at every build.
export NO_MKDOCS_2_WARNING := 1

.PHONY: help book pages pdf publish test check test-all test-jax test-torch \
        mutants test-site watch \
        next hint skip reset progress serve lab weave bench lock clean \
        lie-test lint runtime test-oldest test-package test-commands
.DEFAULT_GOAL := help

help:   ## list the commands
	@sed -n 's/^\([a-z-]*\): .*## /\1	/p' Makefile | expand -t 15

book: pages   ## run every chapter and build the site
	@$(BIN)/python -m mkdocs build --strict
	@echo
	@echo "The book is built. Open site/index.html in a browser:"
	@echo "    file://$(CURDIR)/site/index.html"
	@echo "or run 'make serve', which rebuilds as you edit."

pages: .venv/ready   ## run every chapter, and write a folder of Markdown
	@$(BIN)/python -m book.tools.pages

runtime: .venv/ready   ## download Python for the browser, so that pages run offline
	@$(BIN)/python -m book.tools.in_page

# The four addresses in mkdocs.yml come from here or from the environment.
publish:   ## build the site for SITE_URL=https://..., copy it TO=host:folder
	@test -n "$(SITE_URL)" || { \
	  echo "Set the address where the book will be read:"; \
	  echo "    make publish SITE_URL=https://example.org/book/"; exit 1; }
	@$(MAKE) --no-print-directory $(if $(PDF),pdf,book)
	@$(if $(PDF),cp book.pdf site/)
	@$(PYTEST) -q tests/book/test_site.py::test_every_link_works
	@$(BIN)/python -m book.tools.online $(SITE_URL)
	@touch site/.nojekyll   # or GitHub leaves out files that begin with _
	@if [ -n "$(TO)" ]; then rsync -rt --delete site/ $(TO); else \
	  echo "Now copy site/ to $(SITE_URL). Any static host will do."; \
	  echo "With TO=user@host:folder, rsync copies it for you."; fi

test: .venv/ready   ## run the tests, or some: ROW=tanh, ROW=tests/interpreters/test_vmap.py
	@$(PYTEST) $(WHICH)

check: .venv/ready   ## weave and test what has changed, in about ten seconds
	@$(BIN)/python -m tests.commands.check

test-all: test   ## run the rest, too: every program under every transformation
	@$(PYTEST) $(HANDS) --all --share $(SHARE) --examples 5 \
	  -m 'rest or hypothesis'

# The tests that depend on NumPy's types, values, and messages.
test-oldest: .venv/oldest/ready   ## run tests with the oldest NumPy allowed
	@.venv/oldest/bin/python -m pytest --no-header $(HANDS) autodiff_mini \
	  tests/wings/more_numpy tests/interpreters/test_abstract.py \
	  tests/interpreters/test_lowering.py tests/primitives/test_numpy_api.py \
	  tests/wings/writing/test_patch.py tests/primitives/test_programs.py \
	  tests/wings/writing/test_writing.py

WITH_JAX = $(PYTEST) $(HANDS) --all --share $(SHARE) -k jax \
  tests/jax/test_jax_*.py tests/wings/applications/test_ode.py

# Run with the newest JAX for this Python, which is in .venv, and with 0.10.2.
# No program runs often enough to be worth optimizing.
test-jax: export JAX_DISABLE_MOST_OPTIMIZATIONS := 1
test-jax: .venv/jax   ## compare the library with real JAX, new and old
	@$(BIN)/python -c 'import jax; print("With JAX", jax.__version__)'
	@$(WITH_JAX)
	@if $(BIN)/python -c 'import jax; exit(jax.__version__ != "0.10.2")'; then \
	  echo "Newer versions of JAX need Python 3.12, so they are skipped."; \
	elif $(MAKE) --no-print-directory .venv/jax-0.10.2; then \
	  echo "With JAX 0.10.2"; \
	  PYTHONPATH=$(CURDIR)/.venv/jax-0.10.2 $(WITH_JAX); \
	else \
	  echo "JAX 0.10.2 cannot be installed with this Python, so it is skipped."; \
	fi

# The version of PyTorch that runs the puzzle. It can take gigabytes, so it has
# a folder of its own, and CI doesn't install it.
TORCH ?= 2.13.0

test-torch: .venv/torch-$(TORCH)   ## run the puzzle in PyTorch, or in TORCH=2.15.0
	@echo "With PyTorch $(TORCH)"
	@PYTHONPATH=$(CURDIR)/.venv/torch-$(TORCH) $(PYTEST) --all \
	  tests/jax/test_torch.py

# The modules have no annotations, so stubtest compares the public names.
lint: .venv/lint   ## check types and style with pyright, mypy, and ruff
	@$(BIN)/ruff check -q autodiff_mini tests/api/test_user_programs.py
	@$(BIN)/isort -c -q autodiff_mini tests/api/test_user_programs.py
	@$(BIN)/pyright --pythonpath $(BIN)/python --level error
	@$(BIN)/mypy
	@$(BIN)/stubtest autodiff_mini --ignore-missing-stub \
	  --mypy-config-file pyproject.toml --allowlist tests/support/stubtest.txt

# PyTorch is in the table once `make test-torch` has installed it.
lie-test: .venv/ready   ## print who loses a rule, or for SYSTEM=jax DEPTH=2
	@PYTHONPATH=$(CURDIR)/.venv/torch-$(TORCH) $(BIN)/python \
	  -m tests.lie_test $(SYSTEM) $(if $(DEPTH),--depth $(DEPTH))

mutants: .venv/ready   ## plant wrong rules and list those that no test catches
	@$(BIN)/python -m tests.commands.mutants $(ROW)

# Test the site without an address, so that all its links are relative.
test-site: export SITE_URL :=
test-site: .venv/ready .venv/browser   ## open every page of the site in a browser
	@$(MAKE) --no-print-directory runtime || \
	  echo "There is no Python for the browser, so no page runs in it."
	@$(MAKE) --no-print-directory book
	@$(PYTEST) tests/book/test_print.py & print=$$!; \
	$(PYTEST) $(HANDS) --all tests/book/test_site.py \
	  tests/book/test_hooks.py tests/book/test_questions.py \
	  tests/book/test_theme.py; site=$$?; \
	wait $$print && exit $$site
	@$(PYTEST) $(HANDS) $(if $(filter 1,$(SHARE)),--all) \
	  tests/book/test_in_page.py

pdf: book .venv/browser   ## print the whole book into book.pdf
	@$(BIN)/python -m book.tools.pdf

test-package: .venv/package   ## build the wheel and the sdist, and try both
	@$(PYTEST) --all tests/house/test_package.py

test-commands: .venv/lab .venv/browser   ## start every command of the README
	@$(PYTEST) $(HANDS) --all tests/house/test_commands.py

watch: .venv/ready   ## do the exercises, all or starting at E=02_1 or chapter E=02
	@$(BIN)/python -m book.tools.watch $(E)

next:       ## check the next exercise, or E=02_1
hint:       ## print a hint for it, and another one each time
skip:       ## skip to another exercise
reset:      ## restore an exercise's file
progress:   ## list the exercises and mark the solved ones
next hint skip reset progress: .venv/ready
	@$(BIN)/python -m book.tools.runner $@ $(E)

serve: PORT ?= 8000
serve: .venv/ready   ## serve the book and rebuild it as you edit; PORT=9000
	@$(BIN)/python -m book.tools.pages $(PORT)

# Jupyter refuses to run as root without this flag.
lab: ROOT_FLAG = $(if $(filter 0,$(shell id -u)),--allow-root)
lab: DIR ?= notebooks
lab: .venv/lab   ## open the book as notebooks; RESET=04 brings a chapter back
	@test -z "$(ROOT_FLAG)" || echo "You are root, so every cell runs as root."
	@rm -f $(LAB_SETTINGS)
	@if [ "$(DIR)" = notebooks ]; then \
	  $(BIN)/python -m book.tools.lab $(RESET); else \
	  $(BIN)/jupytext-config --settings-file $(LAB_SETTINGS) \
	    set-default-viewer markdown; fi
	@$(BIN)/python -m jupyterlab $(ROOT_FLAG) \
	  --LabApp.default_url=/lab/tree/$(DIR) $(FLAGS)

weave: .venv/ready   ## copy the modules' code into the chapters
	@$(BIN)/python -m book.tools.weave
	@$(BIN)/python -m book.tools.grid

bench: .venv/newest/ready   ## compare with autograd, JAX, and torch if installed
	@.venv/newest/bin/python -m tests.benchmarks --write

# Without --upgrade, uv keeps every version that still fits.
lock: .venv/uv   ## update the versions in requirements.lock
	@$(BIN)/uv pip compile -q --universal --python-version 3.11 \
	  --fork-strategy fewest --all-extras --no-annotate \
	  --custom-compile-command "make lock" \
	  pyproject.toml -o requirements.lock

clean:   ## remove what these commands made, but keep your exercises and notebooks
	rm -rf .venv .cache .hypothesis .pytest_cache pages site book.pdf
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

EXTRAS := book,test
.venv/ready: pyproject.toml requirements.lock
	@sh book/tools/venv.sh
	@$(INSTALL) -e '.[$(EXTRAS)]'
	@touch $@

.venv/jax .venv/browser .venv/lab .venv/lint .venv/package: .venv/%: .venv/ready
	@echo "Installing what is needed for $* ..."
	@$(INSTALL) -e '.[$*]'
	@touch $@

# Everything that CI needs in .venv, installed in one go.
.PHONY: everything
everything:
	@$(MAKE) --no-print-directory -B .venv/ready \
	  EXTRAS=book,test,lint,jax,browser,package,lab
	@touch .venv/lint .venv/jax .venv/browser .venv/package .venv/lab

# PYTHONPATH puts this folder before the newest JAX.
.venv/jax-0.10.2: .venv/jax
	@echo "Installing JAX 0.10.2 ..."
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps \
	  --target $@ jax==0.10.2 jaxlib==0.10.2
	@touch $@

# A new lock file doesn't install PyTorch again.
.venv/torch-$(TORCH): | .venv/ready
	@echo "Installing PyTorch $(TORCH) ..."
	@$(BIN)/python -m pip install -qq --disable-pip-version-check \
	  --target $@ torch==$(TORCH)
	@touch $@

# The newest Python here, because the newest JAX may need it.
.venv/newest/ready: .venv/ready
	@for python in python3.14 python3.13 python3.12 $(BIN)/python; do \
	  $$python -c 'import venv, ensurepip' 2>/dev/null && break; \
	done; $$python -m venv --clear .venv/newest
	@.venv/newest/bin/python -m pip install -qq -c requirements.lock \
	  --disable-pip-version-check -e '.[bench]'
	@touch $@

# The oldest NumPy that pyproject.toml allows, and then the tests' packages.
.venv/oldest/ready: .venv/ready
	@echo "Installing the oldest NumPy allowed ..."
	@$(BIN)/python -m venv --clear .venv/oldest
	@grep -v '^numpy==' requirements.lock > .venv/oldest/rest
	@.venv/oldest/bin/python -m pip install -qq -c .venv/oldest/rest \
	  $$(sed -n 's/.*"numpy>=\(.*\)".*/numpy==\1/p' pyproject.toml) -e '.[test]'
	@touch $@

.venv/uv: .venv/ready
	@$(INSTALL) uv
	@touch $@
