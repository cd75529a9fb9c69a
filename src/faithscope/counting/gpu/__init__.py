"""Pairs within a distance, counted on a GPU where there is one."""
