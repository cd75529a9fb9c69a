"""Charts of what is watched: shares over time, with limits for all looks and for a single look, and alarms."""

from typing import Any

from faithscope.charts.layers import Rows, Spec, layer, layered, nominal, share, titled

_FEW = 60  # days up to which each has a dot of full size


def over_time(
    points: Rows,
    alarms: Rows,
    at_least: float | None,
    reference_end: str | None,
    height: int,
    measure: str = "consistency",
) -> Spec:
    """A band of limits over days, the days' own shares as dots, and alarms.

    Parameters
    ----------
    points
        ``day`` (ISO date), ``value``, ``low``, ``high``, ``once_low`` and ``once_high``.
    alarms
        ``day``, ``text``, and the limits ``low`` and ``high`` of the days ``since`` the change.
    """
    x = {"field": "day", "type": "temporal", "axis": {"title": None, "grid": False, "labelOverlap": True}}
    if any(not _is_date(row["day"]) for row in points):
        x = {
            "field": "day",
            "type": "ordinal",
            "axis": {"title": None, "grid": False, "labelOverlap": True, "labelAngle": 0},
        }
    tips = {"tooltip": [_tip("day", "day", nominal_too=True), *(_tip(name, words) for name, words in _WORDS)]}
    dots = [row for row in points if row["value"] is not None]
    size = 36 if len(dots) <= _FEW else 14
    layers = [
        *_reference(points, x, reference_end),
        layer(
            points,
            {"type": "area", "style": "watched", "clip": True},
            {"x": x, "y": titled("low", measure), "y2": {"field": "high"}, **tips},
        ),
        *(
            layer(points, {"type": "line", "style": "limit", "clip": True}, {"x": x, "y": share(end)})
            for end in ("low", "high")
        ),
        *(
            layer(points, {"type": "line", "style": "once", "clip": True}, {"x": x, "y": share(end)})
            for end in ("once_low", "once_high")
        ),
        layer(dots, {"type": "point", "style": "dot", "size": size}, {"x": x, "y": share("value"), **tips}),
        *_promise(at_least),
        *_alarms(alarms, x, points[-1]["day"] if points else ""),
    ]
    return layered(layers, height, {"domain": _range(points, alarms, at_least), "nice": True, "zero": False})


_WORDS = (
    ("value", "that day"),
    ("low", "all looks, from"),
    ("high", "all looks, to"),
    ("once_low", "single look, from"),
    ("once_high", "single look, to"),
)


def _tip(field: str, words: str, nominal_too: bool = False) -> Spec:
    kind = {"type": "nominal"} if nominal_too else {"type": "quantitative", "format": ".3f"}
    return {"field": field, "title": words, **kind}


def _range(points: Rows, alarms: Rows, at_least: float | None) -> list[float]:
    """The part of 0 to 1 that shows all dots, the promise, and the limits once they say something."""
    later = points[len(points) // 5 :]
    low = min([1.0, *(row["low"] for row in later), *(row["value"] for row in points if row["value"] is not None)])
    high = max([0.0, *(row["high"] for row in later), *(row["value"] for row in points if row["value"] is not None)])
    ends = [low, high, *(row["low"] for row in alarms), *([at_least] if at_least is not None else [])]
    margin = max(0.01, 0.08 * (max(ends) - min(ends)))
    return [max(0.0, min(ends) - margin), min(1.0, max(ends) + margin)]


def _reference(points: Rows, x: Spec, end: str | None) -> list[Spec]:
    """A box behind the days of the reference period."""
    if end is None or not points:
        return []
    box = [{"day": points[0]["day"], "end": end}]
    return [layer(box, {"type": "rect", "style": "box"}, {"x": x, "x2": {"field": "end"}})]


def _promise(at_least: float | None) -> list[Spec]:
    row = [{"wanted": at_least}]
    return [] if at_least is None else [layer(row, {"type": "rule", "style": "wanted"}, {"y": share("wanted")})]


def _alarms(alarms: Rows, x: Spec, last: str) -> list[Spec]:
    """Rules on the days of alarms, and the limits since the change that each tells of."""
    if not alarms:
        return []
    boxes = [{**row, "end": last} for row in alarms]
    label = {"type": "text", "style": "alarm-name", "align": "right", "dx": -5, "baseline": "top", "dy": 4}
    since = {"x": {**x, "field": "since"}, "x2": {"field": "end"}, "y": share("low"), "y2": {"field": "high"}}
    return [
        layer(boxes, {"type": "rect", "style": "since", "clip": True}, since),
        layer(alarms, {"type": "rule", "style": "alarm"}, {"x": x}),
        layer(alarms, label, {"x": x, "y": {"value": 0}, "text": nominal("text")}),
    ]


def _is_date(text: Any) -> bool:
    return isinstance(text, str) and len(text) >= 10 and text[4:5] == "-" and text[7:8] == "-"
