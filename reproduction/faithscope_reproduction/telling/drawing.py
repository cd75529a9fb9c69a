"""Figures drawn like the paper's, as curves with 95% bands; in words; and what the paper shows instead."""

from functools import partial
from typing import Any

from faithscope.charts.layers import layer, layered, nominal, number, tip
from faithscope.report.document import Chart
from faithscope_reproduction.records import Figure

_COLORS = ("#0068a3", "#c4591a", "#008a68", "#8a4a9c", "#b3312b", "#8a6500", "#3f97cf", "#d98640", "#3bb394")
_TREES = (
    "curves of six trees of 64 to 2,048 leaves that rise to 1.0, the larger the tree the later; means of 5 runs with "
    "95% bands. No numbers are printed"
)
# It prints few numbers there, and its curves are not published.
_SHOWN = {
    "figure1-adult": f"{_TREES} but one: the 2,048-leaf tree takes 4,300 rows to reach 0.9.",
    "figure6": f"{_TREES}.",
    "figure7": "curves that rise to 1.0, later for larger k and for more training rows N; it does not say which k and "
    "N, and prints no numbers.",
    "figure3-adult": "Figure 3: sufficiency and the number of distinct explanations rise with the threshold, "
    "consistency falls. No numbers are printed.",
    "figure3": "Figure 8: the same three curves as Figure 3. No numbers are printed.",
    "figure4": "bars of four explainers in two populations; anchors highest in the first, 0.934 ± 0.003, SHAP highest "
    "in the second, 0.885 ± 0.006.",
}


def shown(name: str) -> str:
    """What the paper shows in the figure with this name, such as ``figure6-chess``; empty if it has none."""
    return next((told for start, told in _SHOWN.items() if name.startswith(start)), "")


def chart(figure: Figure) -> Chart:
    """A figure as a chart, with the first and the last point of every curve in words."""
    columns = figure.columns
    points = [dict(zip(columns, point, strict=True)) for point in zip(*columns.values(), strict=True)]
    ends: dict[str, list[Any]] = {}
    for point in points:
        ends.setdefault(point["curve"], []).append(point)
    told = "; ".join(
        f"{name}: {_told(curve[0]['y'])} at first, {_told(curve[-1]['y'])} at {curve[-1]['x']:,}"
        for name, curve in ends.items()
    )
    words = f"{figure.title}. {figure.y} by {figure.x}. {told}."
    caption = f"{figure.title}. The paper shows {shown(figure.name)}"
    return Chart(_curves(figure, points, list(ends)), words, caption, figure.name)


def _told(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.3g}"


def _curves(figure: Figure, points: list[dict[str, Any]], names: list[str]) -> dict[str, Any]:
    """A Vega-Lite specification without a width of its own."""
    drawn = [point for point in points if point["y"] is not None]
    banded = [point for point in drawn if point.get("low") is not None]
    scale = {"domain": names, "range": [_COLORS[place % len(_COLORS)] for place in range(len(names))]}
    legend = {"title": None, "orient": "bottom", "columns": 2, "labelLimit": 260, "symbolOpacity": 1}
    legend |= {"symbolType": "stroke", "symbolStrokeWidth": 3}
    shares = all(0 <= point["y"] <= 1 for point in drawn) and bool(drawn)
    y = partial(number, scale={"domain": [0, 1]} if shares else {"zero": False}, title=figure.y, tickCount=5)
    at: dict[str, Any] = {"x": number("x", {"zero": False, "nice": False}, title=figure.x, tickCount=5)}
    at["color"] = {**nominal("curve"), "scale": scale, "legend": legend}
    titles = {"x": figure.x, "y": figure.y, "low": "from", "high": "to"}
    tips = [tip(field, title) | {"format": ",.4~g"} for field, title in titles.items()]
    tooltip = [{**nominal("curve"), "title": "curve"}, *tips]
    layers = [
        layer(banded, "area", {"opacity": 0.2}, **at, y=y("low"), y2="high"),
        layer(drawn, "line", {"strokeWidth": 1.8}, **at, y=y("y")),
        layer(drawn, "point", {"size": 14, "filled": True}, **at, y=y("y"), tooltip=tooltip),
    ]
    return layered(layers, 240)
