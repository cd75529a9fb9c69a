"""Counts that add up over time, and what they say at any moment."""
