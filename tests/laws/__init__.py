"""Laws for random programs: two ways to one result agree."""
