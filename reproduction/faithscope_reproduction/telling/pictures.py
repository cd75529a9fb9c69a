"""Figures of a run as SVG files, for pages that run no scripts."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from faithscope.charts.theme import LIGHT, theme
from faithscope.runtime.files import write_atomically
from faithscope_reproduction.records import Figure
from faithscope_reproduction.running import Part
from faithscope_reproduction.telling.drawing import draw

_WIDTH = 420


def write_pictures(parts: Sequence[Part], folder: Path) -> dict[str, str]:
    """Write every figure to the folder; returns their paths by name, from where the folder is.

    Nothing is written, and nothing returned, where vl-convert is not installed.
    """
    if find_spec("vl_convert") is None:
        return {}
    figures = [figure for part in parts for figure in part.outcome.figures]
    for figure in figures:
        write_atomically(folder / f"{figure.name}.svg", _svg(figure).encode())
    return {figure.name: f"{folder.name}/{figure.name}.svg" for figure in figures}


def _svg(figure: Figure) -> str:
    import vl_convert

    legend = {"labelColor": LIGHT["ink"], "labelFontSize": 11, "columnPadding": 24}
    config = theme(LIGHT) | {"legend": legend, "padding": 12}
    return str(vl_convert.vegalite_to_svg(draw(figure) | {"width": _WIDTH, "config": config}))
