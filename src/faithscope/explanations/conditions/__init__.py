"""Conditions on features: one condition, conjunctions, the paths of a tree, and the grammar of rules."""
