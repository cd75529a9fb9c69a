"""The picture of docs/sufficient-reasons.md: what certainty costs in conditions and in coverage."""

from pathlib import Path
from typing import Any

import altair as alt

from faithscope.charts.theme import LIGHT, theme

ORDER = ["tree path", "anchor", "sufficient reason"]
COLORS = [LIGHT["chance"], LIGHT["consistency"], LIGHT["sufficiency"]]


def draw(table: list[dict[str, Any]], path: Path) -> None:
    """Coverage against the number of conditions, one picture per data set; the precision stands beside each dot."""
    places = {id(line): _place(line, table) for line in table}
    rows = [
        {**line, "place": places[id(line)], "told": f"{line['explainer']}: {_told(line['precision'])}"}
        for line in table
    ]
    chart = alt.Chart(alt.Data(values=rows))
    across = alt.X("conditions:Q", title="conditions per rule", scale=alt.Scale(domain=[0, 14]))
    up = alt.Y("coverage:Q", title="share of rows covered", scale=alt.Scale(type="log"), axis=alt.Axis(format=".2~%"))
    color = alt.Color("explainer:N", sort=ORDER, scale=alt.Scale(domain=ORDER, range=COLORS), legend=None)
    dots = chart.mark_point(filled=True, size=110, opacity=1).encode(x=across, y=up, color=color)
    texts = [
        chart.mark_text(align="left", dx=9, dy=down, fontSize=12, color=LIGHT["ink"])
        .transform_filter(alt.datum.place == place)
        .encode(x=across, y=up, text="told:N")
        for place, down in enumerate((-8, 8, 0))  # the upper two dots may lie close to each other
    ]
    sets = list(dict.fromkeys(line["data"] for line in table))
    several = alt.hconcat(
        *[
            alt.layer(dots, *texts)
            .transform_filter(alt.datum.data == name)
            .properties(width=290, height=230, title=name)
            for name in sets
        ]
    )
    several.properties(
        title=alt.Title(
            "The price of certainty",
            subtitle="Mean length and coverage of rules; beside each dot, the share of covered rows that keep the "
            "prediction.",
        )
    ).configure(**theme(LIGHT)).save(path)
    print(path.name)


def _place(line: dict[str, Any], table: list[dict[str, Any]]) -> int:
    """The place of a dot among those of its data set, from above."""
    return sum(other["data"] == line["data"] and other["coverage"] > line["coverage"] for other in table)


def _told(precision: float) -> str:
    """A share that is 1 only if it is exactly 1."""
    return "always" if precision == 1 else f"{min(precision, 0.999):.3f}"
