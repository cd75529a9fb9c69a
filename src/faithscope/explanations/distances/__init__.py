"""Distances between rows: metrics, points, and who lies within a distance."""
