"""Populations of sufficiency: on which inputs does an explanation have to hold?

``dir(faithscope.populations)`` lists those there are. `Population` is the base of all, and `OwnDraws` is what `drawn`
makes of draws of one's own.
"""

from faithscope.populations.base import Draws as Draws
from faithscope.populations.base import Population, RealRows
from faithscope.populations.base import to_population as to_population
from faithscope.populations.own import OwnDraws, drawn
from faithscope.populations.own import pairs_to_ask as pairs_to_ask
from faithscope.populations.training import Conditional, Perturbed, Product

__all__ = ["Conditional", "OwnDraws", "Perturbed", "Population", "Product", "RealRows", "drawn"]


def __dir__() -> list[str]:
    return [name for name in __all__ if name not in ("OwnDraws", "Population")]
