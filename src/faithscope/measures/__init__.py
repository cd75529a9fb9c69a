"""Counts in, answers out."""
