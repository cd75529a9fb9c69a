"""ferret's explanations: the tokens of a text, and a number for each."""

from typing import Any

import numpy as np

from faithscope.explanations.base import Explanations
from faithscope.readers.shared.rows import rows_of_objects
from faithscope.readers.shared.tokens import highlighted
from faithscope.readers.shared.wanted import Wanted


def recognizes(thing: Any) -> bool:
    """Whether this is one ``Explanation`` of ferret, or a list of them."""
    return bool(rows_of_objects(thing, "tokens", "scores", "explainer"))


def read(thing: Any, wanted: Wanted) -> Explanations:
    """Highlights of the largest tokens."""
    rows = rows_of_objects(thing, "tokens", "scores", "explainer")
    wanted.refuse_class("these explanations are of one class")
    return highlighted([row.tokens for row in rows], [np.asarray(row.scores) for row in rows], wanted)
