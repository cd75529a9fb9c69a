"""A run as one HTML file that needs no network: tables, figures, printed numbers that are met, claims that hold."""

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from faithscope.charts.theme import LIGHT, theme
from faithscope.report import html
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
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    loader = PackageLoader("faithscope.reproduce.telling", "page")
    jinja = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    bundle, script = html.bundle(), _part("page.js")
    texts = {"bundle": bundle, "script": script, "charts": html.safe_json(_charts(parts))}
    texts["style"] = html.style() + _part("page.css")
    page = jinja.get_template("page.html.j2").render(
        parts=parts,
        command=command,
        **{name: Markup(text) for name, text in texts.items()},  # ours, or made safe above
        policy=html.policy(bundle, script),
        claims=[claim for part in parts for claim in part.outcome.claims],
        seconds=summary.spoken(sum(part.outcome.seconds for part in parts)),
        icons=_ICONS,
        summary=summary,
        spoken_of=spoken_of,
        marked=_marked,
    )
    return page.lstrip()


def _part(name: str) -> str:
    return files("faithscope.reproduce.telling").joinpath("page", name).read_text(encoding="utf-8")


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
