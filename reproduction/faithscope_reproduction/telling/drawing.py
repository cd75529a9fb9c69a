"""Figures drawn like the paper's, as curves with 95% bands or as bars; in words; and what the paper shows instead."""

from functools import partial
from pathlib import Path
from typing import Any

from faithscope.charts.layers import layer, layered, nominal, number, tip
from faithscope.charts.theme import LIGHT, theme
from faithscope.runtime.files import write_atomically
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


def spoken_of(figure: Figure) -> str:
    """A figure in words: the first and the last point of every curve."""
    ends: dict[str, list[Any]] = {}
    for name, x, y in zip(*(figure.columns[field] for field in ("curve", "x", "y")), strict=True):
        ends.setdefault(name, []).append((f"{x:,}", "unknown" if y is None else f"{y:.3g}"))
    told = "; ".join(
        f"{name}: {ends[name][0][1]} at first, {ends[name][-1][1]} at {ends[name][-1][0]}" for name in ends
    )
    return f"{figure.title}. {figure.y} by {figure.x}. {told}."


def draw(figure: Figure) -> dict[str, Any]:
    """A figure as a Vega-Lite specification without a width of its own."""
    columns = figure.columns
    points = [dict(zip(columns, point, strict=True)) for point in zip(*columns.values(), strict=True)]
    drawn = [point for point in points if point["y"] is not None]
    banded = [point for point in drawn if point.get("low") is not None]
    names = list(dict.fromkeys(columns["curve"]))
    scale = {"domain": names, "range": [_COLORS[place % len(_COLORS)] for place in range(len(names))]}
    legend = {"title": None, "orient": "bottom", "columns": 2, "labelLimit": 260, "symbolOpacity": 1}
    legend |= {"symbolType": "square" if figure.bars else "stroke", "symbolStrokeWidth": 3}
    shares = all(0 <= point["y"] <= 1 for point in drawn) and bool(drawn)
    y = partial(number, scale={"domain": [0, 1]} if shares else {"zero": False}, title=figure.y, tickCount=5)
    at: dict[str, Any] = {"x": number("x", {"zero": False, "nice": False}, title=figure.x, tickCount=5)}
    if figure.bars:
        at = {"x": {"field": "x", "type": "ordinal", "axis": {"title": figure.x, "labelAngle": 0}}}
        at["xOffset"] = {**nominal("curve"), "sort": names}
    band, color = at | {"y": y("low"), "y2": "high"}, {**nominal("curve"), "scale": scale, "legend": legend}
    titles = {"x": figure.x, "y": figure.y, "low": "from", "high": "to"}
    tips = [tip(field, title) | {"format": ",.4~g"} for field, title in titles.items()]
    at |= {"y": y("y"), "color": color}
    told: dict[str, Any] = {"tooltip": [{**nominal("curve"), "title": "curve"}, *tips]}
    layers = [
        layer(banded, "area", {"opacity": 0.2}, **band, color=color),
        layer(drawn, "line", {"strokeWidth": 1.8}, **at),
        layer(drawn, "point", {"size": 14, "filled": True}, **at, **told),
    ]
    if figure.bars:
        gray = {"strokeWidth": 2, "color": "#777777"}
        layers = [layer(drawn, "bar", **at, **told), layer(banded, "rule", gray, **band)]
    return layered(layers, 240)


def write_picture(figure: Figure, path: Path) -> None:
    """Write a figure as an SVG file, for pages that run no scripts."""
    import vl_convert

    config = theme(LIGHT)
    config |= {"legend": config["legend"] | {"columnPadding": 24}, "padding": 12}
    write_atomically(path, vl_convert.vegalite_to_svg(draw(figure) | {"width": 420, "config": config}).encode())
