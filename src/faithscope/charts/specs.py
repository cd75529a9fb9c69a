"""Vega-Lite specifications: rows of numbers in, plain dictionaries out, without width and colors."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from faithscope.charts.layers import SHARES, Rows, Spec, layer, layered, nominal, number, tip, titled
from faithscope.rounding import down, up

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
_STEP = 27  # pixels per line of bars
_CURVE = 260  # pixels of the height of a chart
_ABOVE = 8  # pixels of the words above a line
_GUTTER = 78  # pixels for the names of measures
_HATCH = 0.0125  # between strokes of a bar, on the scale from 0 to 1
_SAME, _SPREAD = "Same()", "Spread()"  # agreements as estimates write them down
_LOWEST = -1.0  # an axis begins no lower; a mark beyond it is drawn at its end
_MOST_POINTS = 2000  # of encoding
_AXES = {
    "repeatability": "share of pairs of runs that explain a row alike",
    "necessity": "share of the rows with its prediction to which an explanation applies",
}
_TITLES = {  # by agreement
    "Same": "probability that the prediction is the same",
    "Spread": "share of the variance of the predictions accounted for",
    "Tolerance": "probability that predictions agree, {}",
    "Close": "mean agreement of predictions, {}",
}
CELL, _ROW = 84, 34  # pixels of a cell of a heat map, if there is room
_STRENGTH = {"domain": [0, 1], "range": [0.04, 0.55], "clamp": True}  # more would make numbers in cells illegible


def key(rows: Rows) -> tuple[str, ...]:
    """What the marks of `estimates` mean."""
    return _KEYS[agreements(rows) == {_SPREAD}]


def agreements(rows: Rows) -> set[str]:
    """The agreements by which these rows were estimated."""
    return {row.get("agreement", _SAME) for row in rows}


def _axis_title(rows: Rows) -> str:
    """What these estimates are, by their agreements."""
    names = agreements(rows)
    if {row["measure"] for row in rows} <= set(_AXES):
        return _AXES[rows[0]["measure"]]
    name = min(names) if len(names) == 1 else ""
    return _TITLES.get(name.partition("(")[0], "mean agreement of predictions").format(name)


def in_words(rows: Rows) -> str:
    """A chart of estimates in words."""
    lines = [
        f"{row['name']}: {row['measure']} {shown(row['verified'])}, interval {down(row['low'])} to {up(row['high'])}, "
        f"{row['unverifiable']:.0%} unverifiable"
        for row in rows
    ]
    return f"Bars with intervals. {'; '.join(lines)}."


def shown(share: float | None) -> str:
    """A share to be told; "undefined" if there is none."""
    return "undefined" if share is None else f"{share:.3f}"


def _scale(rows: Rows) -> Spec:
    """The scale from 0 to 1, or from below 0: `Spread` is below chance, 0, if explanations are worse than none."""
    fields = ("value", "low", "upper", "chance", "verified", "verified_low")
    least = min((row[field] for row in rows for field in fields if row.get(field) is not None), default=0.0)
    if least >= 0:
        return SHARES
    return {"domain": [max(_LOWEST, math.floor(10 * least) / 10), 1], "clamp": True}


def estimates(rows: Rows, *, strokes: bool = False) -> Spec:
    """One bar per estimate, under its name; `strokes` hatch it where there is no pattern of a page's to fill it."""
    # The line of an estimate in the chart is the number of its name, then that of its measure.
    names = list(dict.fromkeys(row["name"] for row in rows))
    digits = len(str(len(names)))
    places = {name: f"{place:0{digits}}" for place, name in enumerate(names)}
    headings = [{"name": name, "line": place} for name, place in places.items()]
    measures = sorted({row["measure"] for row in rows})
    lines = [{**row, "line": f"{places[row['name']]} {measures.index(row['measure'])}", "zero": 0} for row in rows]
    order = sorted(line["line"] for line in (*lines, *headings))
    left, axis = 0, None
    if len(measures) > 1:
        left = _GUTTER
        labels = {"labelExpr": f"{measures}[toNumber(split(datum.label, ' ')[1])]", "ticks": False, "domain": False}
        extent = {"title": None, "minExtent": left, "maxExtent": left}
        axis = {**labels, **extent, "values": [line["line"] for line in lines]}
    y = {**nominal("line"), "scale": {"domain": order, "padding": 0}, "axis": axis}
    zero = number("zero", SHARES, title=_axis_title(rows), format=".1f", tickCount=5)
    domain = list(dict.fromkeys(["consistency", "sufficiency", *(row["measure"] for row in rows)]))
    color = {**nominal("measure"), "legend": None, "scale": {"domain": domain}}
    ends = ("verified_low", "verified_high")
    tips = ("name", "measure", "verified", *ends, "low", "high", "unverifiable", "value", "chance", "n")
    told = {"y": y, "tooltip": tips}
    silent = [line for line in lines if line["upper"] > line["value"]]
    checked, known = ([line for line in lines if line[field] is not None] for field in ("verified", "chance"))
    above, below = {"yOffset": -3}, {"yOffset": 7}
    bar, tick = {"height": 11, **above}, {"orient": "vertical"}
    cap = {**tick, "thickness": 1.5, "size": 7, **below}
    stroke = {"shape": "stroke", "angle": 300, "size": 90, **above}
    diamond = {"shape": "diamond", "size": 75, **above}
    text = {"align": "left", "baseline": "middle", "dy": 3, "limit": {"expr": f"width + {left}"}}
    layers = [
        layer(lines, "bar", bar, x=zero, color=color, x2="value", **told),
        layer(silent, "bar silent", bar, x="value", x2="upper", **told),
        *([layer(_hatching(silent), "point hatch", stroke, y=y, x="at")] if strokes else []),
        layer(known, "tick chance", {**tick, "thickness": 2, "size": _STEP}, x="chance", **told),
        layer(lines, "rule interval", below, x="low", x2="high", **told),
        layer(lines, "tick cap", cap, y=y, x="low"),
        layer(lines, "tick cap", cap, y=y, x="high"),
        layer(checked, "rule checked-interval", above, x="verified_low", x2="verified_high", **told),
        layer(checked, "point checked", diamond, x="verified", **told),
        layer(headings, "text name", text, y=y, text="name", x={"value": -left}),
    ]
    return layered(layers, _STEP * len(order), _scale(rows))


