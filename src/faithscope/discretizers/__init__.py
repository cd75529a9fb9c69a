"""Discretizers, the paper's ψ: explanations in, fewer and coarser explanations out.

``dir(faithscope.discretizers)`` lists those to choose from. `Discretizer` is the base of all, and `Chain` is what
``first | second`` makes.
"""

from faithscope.discretizers.base import Chain, Discretizer, Original
from faithscope.discretizers.choice import Discretize as Discretize
from faithscope.discretizers.choice import discretize as discretize
from faithscope.discretizers.choice import from_word as from_word
from faithscope.discretizers.choice import to_discretizer as to_discretizer
from faithscope.discretizers.choice import usual as usual
from faithscope.discretizers.counterfactuals import Delta, DeltaSign, Modified
from faithscope.discretizers.grouped import Grouped
from faithscope.discretizers.importances import Floor, Rank, Sign, SignOfTop, TopFeatures, Truncate
from faithscope.discretizers.reason_codes import ReasonCodes
from faithscope.discretizers.reasons.clusters import Clusters
from faithscope.discretizers.reasons.codebook import Codebook
from faithscope.discretizers.reasons.phrases import CommonPhrases, Phrases
from faithscope.discretizers.reasons.template import Template
from faithscope.discretizers.regions import Pool, TopRegions

__all__ = [
    "Chain",
    "Clusters",
    "Codebook",
    "CommonPhrases",
    "Delta",
    "DeltaSign",
    "Discretizer",
    "Floor",
    "Grouped",
    "Modified",
    "Original",
    "Phrases",
    "Pool",
    "Rank",
    "ReasonCodes",
    "Sign",
    "SignOfTop",
    "Template",
    "TopFeatures",
    "TopRegions",
    "Truncate",
]


def __dir__() -> list[str]:
    return [name for name in __all__ if name not in ("Chain", "Discretizer")]
