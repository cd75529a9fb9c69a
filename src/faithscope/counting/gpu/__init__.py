"""Pairs within a distance, counted on a GPU if there is one."""
