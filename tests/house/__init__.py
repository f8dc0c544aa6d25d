"""The package as a whole: layers, seams, wings, commands."""
