"""Checks of derivatives, costs, and the first NaN."""
