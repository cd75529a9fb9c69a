"""Conditions on features: one condition, and conjunctions."""
