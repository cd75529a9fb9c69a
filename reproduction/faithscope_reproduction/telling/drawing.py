"""Figures drawn like the paper's: curves with 95% bands, or bars."""

from typing import Any

from faithscope_reproduction.records import Figure

_COLORS = ("#0068a3", "#c4591a", "#008a68", "#8a4a9c", "#b3312b", "#8a6500", "#3f97cf", "#d98640", "#3bb394")
_HEIGHT = 240


def draw(figure: Figure) -> dict[str, Any]:
    """A figure as a Vega-Lite specification without a width of its own."""
    names = list(dict.fromkeys(figure.columns["curve"]))
    columns = list(figure.columns)
    points = [dict(zip(columns, point, strict=True)) for point in zip(*figure.columns.values(), strict=True)]
    drawn = [_compact(point) for point in points if point["y"] is not None]
    scale = {"domain": names, "range": [_COLORS[place % len(_COLORS)] for place in range(len(names))]}
    legend: dict[str, Any] = {"title": None, "orient": "bottom", "columns": 2, "labelLimit": 260}
    legend |= {"symbolType": "stroke", "symbolOpacity": 1, "symbolStrokeWidth": 3}
    color = {"field": "curve", "type": "nominal", "scale": scale, "legend": legend}
    layers = _bars if figure.bars else _curves
    return {
        "datasets": {"points": drawn, "banded": [point for point in drawn if point.get("low") is not None]},
        "height": _HEIGHT,
        "layer": layers(figure, color),
    }


def _curves(figure: Figure, color: dict[str, Any]) -> list[dict[str, Any]]:
    line, band = _encoding(figure, color, "y"), _encoding(figure, color, "low") | {"y2": {"field": "high"}}
    return [
        _layer("banded", {"type": "area", "opacity": 0.2}, band),
        _layer("points", {"type": "line", "strokeWidth": 1.8}, line),
        _layer("points", {"type": "point", "size": 14, "filled": True}, line | _tips(figure)),
    ]


def _bars(figure: Figure, color: dict[str, Any]) -> list[dict[str, Any]]:
    """A bar per curve at each place, with its band as a line."""
    place = {
        "x": {"field": "x", "type": "ordinal", "axis": {"title": figure.x, "labelAngle": 0}},
        "xOffset": {"field": "curve", "type": "nominal", "sort": color["scale"]["domain"]},
    }
    filled = color | {"legend": color["legend"] | {"symbolType": "square"}}
    bar = _encoding(figure, filled, "y") | place
    spread = {name: bar[name] for name in ("x", "xOffset")} | {
        "y": bar["y"] | {"field": "low"},
        "y2": {"field": "high"},
    }
    return [
        _layer("points", {"type": "bar"}, bar | _tips(figure)),
        _layer("banded", {"type": "rule", "strokeWidth": 2, "color": "#777777"}, spread),
    ]


def _layer(data: str, mark: dict[str, Any], encoding: dict[str, Any]) -> dict[str, Any]:
    return {"data": {"name": data}, "mark": mark, "encoding": encoding}


def _encoding(figure: Figure, color: dict[str, Any], field: str) -> dict[str, Any]:
    numbers = [value for value in figure.columns["y"] if value is not None]
    shares = bool(numbers) and max(numbers) <= 1 and min(numbers) >= 0
    y_scale = {"domain": [0, 1]} if shares else {"zero": False}
    x_scale = {"type": "log"} if figure.log else {"zero": False, "nice": False}
    return {
        "x": {"field": "x", "type": "quantitative", "scale": x_scale, "axis": {"title": figure.x, "tickCount": 5}},
        "y": {"field": field, "type": "quantitative", "scale": y_scale, "axis": {"title": figure.y, "tickCount": 5}},
        "color": color,
    }


def _tips(figure: Figure) -> dict[str, Any]:
    def tip(field: str, title: str) -> dict[str, Any]:
        return {"field": field, "title": title, "type": "quantitative", "format": ",.4~g"}

    curve = {"field": "curve", "title": "curve", "type": "nominal"}
    return {"tooltip": [curve, tip("x", figure.x), tip("y", figure.y), tip("low", "from"), tip("high", "to")]}


def _compact(point: dict[str, Any]) -> dict[str, Any]:
    """A point with no more digits than a drawing has pixels."""
    return {name: round(value, 5) if isinstance(value, float) else value for name, value in point.items()}


def spoken_of(figure: Figure) -> str:
    """A figure in words: the first and the last point of every curve."""
    ends = []
    for name in dict.fromkeys(figure.columns["curve"]):
        places = [place for place, curve in enumerate(figure.columns["curve"]) if curve == name]
        first, last = (figure.columns["y"][place] for place in (places[0], places[-1]))
        at = f"{figure.columns['x'][places[-1]]:,}"
        ends.append(f"{name}: {_digits(first)} at first, {_digits(last)} at {at}")
    return f"{figure.title}. {figure.y} by {figure.x}. " + "; ".join(ends) + "."


def _digits(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.3g}"