def _hatching(lines: Rows) -> list[dict[str, Any]]:
    """Strokes from the value to `upper`, one per step, and at least one per line."""
    strokes: list[dict[str, Any]] = []
    for line in lines:
        low, high = line["value"], line["upper"]
        count = max(1, int((high - low) / _HATCH))
        strokes += [{"line": line["line"], "at": low + (place + 0.5) * (high - low) / count} for place in range(count)]
    return strokes


def curve(plan: Any) -> Spec:
    """The unverifiable share by rows: exact up to n, forecast beyond, in a band that goes on without a line."""
    frame, n = plan.curve, plan.n
    points = frame.astype(object).where(frame.notna(), None).to_dict("records")  # JSON has no NaN
    exact = [point for point in points if point["kind"] == "exact"]
    beyond = [exact[-1], *(point for point in points if point["kind"] == "forecast")]
    band = [exact[-1], *(point for point in points if point["kind"] != "exact")]
    most = max(16 * n, *(point["n"] for point in points))  # room for words beyond the forecast
    powers = [10**power for power in range(len(str(most)))]
    x = number("n", {"type": "log", "domain": [1, most]}, title="rows", values=powers, format=",d", grid=False)

    def line(rows: Rows, field: str, style: str) -> Spec:
        return layer(rows, f"line {style}", x=x, y=titled(field, "share of rows"), tooltip=("n", field, "kind"))

    told = [point for point in exact if point["value"] is not None]
    layers = [
        line(told, "value", "value"),
        line(exact, "unverifiable", "exact"),
        line(beyond, "unverifiable", "forecast"),
    ]
    if len(band) > 1:
        layers.insert(0, layer(band, "area band", x=x, y="low", y2="high", tooltip=("n", "low", "high", "kind")))
    # The share that is wanted, and the number of rows that it takes, if known.
    needed = plan.rows_needed
    words = " wanted" if needed is None else f": {needed:,} rows"
    goal = [{"wanted": plan.wanted, "text": f"{plan.wanted:.0%}{words}", "n": needed}]
    label = {"align": "right", "dy": -_ABOVE}
    layers += [
        layer(goal, "rule wanted", y="wanted"),
        layer(goal, "text aside", label, x={"value": "width"}, y="wanted", text="text"),
    ]
    if needed is not None:
        arrow = {"shape": "triangle-down", "size": 60, "yOffset": -5}
        layers.append(layer(goal, "point here", arrow, x=x, y="wanted"))
    # The end of the sample, and the names of the two lines.
    last = exact[-1]
    now = [{**last, "n": n, "text": f"you are here\n{n:,} rows"}]
    names = [{"n": 1, "y": 1, "text": "cannot be checked"}]
    if last["value"] is not None:
        names.append({"n": n, "y": last["value"], "text": "shown to agree"})
    here = {"align": "right", "dx": 4, "lineBreak": "\n", "lineHeight": 13}
    layers += [
        layer(now, "rule here-line", x=x),
        layer(now, "point here", {"size": 70}, x=x, y="unverifiable"),
        layer(now, "text label", here, x=x, y={"value": -21}, text="text"),
        layer(names, "text aside", {"align": "left", "dx": 6, "dy": -_ABOVE}, x=x, y="y", text="text"),
    ]
    return layered(layers, _CURVE)


