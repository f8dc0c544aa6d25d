"""Pages, cells, exercises, and the tools that make them."""
