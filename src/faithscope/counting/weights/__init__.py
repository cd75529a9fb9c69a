"""Weighted rows: thinned, or tilted by label."""
