"""Maps: explanations of images and series, and images themselves, as small drawings in the colors of the page."""

from typing import Any

import numpy as np

from faithscope.discretizers.regions import Grid
from faithscope.errors import BadInput
from faithscope.explanations.base import Explanations
from faithscope.explanations.importances import Importances, Rankings
from faithscope.inputs.array_types import Array, Floats
from faithscope.inputs.arrays import is_frame
from faithscope.inputs.tensors import is_tensor, to_host

_SIDE = 28  # cells along an axis that are drawn
_LENGTH = 84  # cells of a series that are drawn
_SHADES = 6  # of each color


def map_of(explanations: Explanations, row: int) -> Floats | None:
    """The map of one row's explanation, its channels summed and its cells pooled to a few; None if it is no map."""
    if not isinstance(explanations, Importances) or isinstance(explanations, Rankings) or explanations.shape is None:
        return None
    if len(explanations.shape) > 2 and explanations.names is not None:  # regions of volumes: no axis is channels
        return None
    return _cells(explanations.values[row].reshape(explanations.shape))


def picture_of(X: Any, row: int) -> Floats | None:
    """The picture of one row, its lowest cell 0, if rows are images; None if they are not."""
    if len(getattr(X, "shape", ())) < 3 or is_frame(X):
        return None
    values = np.asarray(to_host(X[row]) if is_tensor(X) else X[row])
    cells = _cells(values) if values.dtype.kind in "biuf" else None
    return None if cells is None else cells - cells.min()


def _cells(values: Array) -> Floats | None:
    """Rows of a few numbers, of one map; None if its axes cannot be told or a number is not finite."""
    try:
        channel = Grid.over(values.shape, (2, 2)).channel if values.ndim > 2 else None
    except BadInput:  # it is not clear which axis is channels
        return None
    with np.errstate(over="ignore"):
        cells = np.atleast_2d(values if channel is None else values.sum(axis=channel)).astype(np.float64)
        most = _LENGTH if len(cells) == 1 else _SIDE
        for axis, length in enumerate(cells.shape):
            begins = np.linspace(0, length, min(length, most), endpoint=False).astype(int)
            cells = np.add.reduceat(cells, begins, axis)
    return cells if np.isfinite(cells).all() else None


def draw(cells: Floats, told: str, signed: bool = True) -> Any:
    """An inline drawing: color says the sign, and its strength the size, relative to the largest cell.

    Parameters
    ----------
    cells : array, (height, width)
    told : str
        What it shows in words, for whoever cannot see it.
    signed : bool
        Whether these are importances, in two colors; a picture is drawn in one.
    """
    from markupsafe import Markup

    high, wide = cells.shape
    sizes = np.abs(cells) / (np.abs(cells).max() or 1.0)
    shades = np.sign(cells) * np.maximum(1, np.ceil(_SHADES * sizes))
    paths = ""
    for shade in np.unique(shades[shades != 0]):
        places = "".join(f"M{x} {y}.5h1" for y, x in np.argwhere(shades == shade))
        color = "down" if shade < 0 else "up" if signed else "drawn"  # classes of the page's style
        paths += f'<path class="{color}" stroke-opacity="{abs(shade) / _SHADES:.2g}" d="{places}"/>'
    strip = ' preserveAspectRatio="none"' if high == 1 else ""
    kind = f"map{' strip' if high == 1 else ''}{'' if signed else ' picture'}"
    head = f'<svg class="{kind}" role="img" viewBox="0 0 {wide} {high}"{strip} shape-rendering="crispEdges">'
    return Markup(head) + Markup("<title>{}</title>").format(told) + Markup(f"{paths}</svg>")
