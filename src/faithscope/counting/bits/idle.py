"""Idle conditions: those that hold on no row, such as unknown categories."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from faithscope.relations import Blocks, Parts


def watch(covers: Parts | Blocks) -> tuple[Parts | Blocks, Callable[[], tuple[str, ...]]]:
    """The same coverage, and a function that names the parts that hold on no row once all were counted."""
    if isinstance(covers, Blocks):
        return covers, lambda: ()
    idle: list[int] = []

    def named() -> tuple[str, ...]:
        return tuple(str(covers.parts[number]) for number in sorted(idle))

    if covers.postings is not None:
        idle.extend(np.flatnonzero(np.bincount(covers.postings[0], minlength=len(covers.parts)) == 0).tolist())
        return covers, named

    def masks(order: NDArray[np.int64] | None) -> Iterator[tuple[int, NDArray[np.bool_]]]:
        for number, mask in covers.masks(order):
            if not mask.any():
                idle.append(number)
            yield number, mask

    return replace(covers, masks=masks), named
