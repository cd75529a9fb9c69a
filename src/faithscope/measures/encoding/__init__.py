"""Encoding: what the choice of an explanation says beyond it."""
