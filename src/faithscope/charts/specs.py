"""Vega-Lite specifications: rows of numbers in, plain dictionaries out, without width and colors."""

import math
from collections.abc import Iterator
from typing import Any

from faithscope.charts.layers import SHARES, Row, Rows, Spec, layer, layered, nominal, share, titled, tooltip, x_until

_KEYS = {
    False: (
        "bar: shown to agree · hatched: cannot be checked · line below it: interval",
        "diamond: agreement where it can be checked, with its interval · tick: chance",
    ),
    True: (
        "bar: variance accounted for · hatched: cannot be checked · line below it: interval",
        "diamond: the share where it can be checked, with its interval · tick: chance",
    ),
}
CURVE_KEY = ("line: agreement where it can be checked, with the interval · band: cannot be checked · dashed: chance",)
_STEP = 27  # pixels per line of bars
_LINE = 15  # pixels of a line of text
_AGAINST, _COARSER, _CURVE = 300, 280, 260  # pixels of the height of charts
_ABOVE, _ARROW = 8, 18  # pixels of the words above a line, and above an arrow on it
_GUTTER = 78  # pixels for the names of measures
_HATCH = 0.0125  # between strokes of a bar, on the scale from 0 to 1; doubled for columns, which are shorter
_SAME, _SPREAD = "Same()", "Spread()"  # agreements as estimates write them down
_UNIQUENESS = {"domain": [0, 1]}
_LOWEST = -1.0  # an axis begins no lower; a mark beyond it is drawn at its end


def key(rows: Rows) -> tuple[str, ...]:
    """What the marks of `estimates` mean."""
    return _KEYS[agreements(rows) == {_SPREAD}]


def agreements(rows: Rows) -> set[str]:
    """The agreements by which these rows were estimated."""
    return {row.get("agreement", _SAME) for row in rows}


def _axis_title(rows: Rows) -> str:
    """What these estimates are, by their agreements."""
    names = agreements(rows)
    if names == {_SAME}:
        return "probability that the prediction is the same"
    if names == {_SPREAD}:
        return "share of the variance of the predictions accounted for"
    name = min(names)
    if len(names) == 1 and name.startswith("Tolerance("):
        return f"probability that predictions agree, {name}"
    close = len(names) == 1 and name.startswith("Close(")
    return f"mean agreement of predictions, {name}" if close else "mean agreement of predictions"


def _scale(rows: Rows) -> Spec:
    """The scale from 0 to 1, or from below 0: `Spread` is below chance, 0, if explanations are worse than none."""
    fields = ("value", "low", "upper", "chance", "verified", "verified_low")
    least = min((row[field] for row in rows for field in fields if row.get(field) is not None), default=0.0)
    if least >= 0:
        return SHARES
    return {"domain": [max(_LOWEST, math.floor(10 * least) / 10), 1], "clamp": True}


def estimates(rows: Rows) -> Spec:
    """One bar per estimate, under its name."""
    lines, names = _lines(rows)
    several = len({row["measure"] for row in rows}) > 1
    order = sorted((line["line"] for line in (*lines, *names)), key=_place)
    labels = {"labelExpr": "slice(datum.label, indexof(datum.label, ' ') + 1)", "ticks": False, "domain": False}
    extent = {"values": [line["line"] for line in lines], "title": None, "minExtent": _GUTTER, "maxExtent": _GUTTER}
    y = {
        "field": "line",
        "type": "nominal",
        "scale": {"domain": order, "padding": 0},
        "axis": {**labels, **extent} if several else None,
    }
    text = {"type": "text", "style": "name", "align": "left", "baseline": "middle", "dy": 3}
    left = _GUTTER if several else 0
    text |= {"limit": {"expr": f"width + {left}"}}
    heading = {"y": y, "text": nominal("name"), "x": {"value": -left}}
    layers = [{**bar, "encoding": {"y": y, **bar["encoding"]}} for bar in _bars(lines)]
    return layered([*layers, layer(names, text, heading)], _STEP * len(order), _scale(rows))


