"""`make bench` runs these; `make test` leaves them alone."""

collect_ignore_glob = ['*.py']
