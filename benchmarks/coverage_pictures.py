"""The figures of docs/statistics.md, with altair where it is installed."""

import importlib
import importlib.util
import io
import re
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from coverage_forecasts import Forecast
from coverage_study import NOMINAL, Bias, Cell

BLUE, ORANGE, GRAY, INK = "#0068a3", "#c4591a", "#8a8f98", "#30343b"
SETS = ("#0068a3", "#c4591a", "#008a68", "#8a4a9c", "#8a6500", "#3f97cf")
_LOWEST = 0.80  # coverage below it is drawn here, and named in words


def draw(cells: Sequence[Cell], bias: Sequence[Bias], forecasts: Sequence[Forecast], folder: Path) -> None:
    """Four pictures, those of which there is something to show."""
    if not importlib.util.find_spec("altair"):
        print("skipped: the pictures need altair")
        return
    alt = importlib.import_module("altair")
    folder.mkdir(parents=True, exist_ok=True)
    pictures = {}
    if cells:
        pictures |= {"coverage": coverage(alt, cells), "width": width(alt, cells), "bias": biased(alt, bias)}
    if forecasts:
        pictures["forecast"] = foreseen(alt, forecasts)
    for name, picture in pictures.items():
        (folder / f"statistics-{name}.svg").write_text(as_svg(picture))


def as_svg(picture: Any) -> str:
    """The picture with coordinates to a tenth of a pixel; labels have fewer digits and stay as they are."""
    drawn = io.StringIO()
    themed(picture).save(drawn, format="svg")
    return re.sub(r"\d+\.\d{4,}", lambda number: f"{float(number[0]):.1f}", drawn.getvalue())


def themed(chart: Any) -> Any:
    """Plain ink on white, letters that can be read at the width of a page."""
    text = {"labelColor": INK, "titleColor": INK, "labelFontSize": 11, "titleFontSize": 12, "titleFontWeight": "normal"}
    axis = {**text, "gridColor": "#e6e8eb", "domainColor": GRAY, "tickColor": GRAY}
    header = {
        "labelColor": INK,
        "labelFontSize": 11.5,
        "labelFontWeight": "bold",
        "labelAnchor": "start",
        "title": None,
    }
    return chart.configure(
        axis=axis,
        header=header | {"labelPadding": 4, "labelLineHeight": 13},
        legend={**text, "labelLimit": 320},
        view={"stroke": None},
        background="white",
        aria=False,  # thousands of labels for marks that the tables tell
        padding=8,
    )


def _rows(alt: Any) -> Any:
    """Numbers of rows on a logarithmic axis, those of the study marked."""
    axis = alt.Axis(values=[50, 200, 1_000, 5_000], format=",d", grid=False)
    return alt.X("n:Q", title="rows", axis=axis).scale(type="log", domain=[40, 6_300], nice=False)


def _panels(alt: Any, layers: list[Any], points: list[dict[str, Any]], by: str, columns: int) -> Any:
    order = list(dict.fromkeys(point[by] for point in points))
    header = alt.Header(labelExpr="split(datum.label, ', ')", title=None)
    facet = alt.Facet(f"{by}:N", sort=order, header=header)
    return alt.layer(*layers, data=alt.Data(values=points)).facet(
        facet, columns=columns, spacing={"row": 14, "column": 22}
    )


def coverage(alt: Any, cells: Sequence[Cell]) -> Any:
    """Every system as a dot, those that fall short in another color and shape; the mean as a line."""
    kinds = ("at .95 or within Monte-Carlo error", "falls short")
    points = [
        {**asdict(cell), "shown": max(cell.covered, _LOWEST), "kind": kinds[cell.short], "nominal": NOMINAL}
        for cell in cells
    ]

    def y(number: str) -> Any:
        axis = alt.Axis(values=[0.8, 0.85, 0.9, 0.95, 1.0], format=".2f")
        return alt.Y(number, title="coverage", axis=axis).scale(domain=[_LOWEST, 1], nice=False)

    dot = alt.Chart().mark_point(filled=True, size=34, opacity=0.75, clip=False)
    kind = {
        "color": alt.Color("kind:N", legend=alt.Legend(orient="top", title=None)).scale(
            domain=kinds, range=[GRAY, ORANGE]
        ),
        "shape": alt.Shape("kind:N").scale(domain=kinds, range=["circle", "triangle-down"]),
    }
    layers = [
        alt.Chart().mark_rule(color=INK, strokeDash=[5, 4]).encode(y=y("mean(nominal):Q")),
        alt.Chart().mark_line(color=BLUE, strokeWidth=2, clip=True).encode(x=_rows(alt), y=y("mean(covered):Q")),
        dot.encode(x=_rows(alt), y=y("shown:Q"), **kind),
    ]
    return _panels(alt, [layer.properties(width=215, height=105) for layer in layers], points, "interval", 3)


