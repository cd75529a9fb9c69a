"""The pictures of docs/reasons.md: reasons by granularity, and how far people agree."""

from pathlib import Path
from typing import Any

import altair as alt

import esnli_tables as tables
from esnli_rows import Split
from faithscope import charts
from faithscope.charts.theme import LIGHT, theme

DOT = LIGHT["consistency"]


def draw(dev: Split, test: Split, folder: Path) -> None:
    """Write both pictures into a folder."""
    title = "Does the reason tell the label? From fine to coarse"
    pictures = {
        "reasons-granularity": charts.estimates(list(tables.consistencies(dev, test).items()), title=title),
        "reasons-people": people(tables.repeated(dev, test)),
    }
    for name, chart in pictures.items():
        chart.configure(**theme(LIGHT)).save(folder / f"{name}.svg")
        print(folder.name, f"{name}.svg")


def people(repeated: dict[str, Any]) -> alt.LayerChart:
    """How often two people say the same by granularity: a dot with its interval, and a line for chance."""
    rows = [
        {"by": name, "value": same.value, "low": same.low, "high": same.high, "chance": same.chance}
        for name, same in repeated.items()
    ]
    chart = alt.Chart(alt.Data(values=rows))
    down = alt.Y(
        "by:N",
        sort=list(repeated),
        title=None,
        axis=alt.Axis(labelFontSize=13, labelLimit=220, labelPadding=12, ticks=False),
    )
    axis = alt.Axis(format="%", tickCount=5)
    across = alt.X(
        "value:Q", scale=alt.Scale(domain=[0, 1]), title="share of rows on which two people agree", axis=axis
    )
    bars = chart.mark_rule(strokeWidth=3, color=DOT).encode(y=down, x=alt.X("low:Q"), x2="high:Q")
    dots = chart.mark_point(filled=True, size=90, color=DOT, opacity=1).encode(y=down, x=across)
    ticks = chart.mark_tick(thickness=2.5, size=20, color=LIGHT["chance"]).encode(y=down, x="chance:Q")
    return (bars + ticks + dots).properties(
        width=430,
        height=260,
        title=alt.Title(
            "Do two people give the same reason?",
            subtitle="Dot and bar: two of three people, with the 95% interval. Upright line: chance.",
        ),
    )
