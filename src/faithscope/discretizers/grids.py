"""Grids over maps and series: which axis is channels, where regions begin, their sums and their names."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from faithscope.errors import BadInput
from faithscope.explanations.forms import in_blocks
from faithscope.inputs.array_types import Array, Floats, Names

_COLORS = (1, 3, 4)  # channels of gray, of colors, and of colors with transparency
_WORDS = {1: ("step",), 2: ("row", "column"), 3: ("plane", "row", "column")}
AXES = max(_WORDS)  # of a grid at most


@dataclass(frozen=True)
class Grid:
    """A grid of regions over maps of one shape; a region spans all channels.

    Attributes
    ----------
    shape : tuple of int
        The axes of one map, that of channels among them.
    regions : tuple of int
        Into how many regions each axis is cut; 1 for that of channels.
    channel : int or None
        Which axis is channels, if one is.
    """

    shape: tuple[int, ...]
    regions: tuple[int, ...]
    channel: int | None

    @classmethod
    def over(cls, shape: tuple[int, ...], regions: tuple[int, ...], channels: str | None = None) -> "Grid":
        """The grid of so many regions over the axes of a map; raises if it is not clear which axis is channels.

        Examples
        --------
        >>> Grid.over((3, 8, 8), (2, 2))
        Grid(shape=(3, 8, 8), regions=(1, 2, 2), channel=0)
        """
        shape = _without_ones(shape, len(regions) + 1)
        channel = _channel(shape, regions, channels)
        cuts = regions if channel is None else (1, *regions) if channel == 0 else (*regions, 1)
        for length, wanted in zip(shape, cuts, strict=True):
            if wanted > length:
                raise BadInput(
                    f"Maps of shape {shape} have an axis of {length}, which cannot be cut into {wanted} regions: ask "
                    f"for at most {length}, or say where channels are, such as fs.Pool({regions}, channels='first')."
                )
        return cls(shape, cuts, channel)

    @property
    def spans(self) -> list[list[tuple[int, int]]]:
        """The first and the last place of each region along each axis: as equal as can be, the longer ones first."""
        axes = [
            np.array_split(np.arange(length), wanted) for length, wanted in zip(self.shape, self.regions, strict=True)
        ]
        return [[(int(places[0]), int(places[-1])) for places in axis] for axis in axes]

    def sums(self, values: Array) -> Floats:
        """The sum of each region, in double precision: (n, cells of a map) to (n, regions); infinite if too large."""
        total = np.empty((len(values), int(np.prod(self.regions))))
        starts = [[first for first, _ in spans] for spans in self.spans]
        for rows in in_blocks(values):
            block = values[rows].astype(np.float64).reshape(-1, *self.shape)
            with np.errstate(over="ignore"):
                for axis in reversed(range(len(self.shape))):  # the last lies together in memory
                    block = np.add.reduceat(block, starts[axis], axis=axis + 1)
            total[rows] = block.reshape(len(block), -1)
        return total

    def names(self, cells: Sequence[str] | None) -> Names:
        """The name of each region: its first and its last cell, if cells have names, else its rows and columns."""
        spans = self.spans
        if cells is None:
            spans = [span for axis, span in enumerate(spans) if axis != self.channel]
            words = _WORDS[len(spans)]
            return tuple(", ".join(map(_told, words, region)) for region in product(*spans))
        grid = np.arange(len(cells)).reshape(self.shape)
        corners = [[grid[tuple(span[end] for span in region)] for end in (0, 1)] for region in product(*spans)]
        return tuple(cells[a] if a == b else f"{cells[a]} to {cells[b]}" for a, b in corners)


def _without_ones(shape: tuple[int, ...], most: int) -> tuple[int, ...]:
    """The axes without the first of length 1, as attributions one row at a time have it, while there are too many."""
    while len(shape) > most and 1 in shape:
        shape = shape[: shape.index(1)] + shape[shape.index(1) + 1 :]
    return shape


def _channel(shape: tuple[int, ...], regions: tuple[int, ...], channels: str | None) -> int | None:
    """The axis of channels, besides those that the grid cuts; None if there is none."""
    axes = len(regions)
    if len(shape) == axes and channels is None:
        return None
    if len(shape) != axes + 1:
        seen = "leave channels= out" if len(shape) == axes else f"a grid of {axes} cuts {axes}, or {axes + 1} with one"
        raise BadInput(f"Maps of shape {shape} have {len(shape)} axes, none left for channels: {seen}.")
    if channels is not None:
        return 0 if channels == "first" else axes
    if axes == 1:  # a series of (steps, features)
        return axes
    rests = {0: shape[1:], axes: shape[:-1]}
    colored = [end for end in rests if shape[end] in _COLORS]
    ends = [end for end in colored if all(np.greater_equal(rests[end], regions))] or colored
    if len(ends) != 1:
        raise BadInput(
            f"Maps of shape {shape} may have their channels first or last: say which, such as "
            f"fs.Pool({regions}, channels='first')."
        )
    return ends[0]


def _told(word: str, span: tuple[int, int]) -> str:
    first, last = span
    return f"{word} {first}" if first == last else f"{word}s {first}-{last}"
