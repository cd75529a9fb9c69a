"""captum's attributions of language models; its tensors for other models are read as any array."""

from typing import Any

from faithscope.explanations.base import Explanations
from faithscope.inputs.tensors import to_host
from faithscope.readers.shared.rows import rows_of_objects
from faithscope.readers.shared.tokens import highlighted
from faithscope.readers.shared.wanted import Wanted


def recognizes(thing: Any) -> bool:
    """Whether this is one ``LLMAttributionResult``, or a list of them."""
    return bool(rows_of_objects(thing, "seq_attr", "input_tokens"))


def read(thing: Any, wanted: Wanted) -> Explanations:
    """Highlights of the tokens of the prompt that count most for all that was generated."""
    rows = rows_of_objects(thing, "seq_attr", "input_tokens")
    wanted.refuse_class("these explanations are of one class")
    return highlighted([row.input_tokens for row in rows], [to_host(row.seq_attr) for row in rows], wanted)
