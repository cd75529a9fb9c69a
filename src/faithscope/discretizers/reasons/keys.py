"""What discretizers of reasons take and give: reasons in; keys, or sets of names, out."""

import hashlib
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import WrongType
from faithscope.explanations.base import Explanations
from faithscope.explanations.keys import Plain, Records
from faithscope.explanations.reasons import Reasons
from faithscope.inputs.arrays import to_objects
from faithscope.inputs.grouping import group

OTHER = frozenset({"other"})  # of a reason that has none of the names

Matches = Callable[[Sequence[str]], NDArray[np.bool_]]


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
    return Plain.__new__(Plain)._with(values=values, index=reasons.index, remarks=(*reasons.remarks, *notes))


def set_keys(
    reasons: Reasons,
    texts: NDArray[Any],
    names: Sequence[str],
    matches: Matches,
    notes: Callable[[NDArray[np.int64]], tuple[str, ...]] = lambda rows: (),
) -> Plain:
    """One frozenset of names per row; `OTHER` if no name applies.

    Parameters
    ----------
    texts : (n,) array of str
        The texts that are looked at, each different one once.
    matches : function
        From m different texts to a mask of shape (m, names).
    notes : function, optional
        From the number of rows that have each name to what a reader should know.
    """
    codes, first = group([texts])
    mask = matches(texts[first].tolist()).reshape(len(first), len(names))
    kinds, earliest = group([mask.astype(np.uint8)]) if len(first) else (np.empty(0, np.int64), first)
    which, columns = np.nonzero(mask[earliest])
    ends = np.searchsorted(which, np.arange(len(earliest) + 1)).tolist()
    listed = [names[column] for column in columns.tolist()]
    sets = [frozenset(listed[start:stop]) or OTHER for start, stop in pairwise(ends)]
    rows = mask.T.astype(np.int64) @ np.bincount(codes, minlength=len(first))
    return keys_of(to_objects(sets)[kinds][codes], reasons, notes(rows))


def text_digest(content: str | bytes) -> str:
    """Eight letters that stand for a text or bytes, by which reprs that are too long to be written out are told apart.

    Examples
    --------
    >>> text_digest("not|never") == text_digest(b"not|never"), len(text_digest(""))
    (True, 8)
    """
    written = content.encode(errors="surrogatepass") if isinstance(content, str) else content
    return hashlib.blake2b(written, digest_size=4).hexdigest()
