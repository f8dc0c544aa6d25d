"""`make next` and `make watch` try the exercises; `make test` does not."""

collect_ignore = ['exercises']
