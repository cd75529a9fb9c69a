"""Discretizers of reasons in words: by template, codebook, common phrases or clusters of embeddings.

Here is what they share: reasons in, keys out, and a short repr of many names.
"""

import hashlib
from typing import Any

from faithscope.errors import WrongType
from faithscope.explanations.base import Explanations
from faithscope.explanations.keys import Plain, Records
from faithscope.explanations.reasons import Reasons

OTHER = frozenset({"other"})  # of a reason that has none of the names


def to_reasons(discretizer: Any, explanations: Explanations) -> Reasons:
    """The explanations as reasons in words; raises if they are no texts."""
    if isinstance(explanations, Reasons):
        return explanations
    keys = explanations.values if isinstance(explanations, Plain) else ()
    if len(keys) and not isinstance(explanations, Records) and all(isinstance(text, str) for text in keys):
        return Reasons(keys)._with(index=explanations.index, remarks=explanations.remarks)
    raise WrongType(
        f"{discretizer!r} discretizes reasons in words; got {explanations.kind}. Build them with fs.Reasons(texts)."
    )


def keys_of(values: Any, reasons: Reasons, notes: tuple[str, ...] = ()) -> Plain:
    """Plain keys in place of reasons: one hashable value per row, of one type."""
    return Plain._of(values=values, index=reasons.index, remarks=(*reasons.remarks, *notes))


def text_digest(content: str | bytes) -> str:
    """Eight letters that stand for a text or bytes, by which reprs that are too long to be written out are told apart.

    Examples
    --------
    >>> text_digest("not|never") == text_digest(b"not|never"), len(text_digest(""))
    (True, 8)
    """
    written = content.encode(errors="surrogatepass") if isinstance(content, str) else content
    return hashlib.blake2b(written, digest_size=4).hexdigest()
