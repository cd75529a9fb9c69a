"""Readers of tree models: one file per library, which imports none of them."""

from faithscope.explainers.reason.readers.reading import read

__all__ = ["read"]
