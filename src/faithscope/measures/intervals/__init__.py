"""Intervals: what the sample leaves open, and sampling error."""
