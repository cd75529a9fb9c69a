"""A run as one HTML file that needs no network: tables, figures, printed numbers that are met, claims that hold."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from faithscope.charts.theme import LIGHT, theme
from faithscope.report.offline_page import fill_page
from faithscope.runtime.files import write_atomically
from faithscope_reproduction.records import FAR, NEAR
from faithscope_reproduction.running import Part
from faithscope_reproduction.telling import evidence, summary, verdicts
from faithscope_reproduction.telling.clock import Clock, timing
from faithscope_reproduction.telling.drawing import draw, spoken_of
from faithscope_reproduction.telling.paper_figures import shown

_ICONS = {"holds": "✓", "fails": "✕", "undecided": "?"}


def write(parts: Sequence[Part], path: Path, command: str, clock: Clock | None = None) -> None:
    """Write the page."""
    write_atomically(path, render(parts, command, clock).encode())


def render(parts: Sequence[Part], command: str, clock: Clock | None = None) -> str:
    """The whole run as one page."""
    return fill_page(
        "faithscope_reproduction.telling",
        _charts(parts),
        parts=parts,
        command=command,
        claims=verdicts.all_claims(parts),
        timing=timing(parts, clock),
        verdicts=verdicts,
        evidence=evidence,
        match_rows=[summary.match_cells(match) for match in summary.matches(parts)],
        shown=shown,
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
    """CSS class of a cell by its distance from the printed number."""
    name = summary.COLUMNS[place]
    record = {"as run": line.run, "as defined": line.defined}.get(name)
    if record is None or record.off is None:
        return ""
    off = record.off - 1e-9
    return "near" if off <= NEAR else "far" if off <= FAR or record.in_range else "off"
