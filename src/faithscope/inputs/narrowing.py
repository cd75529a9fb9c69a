"""Narrowing: rows of whole numbers or of few decimals as small integers, which are hashed and compared faster."""

from typing import Any

import numpy as np

from faithscope.inputs.array_types import Array
from faithscope.inputs.chunks import over_chunks

_FEW = 4096  # rows that are not worth it
_LOOK = 500  # rows that tell which narrowing may do
_SCALES = (1.0, 10.0, 100.0, 1000.0)  # what discretizers multiply by before they cut decimals off
_KINDS: tuple[Any, ...] = (np.int8, np.int16)


def narrowed(block: Array) -> Array:
    """Small integers whose rows are equal exactly where those of the block are; the block itself if there are none.

    Parameters
    ----------
    block : (n, w) array
        Numbers without NaN.

    Examples
    --------
    >>> narrowed(np.full((5000, 2), 0.7))[0], narrowed(np.full((5000, 2), 1 / 3))[0]
    (array([7, 7], dtype=int8), array([0.33333333, 0.33333333]))
    """
    if len(block) < _FEW or block.shape[1] < 2 or block.dtype.kind not in "fiu" or block.dtype.itemsize < 4:
        return block
    look = block[:: max(1, len(block) // _LOOK)]
    for scale in _SCALES if block.dtype.kind == "f" else _SCALES[:1]:
        for kind in _KINDS:
            if (small := _scaled(look, scale, kind)) is not None:
                small = _scaled(block, scale, kind) if len(look) < len(block) else small
                return block if small is None else small
    return block


def _scaled(block: Array, scale: float, kind: Any) -> Array | None:
    """The integers that give the block exactly when divided by the scale; None unless all of them do."""
    small = np.empty(block.shape, kind)
    wrong: list[int] = []
    divisor = block.dtype.type(scale)

    def narrow(start: int, stop: int) -> None:
        chunk, out = block[start:stop], small[start:stop]
        with np.errstate(invalid="ignore", over="ignore"):  # too large for this kind: different, then
            np.copyto(out, chunk if scale == 1 else np.rint(chunk * divisor), casting="unsafe")
        if not wrong and not (chunk == (out if scale == 1 else out.astype(block.dtype) / divisor)).all():
            wrong.append(start)

    over_chunks(narrow, *block.shape)
    return None if wrong else small
