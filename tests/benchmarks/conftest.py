"""`make bench` runs these files; `make test` does not."""

collect_ignore_glob = ['*.py']
