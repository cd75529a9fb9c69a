"""Maps: explanations of images and series, and images themselves, as small drawings in the colors of the page."""

from dataclasses import replace
from math import ceil
from typing import Any

import numpy as np

from faithscope.discretizers.regions import Grid
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
        grid = Grid.over(shape, (2, 2)) if len(shape) > 2 else Grid(shape, shape, None)
    except BadInput:  # it is not clear which axis is channels
        return None
    most = _LENGTH if len(shape) == 1 else _SIDE
    cuts = [1 if axis == grid.channel else min(length, most) for axis, length in enumerate(grid.shape)]
    wide = [cut for axis, cut in enumerate(cuts) if axis != grid.channel][-1]
    with np.errstate(over="ignore"):
        lines = replace(grid, regions=tuple(cuts)).sums(values).reshape(-1, wide)
    return tuple(tuple(map(float, line)) for line in lines) if np.isfinite(lines).all() else None


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
    largest = max(abs(value) for line in cells for value in line)
    strokes: dict[tuple[bool, int], list[str]] = {}
    for y, line in enumerate(cells):
        for x, value in enumerate(line):
            if value:
                shade = max(1, ceil(_SHADES * (abs(value) / largest)))
                strokes.setdefault((value > 0, shade), []).append(f"M{x} {y}.5h1")
    strip = ' preserveAspectRatio="none"' if high == 1 else ""
    colors = ("down", "up" if signed else "drawn")  # classes of the page's style
    paths = "".join(
        f'<path class="{colors[positive]}" stroke-opacity="{shade / _SHADES:.2g}" d="{"".join(places)}"/>'
        for (positive, shade), places in sorted(strokes.items())
    )
    kind = f"map{' strip' if high == 1 else ''}{'' if signed else ' picture'}"
    head = f'<svg class="{kind}" role="img" viewBox="0 0 {wide} {high}"{strip} shape-rendering="crispEdges">'
    return Markup(head) + Markup("<title>{}</title>").format(told) + Markup(f"{paths}</svg>")
