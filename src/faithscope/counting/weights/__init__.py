"""Weighted rows, thinned."""
