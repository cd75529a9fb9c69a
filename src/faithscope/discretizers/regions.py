"""Discretizers of maps and series: sums over the regions of a grid, and which regions matter most."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any, Literal

import numpy as np

from faithscope.discretizers.importances import OfImportances, Top
from faithscope.errors import BadInput, WrongType
from faithscope.explanations.forms import in_blocks
from faithscope.explanations.importances import Importances
from faithscope.inputs.array_types import Array, Floats, Names
from faithscope.inputs.checks import check_whole, check_word, is_whole

_COLORS = (1, 3, 4)  # channels of gray, of colors, and of colors with transparency
_WORDS = {1: ("step",), 2: ("row", "column"), 3: ("plane", "row", "column")}
_USUAL = (4, 4)


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
        axes = list(shape)
        while len(axes) > len(regions) + 1 and 1 in axes:  # as attributions of one row at a time have it
            axes.remove(1)
        shape = tuple(axes)
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
        return [
            [(int(places[0]), int(places[-1])) for places in np.array_split(np.arange(length), wanted)]
            for length, wanted in zip(self.shape, self.regions, strict=True)
        ]

    def sums(self, values: Array) -> Floats:
        """The sum of each region, in double precision: (n, cells of a map) to (n, regions)."""
        total = np.empty((len(values), prod(self.regions)))
        starts = [[first for first, _ in spans] for spans in self.spans]
        for rows in in_blocks(values):
            block = values[rows].astype(np.float64).reshape(-1, *self.shape)
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
        corners = [np.ravel_multi_index(region, self.shape) for region in product(*spans)]
        return tuple(cells[a] if a == b else f"{cells[a]} to {cells[b]}" for a, b in corners)


def _channel(shape: tuple[int, ...], regions: tuple[int, ...], channels: str | None) -> int | None:
    """The axis of channels, besides those that the grid cuts; None if there is none."""
    axes = len(regions)
    if len(shape) == axes and channels is None:
        return None
    if len(shape) != axes + 1:
        raise BadInput(
            f"Maps of shape {shape} have {len(shape)} axes, and a grid of {axes} cuts {axes}, or {axes + 1} if one is "
            "channels: leave channels= out if none is."
        )
    rests = {0: shape[1:], axes: shape[:-1]}
    colored = [end for end in rests if shape[end] in _COLORS]
    likely = [end for end in colored if all(np.greater_equal(rests[end], regions))] or colored
    series = axes == 1  # of (steps, features)
    ends = {"first": [0], "last": [axes], None: [axes] if series else likely}[channels]
    if len(ends) != 1:
        raise BadInput(
            f"Maps of shape {shape} may have their channels first or last: say which, such as "
            f"fs.Pool({regions}, channels='first')."
        )
    return ends[0]


def _told(word: str, span: tuple[int, int]) -> str:
    first, last = span
    return f"{word} {first}" if first == last else f"{word}s {first}-{last}"


@dataclass(frozen=True, repr=False)
class Pool(OfImportances):
    """The sum of the importances in each region of a grid, over all channels: of images, series or volumes.

    Sums are in double precision, and all of them together are the sum of the map. If an axis cannot be cut evenly, its
    first regions are one longer: 10 rows in 4 regions are rows 0-2, 3-5, 6-7 and 8-9 (`numpy.array_split`).

    Parameters
    ----------
    grid : int or tuple of int
        The regions along each axis: ``(4, 4)`` for images (n, H, W), (n, C, H, W) or (n, H, W, C); ``8`` for series
        (n, T) or (n, T, F); three numbers for volumes.
    shape : tuple of int, optional
        The axes of one map, such as ``(28, 28)`` or ``(3, 32, 32)``, if importances came as rows of numbers.
    channels : {"first", "last"}, optional
        Where the axis of channels is, if maps have one axis more than the grid. By default the end that has 1, 3 or 4
        of them, if only one does; of series (n, T, F), the features are last. To keep the features of a series apart,
        give the grid an axis of them: ``(8, F)``.

    Examples
    --------
    >>> from faithscope import Importances
    >>> maps = Importances(np.array([[[0.5, 0.25, 0.0], [0.25, 0.0, -1.0]]]))
    >>> Pool((1, 2))(maps).describe(0)
    'rows 0-1, columns 0-1: 1; rows 0-1, column 2: -1'
    >>> Pool(2)(Importances([[1, 2, 3, 4]], names=["jan", "feb", "mar", "apr"])).describe(0)
    'jan to feb: 3; mar to apr: 7'
    """

    grid: tuple[int, ...]
    shape: tuple[int, ...] | None = field(default=None, kw_only=True)
    channels: Literal["first", "last"] | None = field(default=None, kw_only=True)

    reads_maps = True
    orders_features = True
    cell = 8

    def __post_init__(self) -> None:
        grid = _whole_numbers(self.grid, "Pool's grid, the regions along each axis,", "(4, 4) or 8")
        if len(grid) not in _WORDS:
            raise BadInput(f"Pool's grid must have 1, 2 or 3 axes; got {grid}.")
        self._fill(grid=grid)
        if self.shape is not None:
            self._fill(shape=_whole_numbers(self.shape, "Pool's shape of one map", "(28, 28)"))
        check_word(self.channels, "channels", ("first", "last"), optional=True)

    def __repr__(self) -> str:
        known = {"grid": self.grid, "shape": self.shape, "channels": self.channels}
        return f"Pool({', '.join(f'{name}={value!r}' for name, value in known.items() if value is not None)})"

    def _width(self, importances: Importances) -> int:
        return prod(self.grid)

    def _coarser(self, importances: Importances) -> Importances:
        grid = Grid.over(self._shape_of(importances), self.grid, self.channels)
        remarks, names = (*importances.remarks, *_summed(grid)), grid.names(importances.names)
        return self._made(importances, grid.sums(importances.values), names=names, shape=self.grid, remarks=remarks)

    def _shape_of(self, importances: Importances) -> tuple[int, ...]:
        """The axes of one map."""
        width = importances.values.shape[1]
        if self.shape is None and importances.shape is not None:
            return importances.shape
        if self.shape is None:
            if len(self.grid) == 1:
                return (width,)
            raise BadInput(
                f"Importances came as rows of {width:,} numbers, which do not say what map they are: pass maps of one "
                f"class, of shape (n, H, W), or say the axes of one map, such as fs.Pool({self.grid}, shape=(28, 28))."
            )
        if prod(self.shape) != width or importances.shape not in (None, self.shape):
            seen = f"{width} numbers" if importances.shape is None else f"maps of shape {importances.shape}"
            raise BadInput(f"{self!r} is told a shape of {prod(self.shape)} numbers, but importances are {seen}.")
        return self.shape


@dataclass(frozen=True)
class TopRegions(Top):
    """Which ``k`` regions have the importances largest in size: 1 for them, 0 for the others, without signs.

    Among importances of equal size the earlier region is kept; a region of importance 0 never is. Follow `Pool`:
    ``Pool((4, 4)) | TopRegions(3)``. Without it, regions are the pixels of a map, or features.

    Parameters
    ----------
    k : int
        At least 1.

    Examples
    --------
    >>> from faithscope import Importances
    >>> maps = Importances(np.array([[[0.5, 0.25, 0.0], [0.25, 0.0, -1.5]]]))
    >>> (Pool((1, 3)) | TopRegions(1))(maps).describe(0)
    'rows 0-1, column 2'
    """

    reads_maps = True


def usual_pool(importances: Importances) -> Pool | None:
    """The grid of 4 x 4 regions over maps; None if these are features, or no map of at least as many cells."""
    if importances.shape is None or importances.names is not None:
        return None
    try:
        Grid.over(importances.shape, _USUAL)
    except BadInput:
        return None
    return Pool(_USUAL)


def _summed(grid: Grid) -> tuple[str, ...]:
    """How maps were read, if an axis was summed whole: whoever meant another one can see it."""
    if grid.channel is None or grid.shape[grid.channel] == 1:
        return ()
    rest = " x ".join(str(length) for axis, length in enumerate(grid.shape) if axis != grid.channel)
    many, series = grid.shape[grid.channel], len(grid.shape) == 2
    told = (
        f"series were read as {rest} steps of {many} features"
        if series
        else f"maps were read as {rest} with {many} channels"
    )
    return (f"{told}, whose importances were summed",)


def _whole_numbers(given: Any, what: str, example: str) -> tuple[int, ...]:
    if is_whole(given):
        given = (given,)
    if not isinstance(given, tuple | list) or not given:
        raise WrongType(f"{what} must be whole numbers, such as {example}; got {given!r}.")
    return tuple(check_whole(number, what) for number in given)
