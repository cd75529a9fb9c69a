"""Maps: explanations of images and series, and images themselves, as small drawings in the colors of the page."""

from itertools import groupby
from math import ceil
from typing import Any

import numpy as np

from faithscope.discretizers.grids import Grid
from faithscope.errors import BadInput
from faithscope.explanations.base import Explanations
from faithscope.explanations.importances import Importances, Rankings
from faithscope.inputs.array_types import Array
from faithscope.inputs.arrays import is_frame
from faithscope.inputs.tensors import is_tensor, to_host

Map = tuple[tuple[float, ...], ...]  # rows of numbers

_SIDE = 28  # cells along an axis that are drawn
_LENGTH = 84  # cells of a series that are drawn
_SHADES = 6  # of each color
_COLORS = {1: "up", -1: "down"}  # classes of the page's style


def map_of(explanations: Explanations, row: int) -> Map | None:
    """The map of one row's explanation, its channels summed and its cells pooled to a few; None if it is no map."""
    if not isinstance(explanations, Importances) or isinstance(explanations, Rankings) or explanations.shape is None:
        return None
    if len(explanations.shape) > 2 and explanations.names is not None:  # regions of volumes: no axis is channels
        return None
    return _cells(explanations.values[row : row + 1], explanations.shape)


def picture_of(X: Any, row: int) -> Map | None:
    """The picture of one row, from 0 to 1, if rows are images; None if they are not."""
    shape = tuple(getattr(X, "shape", ()))
    if len(shape) < 3 or is_frame(X):
        return None
    values = to_host(X[row : row + 1]) if is_tensor(X) else np.asarray(X[row : row + 1])
    cells = _cells(values.reshape(1, -1), shape[1:]) if values.dtype.kind in "biuf" else None
    if cells is None:
        return None
    low, high = min(map(min, cells)), max(map(max, cells))
    return tuple(tuple((value - low) / ((high - low) or 1) for value in line) for line in cells)


def _cells(values: Array, shape: tuple[int, ...]) -> Map | None:
    """Rows of a few numbers, of the map of one row; None if its axes cannot be told or a number is not finite."""
    try:
        grid = _few_cells(shape)
    except BadInput:  # it is not clear which axis is channels
        return None
    wide = [many for axis, many in enumerate(grid.regions) if axis != grid.channel][-1]
    lines = grid.sums(values).reshape(-1, wide)
    return tuple(tuple(map(float, line)) for line in lines) if np.isfinite(lines).all() else None


def _few_cells(shape: tuple[int, ...]) -> Grid:
    if len(shape) == 1:
        return Grid.over(shape, (min(shape[0], _LENGTH),))
    if len(shape) == 2:
        return Grid.over(shape, (min(shape[0], _SIDE), min(shape[1], _SIDE)))
    channel = Grid.over(shape, (2, 2)).channel
    sides = [min(length, _SIDE) for axis, length in enumerate(shape) if axis != channel]
    return Grid.over(shape, (sides[0], sides[1]), "first" if channel == 0 else "last")


def draw(cells: Map, told: str, signed: bool = True) -> Any:
    """An inline drawing: color says the sign, and its strength the size, relative to the largest cell.

    Parameters
    ----------
    cells : Map
    told : str
        What it shows in words, for whoever cannot see it.
    signed : bool
        Whether these are importances, in two colors; a picture is drawn in one.
    """
    from markupsafe import Markup

    wide, high = len(cells[0]), len(cells)
    strip = ' preserveAspectRatio="none"' if high == 1 else ""
    colors = _COLORS if signed else {1: "drawn"}
    paths = "".join(
        f'<path class="{colors[sign]}" stroke-opacity="{shade / _SHADES:.2g}" d="{"".join(runs)}"/>'
        for (sign, shade), runs in sorted(_runs(cells).items())
    )
    kind = f"map{' strip' if high == 1 else ''}{'' if signed else ' picture'}"
    head = f'<svg class="{kind}" role="img" viewBox="0 0 {wide} {high}"{strip} shape-rendering="crispEdges">'
    return Markup(head) + Markup("<title>{}</title>").format(told) + Markup(f"{paths}</svg>")


def _runs(cells: Map) -> dict[tuple[int, int], list[str]]:
    """Neighbors in a line that have one color, as strokes, by sign and shade."""
    largest = max(abs(value) for line in cells for value in line)
    strokes: dict[tuple[int, int], list[str]] = {}
    for y, line in enumerate(cells):
        x = 0
        for color, run in groupby(_color(value, largest) for value in line):
            length = len(list(run))
            if color is not None:
                strokes.setdefault(color, []).append(f"M{x} {y}.5h{length}")
            x += length
    return strokes


def _color(value: float, largest: float) -> tuple[int, int] | None:
    """The sign of a cell and its shade, from 1 to the strongest; None for 0."""
    return None if not value else (1 if value > 0 else -1, max(1, ceil(_SHADES * (abs(value) / largest))))
