"""The picture of docs/sufficient-for-whom.md: a share per explanation and population, with its interval."""

import io
import re
from pathlib import Path
from typing import Any

import altair as alt

from faithscope.charts.theme import LIGHT, theme

# Every population has a color and a shape, so that either is enough to tell it.
MARKS = {
    "real": (LIGHT["ink"], "circle"),
    "nearest": (LIGHT["consistency"], "triangle-up"),
    "perturbed": (LIGHT["sufficiency"], "square"),
    "product": (LIGHT["faithful"], "diamond"),
    "uniform": (LIGHT["chance"], "cross"),
}
_COLUMNS = 3


def draw(lines: list[dict[str, Any]], path: Path) -> None:
    """One panel per data set, one row per explanation, one mark per population; PNG or SVG, by the name of the file."""
    sets = list(dict.fromkeys(line["data"] for line in lines))
    panels = [_panel(lines, name, first=place % _COLUMNS == 0) for place, name in enumerate(sets)]
    chart = alt.concat(*panels, columns=_COLUMNS, spacing=18).properties(
        title=alt.Title(
            "Sufficient for whom?",
            subtitle="Share of inputs under a row's rule that keep the row's prediction, on five populations. "
            "Bars are 95% intervals; they are long if few inputs are under a rule.",
            offset=14,
        )
    )
    legend = {"labelFontSize": 12, "titleFontSize": 12, "labelColor": LIGHT["ink"], "titleColor": LIGHT["ink"]}
    chart = chart.configure(**theme(LIGHT) | {"legend": legend})
    if path.suffix != ".svg":
        chart.save(path, scale_factor=2)
        return
    drawn = io.StringIO()
    chart.save(drawn, format="svg")
    path.write_text(re.sub(r"\d+\.\d{4,}", lambda number: f"{float(number[0]):.1f}", drawn.getvalue()))


def _panel(lines: list[dict[str, Any]], name: str, *, first: bool) -> Any:
    """One data set; only the first panel of a row names the explanations."""
    chosen = [line for line in lines if line["data"] == name]
    rows = [
        {"explanation": line["explanation"], "population": population, **line[population]}
        for line in chosen
        for population in MARKS
    ]
    order = [line["explanation"] for line in chosen]
    chart = alt.Chart(alt.Data(values=rows))
    axis = alt.Axis(
        labelFontSize=12, labelPadding=8, ticks=False, labels=first, domain=False, grid=True, bandPosition=0
    )
    down = alt.Y("explanation:N", sort=order, title=None, axis=axis, scale=alt.Scale(paddingInner=0.25))
    inside = alt.YOffset("population:N", sort=list(MARKS), scale=alt.Scale(domain=list(MARKS)))
    across = alt.Scale(domain=[0, 1])
    colors, shapes = zip(*MARKS.values(), strict=True)
    title = "inputs are"
    color = alt.Color("population:N", title=title, scale=alt.Scale(domain=list(MARKS), range=list(colors)))
    shape = alt.Shape("population:N", title=title, scale=alt.Scale(domain=list(MARKS), range=list(shapes)))
    bars = chart.mark_rule(strokeWidth=1.5, opacity=0.55).encode(
        y=down, yOffset=inside, x=alt.X("low:Q", scale=across), x2="high:Q", color=color
    )
    dots = (
        chart.mark_point(filled=True, size=42, opacity=1)
        .encode(y=down, yOffset=inside, x=alt.X("verified:Q", title=None, scale=across), color=color, shape=shape)
        .transform_filter("datum.verified !== null")
    )
    return (bars + dots).properties(width=215, height=300, title=f"{name}, {chosen[0]['rows']} rows")
