"""`make next` tries the exercises; `make test` leaves them alone."""

collect_ignore = ['exercises']
