"""Comparing: populations, explainers on the same rows, and intervals of differences."""
