"""A run as one HTML file that needs no network: tables, figures, printed numbers that are met, claims that hold."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from faithscope.charts.theme import LIGHT, theme
from faithscope.report.offline_page import fill_page
from faithscope.reproduce.records import FAR, NEAR
from faithscope.reproduce.running import Part
from faithscope.reproduce.telling import summary
from faithscope.reproduce.telling.drawing import draw, spoken_of
from faithscope.runtime.files import write_atomically

_ICONS = {"holds": "✓", "fails": "✕", "undecided": "?"}


def write(parts: Sequence[Part], path: Path, command: str) -> None:
    """Write the page."""
    write_atomically(path, render(parts, command).encode())


def render(parts: Sequence[Part], command: str) -> str:
    """The whole run as one page."""
    return fill_page(
        "faithscope.reproduce.telling",
        _charts(parts),
        parts=parts,
        command=command,
        claims=[claim for part in parts for claim in part.outcome.claims],
        seconds=summary.spoken(sum(part.outcome.seconds for part in parts)),
        icons=_ICONS,
        summary=summary,
        spoken_of=spoken_of,
        marked=_marked,
    )


def _charts(parts: Sequence[Part]) -> dict[str, Any]:
    """Every figure by the id of its element, in the page's own colors."""
    colors = {name: f"var(--{name})" for name in LIGHT}
    drawn = {f"drawing-{figure.name}": draw(figure) for part in parts for figure in part.outcome.figures}
    legend = {"labelColor": colors["ink"], "labelFontSize": 11}
    return {"specs": drawn, "config": theme(colors) | {"legend": legend, "aria": False, "background": "transparent"}}


def _marked(line: summary.Line, place: int) -> str:
    """CSS class of a cell by its distance from the printed number; column 3 is as run, column 6 as defined."""
    record = {3: line.run, 6: line.defined}.get(place)
    if record is None or record.off is None:
        return ""
    off = record.off - 1e-9
    return "near" if off <= NEAR else "far" if off <= FAR else "off"
