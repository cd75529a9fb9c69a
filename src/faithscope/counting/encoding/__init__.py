"""Encoding: sums over the rows that were given an explanation and over the others that it covers."""
