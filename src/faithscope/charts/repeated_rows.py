"""The specification of the chart of repeatability: rows by the share of pairs of runs that explain them alike."""

from collections.abc import Mapping, Sequence
from typing import Any

from faithscope.charts.layers import Spec, layer, layered, tooltip

KEY = ("bars: rows · line above: value, with its interval · dashed: chance",)
_ROOM = 1.16  # of the highest bar, so that the value lies above all bars


def repeated_rows(rows: Sequence[float], told: Mapping[str, Any]) -> Spec:
    """Bars of rows by share, from 0 to 1 in equal steps; the value and its interval above them, and chance."""
    step = 1 / (len(rows) - 1)
    bars = [
        {"share": place * step, "from": (place - 0.4) * step, "to": (place + 0.4) * step, "rows": share}
        for place, share in enumerate(rows)
        if share
    ]
    top = _ROOM * max(bar["rows"] for bar in bars)
    axis = {"title": "share of pairs of runs that explain a row alike", "format": ".1f", "tickCount": 5, "grid": False}
    inside = {"domain": [-step / 2, 1 + step / 2], "nice": False}

    def x(field: str) -> Spec:
        return {"field": field, "type": "quantitative", "scale": inside, "axis": axis}

    def y(field: str) -> Spec:
        counted = {"title": "share of rows", "format": ".0%", "tickCount": 4}
        return {"field": field, "type": "quantitative", "scale": {"domain": [0, top], "nice": False}, "axis": counted}

    estimate = [{**{name: told[name] for name in ("value", "low", "high", "chance")}, "at": 0.94 * top}]
    known = [line for line in estimate if line["chance"] is not None]
    span = {"x": x("low"), "x2": {"field": "high"}, "y": y("at"), **tooltip("value", "low", "high")}
    column = {"type": "rect", "style": "rows"}
    layers = [
        layer(
            bars,
            column,
            {"x": x("from"), "x2": {"field": "to"}, "y": y("rows"), "y2": {"datum": 0}, **tooltip("share", "rows")},
        ),
        layer(known, {"type": "rule", "style": "chance-line"}, {"x": x("chance"), **tooltip("chance")}),
        layer(estimate, {"type": "rule", "style": "interval"}, span),
        layer(estimate, {"type": "point", "style": "here", "size": 70}, {"x": x("value"), "y": y("at")}),
    ]
    return layered(layers, 220)
