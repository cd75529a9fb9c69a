"""Discretizers of maps and series: sums over the regions of a grid, and which regions matter most."""

from dataclasses import dataclass, field
from math import prod
from typing import Any, Literal

import numpy as np

from faithscope.discretizers.grids import AXES, Grid
from faithscope.discretizers.importances import OfImportances, Top, _importances
from faithscope.errors import BadInput, WrongType
from faithscope.explanations.base import Explanations
from faithscope.explanations.importances import Importances
from faithscope.inputs.array_types import Array
from faithscope.inputs.checks import check_whole, check_word
from faithscope.runtime.memory import need

_USUAL = (4, 4)


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

    traits = frozenset(["reads_maps", "orders_features"])

    def __post_init__(self) -> None:
        grid = _whole_numbers(self.grid, "Pool's grid, the regions along each axis,", "(4, 4) or 8")
        if len(grid) > AXES:
            raise BadInput(f"Pool's grid must have 1, 2 or {AXES} axes; got {grid}.")
        self._fill(grid=grid)
        if self.shape is not None:
            self._fill(shape=_whole_numbers(self.shape, "Pool's shape of one map", "(28, 28)"))
        check_word(self.channels, "channels", ("first", "last"), optional=True)

    def __repr__(self) -> str:
        known = {"grid": self.grid, "shape": self.shape, "channels": self.channels}
        return f"Pool({', '.join(f'{name}={value!r}' for name, value in known.items() if value is not None)})"

    def _read(self, explanations: Explanations) -> Importances:
        importances = _importances(self, explanations)
        need(8 * len(importances) * prod(self.grid), f"{self!r} of {len(importances):,} rows", "sample rows")
        return importances

    def _values(self, importances: Importances) -> Array:
        sums = self._grid(importances).sums(importances.values)
        if not np.isfinite(sums).all():
            raise BadInput(
                f"Importances as large as {np.abs(importances.values).max():g} have no sums: scale them down."
            )
        return sums

    def _coarser(self, importances: Importances, values: Array) -> Importances:
        grid = self._grid(importances)
        remarks, names = (*importances.remarks, *_summed(grid)), grid.names(importances.names)
        pooled = super()._coarser(importances, values)
        return pooled._with(names=names, shape=self.grid, remarks=remarks, index=importances.index)

    def _grid(self, importances: Importances) -> Grid:
        return Grid.over(self._shape_of(importances), self.grid, self.channels)

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

    traits = frozenset(["reads_maps", "orders_features"])
    _what = "regions"

    def _room(self, values: Array) -> None:
        return None


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
    many = grid.shape[grid.channel]
    if len(grid.shape) == 2:
        return (f"series were read as {rest} steps of {many} features, whose importances were summed",)
    return (f"maps were read as {rest} with {many} channels, whose importances were summed",)


def _whole_numbers(given: Any, what: str, example: str) -> tuple[int, ...]:
    if isinstance(given, int | np.integer) and not isinstance(given, bool):
        given = (given,)
    if not isinstance(given, tuple | list) or not given:
        raise WrongType(f"{what} must be whole numbers, such as {example}; got {given!r}.")
    return tuple(check_whole(number, what) for number in given)
