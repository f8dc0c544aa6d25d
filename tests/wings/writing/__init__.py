"""Arrays that change."""
