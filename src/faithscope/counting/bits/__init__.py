"""Rows as bitmaps: whom explanations cover, counted 64 rows at a time."""
