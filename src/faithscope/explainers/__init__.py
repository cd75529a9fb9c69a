"""Explainers: each has explain(X) -> Explanations for a batch of rows, and a row gets the same one in any batch."""

from typing import TYPE_CHECKING

from faithscope.lazily import EXPLAINERS, loads

if TYPE_CHECKING:
    from faithscope.explainers.anchors import Anchors, TextAnchors
    from faithscope.explainers.baselines import Constant, Random, Unique
    from faithscope.explainers.counterfactual import Counterfactual
    from faithscope.explainers.dice import Dice
    from faithscope.explainers.gradient import Gradient
    from faithscope.explainers.lime import Lime
    from faithscope.explainers.neighbors import NearestNeighbors
    from faithscope.explainers.reason import SufficientReason
    from faithscope.explainers.shap import Shap
    from faithscope.explainers.text import AllWords, FirstWord, TopCoefficient
    from faithscope.explainers.tree import TreePath

__all__ = [
    "AllWords",
    "Anchors",
    "Constant",
    "Counterfactual",
    "Dice",
    "FirstWord",
    "Gradient",
    "Lime",
    "NearestNeighbors",
    "Random",
    "Shap",
    "SufficientReason",
    "TextAnchors",
    "TopCoefficient",
    "TreePath",
    "Unique",
]


def __dir__() -> list[str]:
    return __all__


__getattr__ = loads(__name__, EXPLAINERS)