def _lines(rows: Rows) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Rows and names, each with its ``line`` in the chart: the number of the name, then the measure."""
    numbers = {name: place for place, name in enumerate(dict.fromkeys(row["name"] for row in rows))}
    names = [{"name": name, "line": f"{place}"} for name, place in numbers.items()]
    return [{**row, "line": f"{numbers[row['name']]} {row['measure']}"} for row in rows], names


def _place(line: str) -> tuple[int, str]:
    number, _, measure = line.partition(" ")
    return int(number), measure


def _bars(lines: Rows) -> list[Spec]:
    """Layers: value, unverifiable part, chance, interval, and the agreement of the rows that can be checked."""
    axis = {"title": _axis_title(lines), "format": ".1f", "tickCount": 5}
    ends = ("verified_low", "verified_high")
    tips = tooltip("name", "measure", "verified", *ends, "low", "high", "unverifiable", "value", "chance", "n")
    bar, below = {"height": 11, "yOffset": -3}, {"yOffset": 7}
    cap = {"type": "tick", "style": "cap", "orient": "vertical", "thickness": 1.5, "size": 7, **below}
    lines = [{**line, "zero": 0} for line in lines]
    silent = [line for line in lines if line["upper"] > line["value"]]
    checked, known = _having(lines, "verified"), _having(lines, "chance")
    zero = {**share("zero"), "axis": axis}
    color = {**nominal("measure"), "legend": None, "scale": {"domain": ["consistency", "sufficiency"]}}
    chance = {"type": "tick", "style": "chance", "orient": "vertical", "thickness": 2, "size": _STEP}
    stroke = {"type": "point", "style": "hatch", "shape": "stroke", "angle": 300, "size": 90, "yOffset": -3}
    diamond = {"type": "point", "style": "checked", "shape": "diamond", "size": 75, "yOffset": -3}
    span = {"type": "rule", "style": "checked-interval", "yOffset": -3}
    return [
        layer(lines, {"type": "bar", **bar}, {"x": zero, "color": color} | x_until("value") | tips),
        layer(silent, {"type": "bar", "style": "silent", **bar}, {"x": share("value")} | x_until("upper") | tips),
        layer(_hatching(silent), stroke, {"x": share("at")}),
        layer(known, chance, {"x": share("chance")} | tips),
        layer(lines, {"type": "rule", "style": "interval", **below}, {"x": share("low")} | x_until("high") | tips),
        layer(lines, cap, {"x": share("low")}),
        layer(lines, cap, {"x": share("high")}),
        layer(checked, span, {"x": share("verified_low")} | x_until("verified_high") | tips),
        layer(checked, diamond, {"x": share("verified")} | tips),
    ]


def _shown(row: Row) -> dict[str, Any]:
    """A row with what a point of it shows: the agreement where it can be checked, or the value if nothing can."""
    return {**row, "shown": row["value"] if row["verified"] is None else row["verified"]}


def _having(rows: Rows, field: str) -> Rows:
    """The rows with a value in this field; the same object if all have one, so that the chart holds the rows once."""
    return rows if all(row[field] is not None for row in rows) else [row for row in rows if row[field] is not None]


def _hatching(lines: Rows, step: float = _HATCH) -> list[dict[str, Any]]:
    """Strokes from the value to `upper`, one per step, and at least one per line."""
    strokes: list[dict[str, Any]] = []
    for line in lines:
        low, high = line["value"], line["upper"]
        names = {name: line[name] for name in ("name", "line", "uniqueness") if name in line}
        count = max(1, int((high - low) / step))
        places = [low + (stroke + 0.5) * (high - low) / count for stroke in range(count)]
        strokes += [{**names, "at": place} for place in places]
    return strokes


def against(rows: Rows) -> Spec:
    """Consistency against sufficiency, for every name that has both."""
    points = list(_both(rows))
    x, y = (titled(f"{measure}_shown", measure) for measure in ("consistency", "sufficiency"))
    from_x, from_y = titled("consistency_low", "consistency"), titled("sufficiency_low", "sufficiency")
    to_x, to_y = x_until("consistency_high"), {"y2": {"field": "sufficiency_high"}}
    ends = [f"{measure}_{end}" for measure in ("consistency", "sufficiency") for end in ("shown", "low", "high")]
    tips, rule = tooltip("name", *ends), {"type": "rule", "style": "interval"}
    layers = [
        layer(points, {"type": "rect", "style": "box"}, {"x": from_x, "y": from_y, **to_x, **to_y, **tips}),
        layer(points, rule, {"x": from_x, "y": y, **to_x}),
        layer(points, rule, {"x": x, "y": from_y, **to_y}),
        layer(points, {"type": "point", "style": "dot", "size": 80}, {"x": x, "y": y, **tips}),
        *_spots(points, "consistency_shown", "sufficiency_shown", _AGAINST, _scale(rows)),
    ]
    return layered(layers, _AGAINST, _scale(rows))


def _both(rows: Rows) -> Iterator[dict[str, Any]]:
    for name in dict.fromkeys(row["name"] for row in rows):
        by_measure = {row["measure"]: row for row in rows if row["name"] == name}
        if {"consistency", "sufficiency"} <= set(by_measure):
            ends = ("shown", "low", "high")
            by_measure = {measure: _shown(row) for measure, row in by_measure.items()}
            yield {"name": name} | {f"{m}_{end}": row[end] for m, row in by_measure.items() for end in ends}


def discretizations(rows: Rows) -> Spec:
    """Consistency against uniqueness."""
    rows = [_shown(row) for row in rows]
    tips = tooltip("name", "uniqueness", "verified", "low", "high", "unverifiable", "chance")
    x = {**titled("uniqueness", "uniqueness"), "scale": _UNIQUENESS}
    silent = [row for row in rows if row["upper"] > row["value"]]
    known = _having(rows, "chance")
    chance = {"type": "tick", "style": "chance", "orient": "horizontal", "thickness": 2, "size": 22}
    stroke = {"type": "point", "style": "hatch", "shape": "stroke", "angle": 330, "size": 90}

    def y(field: str) -> Spec:
        return titled(field, "consistency")

    def to(field: str) -> Spec:
        return {"y2": {"field": field}}

    bar, rule = {"type": "bar", "style": "silent", "width": 11}, {"type": "rule", "style": "interval", "xOffset": 9}
    layers = [
        layer(silent, bar, {"x": x, "y": y("value")} | to("upper") | tips),
        layer(_hatching(silent, 2 * _HATCH), stroke, {"x": x, "y": y("at")}),
        layer(rows, rule, {"x": x, "y": y("low")} | to("high") | tips),
        layer(known, chance, {"x": x, "y": y("chance")} | tips),
        layer(rows, {"type": "point", "style": "dot", "size": 80}, {"x": x, "y": y("shown")} | tips),
        *_spots(rows, "uniqueness", "shown", _COARSER, _scale(rows)),
    ]
    return layered(layers, _COARSER, _scale(rows))


def curve(points: Rows, n: int, wanted: float, needed: int | None) -> Spec:
    """The unverifiable share by rows: exact up to n, forecast beyond, in a band that goes on without a line."""
    exact = [point for point in points if point["kind"] == "exact"]
    beyond = [exact[-1], *(point for point in points if point["kind"] == "forecast")]
    band = [exact[-1], *(point for point in points if point["kind"] != "exact")]
    most = max(16 * n, *(point["n"] for point in points))  # room for words beyond the forecast
    powers = [10**power for power in range(len(str(most)) + 1) if 10**power <= most]
    axis = {"title": "rows", "values": powers, "format": ",d", "grid": False}
    x = {"field": "n", "type": "quantitative", "scale": {"type": "log", "domain": [1, most]}, "axis": axis}

    def line(rows: Rows, field: str, style: str) -> Spec:
        encoding = {"x": x, "y": titled(field, "share of rows"), **tooltip("n", field, "kind")}
        return layer(rows, {"type": "line", "style": style}, encoding)

    ends = {"x": x, "y": share("low"), "y2": {"field": "high"}, **tooltip("n", "low", "high", "kind")}
    layers = [
        *([layer(band, {"type": "area", "style": "band"}, ends)] if len(band) > 1 else []),
        line([point for point in exact if point["value"] is not None], "value", "value"),
        line(exact, "unverifiable", "exact"),
        line(beyond, "unverifiable", "forecast"),
        *_goal(x, wanted, needed, n),
        *_sample_end(x, n, exact[-1], _CURVE * wanted + (_ARROW if needed else _ABOVE)),
    ]
    return layered(layers, _CURVE)


def _sample_end(x: Spec, n: int, last: Row, taken: float) -> list[Spec]:
    """Layers: the end of the sample, and the names of the two lines; above the label that is at so many pixels."""
    now = [{**last, "n": n, "text": f"you are here\n{n:,} rows"}]
    names = [{"n": n, "y": last["value"], "text": "shown to agree"}] if last["value"] is not None else []
    corner = [{"n": 1, "y": 1, "text": "cannot be checked"}]
    label = {"type": "text", "align": "right", "dx": 4, "lineBreak": "\n", "lineHeight": 13, "style": "label"}
    aside = {"type": "text", "align": "left", "dx": 6, "style": "aside"}
    own = _CURVE * (last["value"] or 0)
    up = own - taken - _LINE if abs(own - taken) < _LINE else 0
    text = {"text": nominal("text")}
    return [
        layer(now, {"type": "rule", "style": "here-line"}, {"x": x}),
        layer(now, {"type": "point", "style": "here", "size": 70}, {"x": x, "y": share("unverifiable")}),
        layer(now, label, {"x": x, "y": {"value": -21}, **text}),
        layer(names, {**aside, "dy": up}, {"x": x, "y": share("y"), **text}),
        layer(corner, {**aside, "dy": -8}, {"x": x, "y": share("y"), **text}),
    ]


def _goal(x: Spec, wanted: float, needed: int | None, n: int) -> list[Spec]:
    """Layers: the wanted share, and the number of rows that it takes, if known."""
    text = f"{wanted:.0%} wanted" if needed is None else f"{wanted:.0%}: {needed:,} rows"
    goal = [{"wanted": wanted, "text": text, "n": needed}]
    y, far = share("wanted"), needed is None or needed > 3 * n
    label = {"type": "text", "style": "aside", "align": "right" if far else "left", "dx": 0, "dy": -_ABOVE}
    at = {"x": {"value": "width"} if needed is None else x, "y": y, "text": nominal("text")}
    arrow = {"type": "point", "style": "here", "shape": "triangle-down", "size": 60, "yOffset": -5}
    rule = layer(goal, {"type": "rule", "style": "wanted"}, {"y": y})
    if needed is None:
        return [rule, layer(goal, label, at)]
    return [rule, layer(goal, {**label, "dy": -_ARROW}, at), layer(goal, arrow, {"x": x, "y": y})]


def within_curve(rows: Rows) -> Spec:
    """The measure by distance."""
    axis = {"title": "distance within which explanations count as the same", "grid": False}
    return _measure_curve(rows, {"field": "tau", "type": "quantitative", "axis": axis}, "consistency")


def tolerance_curve(rows: Rows) -> Spec:
    """The measure by eps, on a logarithmic axis."""
    axis = {"title": "eps, in the units of the predictions", "grid": False, "tickCount": 6, "format": "~g"}
    scale = {"type": "log", "nice": False, "padding": 8}
    x: Spec = {"field": "eps", "type": "quantitative", "axis": axis, "scale": scale}
    kind = rows[0]["agreement"].partition("(")[0]
    return _measure_curve(rows, x, f"{rows[0]['measure']} by {kind}(eps)")


def _measure_curve(rows: Rows, x: Spec, title: str) -> Spec:
    rows = [_shown(row) for row in rows]
    tips = tooltip(x["field"], "verified", "low", "high", "unverifiable", "chance")
    shown = {"x": x, "y": titled("shown", title)}
    interval = {"x": x, "y": titled("low", title), "y2": {"field": "high"}}
    layers = [
        layer(rows, {"type": "area", "style": "band"}, {"x": x, "y": titled("value", title), "y2": {"field": "upper"}}),
        layer(rows, {"type": "rule", "style": "interval"}, interval | tips),
        layer(rows, {"type": "line", "style": "value"}, shown),
        layer(rows, {"type": "point", "style": "dot", "size": 60}, shown | tips),
        layer(rows, {"type": "line", "style": "chance-line"}, {"x": x, "y": titled("chance", title)}),
    ]
    return layered(layers, 280, _scale(rows))


def _spots(rows: Rows, x: str, y: str, height: int, scale: Spec) -> list[Spec]:
    """Layers of names beside their points; none covers another, however wide the chart is.

    Every name has a line of its own: it stands as near to its point as the others leave room, and a stroke leads to it
    if that is not near. Points in the same place share one text; of more than there are lines, hovering tells the rest.
    """
    places: dict[tuple[int, int], list[Row]] = {}
    for row in rows:
        places.setdefault((round(row[x] * 12), round(row[y] * 14)), []).append(row)
    least, most = scale["domain"]
    line = _LINE * (most - least) / height
    spots = [
        {x: together[0][x], y: together[0][y], "text": ", ".join(row["name"] for row in together)}
        for together in sorted(places.values(), key=lambda together: -together[0][y])[: height // _LINE]
    ]
    last = most + line
    for spot in spots:  # from the top; what is pushed below the bottom is then pushed up again
        last = spot["at"] = min(last - line, spot[y] + line)
    last = least - line / 2
    for spot in reversed(spots):
        last = spot["at"] = max(last + line, spot["at"])
    far = [spot for spot in spots if abs(spot["at"] - spot[y]) > 1.5 * line]
    text = {"type": "text", "style": "label", "limit": {"expr": "width / 2"}}
    encoding = {"x": share(x), "y": share("at"), "text": nominal("text")}
    sides = ({"align": "left", "dx": 14}, {"align": "right", "dx": -14})
    stroke = {"x": share(x), "y": share(y), "y2": {"field": "at"}}
    return [
        layer(far, {"type": "rule", "style": "leader"}, stroke),
        *(
            layer([spot for spot in spots if (spot[x] > 0.5) == left], {**text, **side}, encoding)
            for left, side in zip((False, True), sides, strict=True)
        ),
    ]
