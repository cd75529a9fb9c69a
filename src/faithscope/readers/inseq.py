"""inseq's attributions of generated texts: tokens of the source, and numbers for every generated token."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput
from faithscope.explanations.base import Explanations
from faithscope.inputs.tensors import to_host
from faithscope.readers.shared.rows import rows_of_objects
from faithscope.readers.shared.tokens import highlighted
from faithscope.readers.shared.wanted import Wanted


def recognizes(thing: Any) -> bool:
    """Whether this is one ``FeatureAttributionOutput``, or a list of its sequences."""
    return hasattr(thing, "sequence_attributions") or bool(rows_of_objects(thing, "source_attributions", "target"))


def read(thing: Any, wanted: Wanted) -> Explanations:
    """Highlights of the source's tokens, or of the prompt's if there is no source, largest over all generated ones."""
    held = getattr(thing, "sequence_attributions", None)
    rows = rows_of_objects(thing, "source_attributions", "target") if held is None else list(held)
    if not rows:
        raise BadInput("There are no sequences in this output of inseq: attribute at least one.")
    pairs = [_tokens_and_scores(row) for row in rows]
    wanted.refuse_class("these explanations are of one class")
    return highlighted([tokens for tokens, _ in pairs], [scores for _, scores in pairs], wanted)


def _tokens_and_scores(row: Any) -> tuple[list[str], NDArray[Any]]:
    if row.source_attributions is not None:
        tokens, values = row.source, to_host(row.source_attributions)
    else:  # a model without an encoder: what was generated is explained by the prompt before it
        start = int(row.attr_pos_start)
        tokens, values = row.target[:start], to_host(row.target_attributions)[:start]
    if values.ndim == 3:  # a number per dimension of the embedding: inseq takes the norm, too
        values = np.linalg.norm(values, axis=2)
    return [str(getattr(token, "token", token)) for token in tokens], np.nansum(values, axis=1)
