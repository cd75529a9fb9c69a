"""Decoders, and how well they decode rows that they have not seen."""