def width(alt: Any, cells: Sequence[Cell]) -> Any:
    """Every system as a dot, the median as a line."""
    points = [asdict(cell) for cell in cells if cell.width > 0]

    def y(number: str) -> Any:
        axis = alt.Axis(values=[0.001, 0.01, 0.1, 1], format="~g")
        return alt.Y(number, title="mean width", axis=axis).scale(type="log", domain=[0.001, 2], nice=False)

    layers = [
        alt.Chart().mark_line(color=BLUE, strokeWidth=2).encode(x=_rows(alt), y=y("median(width):Q")),
        alt.Chart().mark_point(filled=True, size=30, opacity=0.7, color=GRAY).encode(x=_rows(alt), y=y("width:Q")),
    ]
    return _panels(alt, [layer.properties(width=215, height=105) for layer in layers], points, "interval", 3)


def biased(alt: Any, bias: Sequence[Bias]) -> Any:
    """The theorem as a line, the mean of M̂ as dots on it, the truth dashed."""
    what = ("mean estimate over the trials", "expected by the theorem", "true consistency, dashed")
    points = [
        {**asdict(bias_cell), "dots": what[0], "line": what[1], "dashes": what[2]}
        for bias_cell in bias
        if bias_cell.measure == "consistency"
    ]
    color = alt.Scale(domain=list(what), range=[ORANGE, BLUE, INK])

    def layer(chart: Any, number: str, name: str) -> Any:
        y = alt.Y(f"{number}:Q", title="consistency").scale(domain=[0, 1]).axis(values=[0, 0.5, 1], format=".1f")
        legend = alt.Legend(orient="top", symbolType="circle", title=None)
        return chart.encode(x=_rows(alt), y=y, color=alt.Color(f"{name}:N", scale=color, legend=legend))

    layers = [
        layer(alt.Chart().mark_line(strokeDash=[5, 4], strokeWidth=1.3), "truth", "dashes"),
        layer(alt.Chart().mark_line(strokeWidth=2), "theorem", "line"),
        layer(alt.Chart().mark_point(filled=True, size=42, opacity=1), "mean", "dots"),
    ]
    return _panels(alt, [layer.properties(width=158, height=90) for layer in layers], points, "system", 4)


def foreseen(alt: Any, forecasts: Sequence[Forecast]) -> Any:
    """Every draw as a dot; on the diagonal the forecast is right."""
    told = [forecast for forecast in forecasts if forecast.foreseen is not None]
    points = [{**asdict(forecast), "from": f"from {forecast.n:,} rows to {4 * forecast.n:,}"} for forecast in told]
    names = list(dict.fromkeys(forecast.rows_of for forecast in told))
    ends = [{"x": 0, "y": 0}, {"x": 1, "y": 1}]
    marks = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down"]
    share = {"domain": [0, 1], "nice": False}
    axis = alt.Axis(values=[0, 0.25, 0.5, 0.75, 1], format=".2f")
    dots = (
        alt.Chart()
        .mark_point(filled=True, size=30, opacity=0.6)
        .encode(
            x=alt.X("observed:Q", title="unverifiable at 4 n", axis=axis).scale(**share),
            y=alt.Y("foreseen:Q", title="foreseen from n rows", axis=axis).scale(**share),
            color=alt.Color("rows_of:N", legend=alt.Legend(orient="top", columns=6, title=None)).scale(
                domain=names, range=SETS
            ),
            shape=alt.Shape("rows_of:N").scale(domain=names, range=marks),
        )
    )
    line = alt.Chart(alt.Data(values=ends)).mark_line(color=INK, strokeDash=[5, 4], strokeWidth=1.3)
    layers = [line.encode(x="x:Q", y="y:Q"), dots]
    return _panels(alt, [layer.properties(width=215, height=215) for layer in layers], points, "from", 3)
