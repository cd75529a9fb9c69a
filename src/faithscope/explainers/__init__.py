"""Explanation methods: each has explain(X) -> Explanations, over a whole batch, the same for a row in any batch."""

from faithscope.explainers.baselines import Constant, Random, Unique
from faithscope.explainers.neighbors import NearestNeighbors
from faithscope.explainers.text import AllWords, FirstWord, TopCoefficient
from faithscope.explainers.tree import TreePath

__all__ = ["AllWords", "Constant", "FirstWord", "NearestNeighbors", "Random", "TopCoefficient", "TreePath", "Unique"]