def measure_curve(rows: Rows, x: Spec, title: str) -> Spec:
    """A measure by a number, with points at the agreement where it can be checked, or at the value if nothing can."""
    rows = [{**row, "shown": row["value"] if row["verified"] is None else row["verified"]} for row in rows]
    tips = (x["field"], "verified", "low", "high", "unverifiable", "chance")

    layers = [
        layer(rows, "area band", x=x, y=titled("value", title), y2="upper"),
        layer(rows, "rule interval", x=x, y=titled("low", title), y2="high", tooltip=tips),
        layer(rows, "line value", x=x, y=titled("shown", title)),
        layer(rows, "point dot", {"size": 60}, x=x, y=titled("shown", title), tooltip=tips),
        layer(rows, "line chance-line", x=x, y=titled("chance", title)),
    ]
    return layered(layers, 280, _scale(rows))


def encoding(columns: Mapping[str, Any]) -> Spec:
    """Per explanation, the rows given it against the others that it covers, and the diagonal."""
    numbers = "given_mean" in columns
    what, kind = ("mean prediction", "mean") if numbers else ("share of the commonest label", "share")
    across, up = f"covered_{kind}", f"given_{kind}"
    names = ["explanation", *([] if numbers else ["label"]), "n", "others", across, up, "p_adjusted", "flagged"]
    told = {name: np.asarray(columns[name])[:_MOST_POINTS].tolist() for name in names}
    if not numbers:
        told["label"] = list(map(str, told["label"]))
    rows = [dict(zip(names, line, strict=True)) for line in zip(*told.values(), strict=True)]
    ends = [row[name] for row in rows for name in (across, up)] if numbers else []
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    scale: Spec = {"domain": [low, high if low < high else low + 1.0], "nice": numbers}
    at = {
        "x": number(across, scale, title=f"{what} among others covered", tickCount=5),
        "y": number(up, scale, title=f"{what} among rows given", tickCount=5),
    }
    filled = {"condition": {"test": "datum.flagged", "value": 0.9}, "value": 0.25}
    diagonal = layer([{across: end, up: end} for end in scale["domain"]], "line chance-line", **at)
    points = layer(
        rows,
        "point dot",
        **at,
        size={"field": "n", "type": "quantitative", "scale": {"range": [30, 400]}, "legend": None},
        fillOpacity=filled,
        tooltip=names,
    )
    return layered([diagonal, points], 360)


def heat_map(names: Sequence[str], values: Sequence[Sequence[float | None]], measure: str = "") -> Spec:
    """A square of cells, stronger for larger numbers, each with its number; hatched if it is not known.

    Marks have one color, of which more or less is seen, so that it can be a page's own; numbers stay legible on it.

    Parameters
    ----------
    names : sequence of str
    values : square of float or None
        One row per name; None for what is not known. The diagonal stays empty.
    measure : str
        What the numbers are, for the tooltip.

    Examples
    --------
    >>> heat_map(["shap", "lime"], [[None, 0.25], [0.25, None]])["datasets"]["rows0"][0]["text"]
    '0.25'
    """
    cells = [(row, column, values[i][j]) for i, row in enumerate(names) for j, column in enumerate(names) if i != j]
    known = [{"name": a, "other": b, "value": x, "text": f"{x:.2f}"} for a, b, x in cells if x is not None]
    missing = [{"name": a, "other": b, "text": "–"} for a, b, x in cells if x is None]
    axis = {"title": None, "ticks": False, "domain": False, "grid": False, "labelLimit": 140}
    scale = {"domain": list(names), "paddingInner": 0.04, "paddingOuter": 0}
    x = {**nominal("other"), "scale": scale, "axis": {**axis, "orient": "top", "labelAngle": -30}}
    place = {"x": x, "y": {**nominal("name"), "scale": scale, "axis": axis}}
    strength = {"field": "value", "type": "quantitative", "legend": None, "scale": _STRENGTH}
    tips = [tip("name", "explainer"), tip("other", "and"), tip("value", measure or "value")]
    middle = {"baseline": "middle"}
    layers = [
        layer(known, "rect heat", **place, fillOpacity=strength, tooltip=tips),
        layer(known, "text label", middle, **place, text="text"),
        layer(missing, "rect silent", {"strokeWidth": 0}, **place),
        layer(missing, "text aside", middle, **place, text="text"),
    ]
    return layered([each for each in layers if each["data"]], _ROW * len(names))


def pairs_in_words(names: Sequence[str], values: Sequence[Sequence[float | None]], measure: str) -> str:
    """A heat map in words: every pair of which the number is known."""
    told = [
        f"{name} and {names[j]} {value:.2f}"
        for i, name in enumerate(names)
        for j, value in enumerate(values[i])
        if j > i and value is not None
    ]
    return f"{measure[:1].upper() or 'V'}{measure[1:] or 'alues'}, pair by pair: {'; '.join(told) or 'none is known'}."
