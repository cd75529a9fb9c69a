"""What `explain_with_precision` gives: anchors, and how precise and how general each is."""

from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from faithscope.explanations.base import Explanations

Kind = TypeVar("Kind", bound=Explanations)


class Precise(NamedTuple, Generic[Kind]):
    """Anchors with their precision and coverage, which also unpack in this order.

    Attributes
    ----------
    explanations : Rules or Highlights
    precision : (n,) array
        Share of draws, which the search has not seen, that keep the prediction; clearly below the threshold if no
        anchor was found that reaches it.
    coverage : (n,) array
        Share of rows that the anchor covers: of the training rows for tables, of the texts explained for texts.
    """

    explanations: Kind
    precision: NDArray[np.float64]
    coverage: NDArray[np.float64]
