"""Charts of what is watched: shares over time, with limits for all looks, and alarms."""

from faithscope.charts.layers import Rows, Spec, layer, layered, tip, titled

_FEW = 60  # days up to which each has a dot of full size
_TIPS = (
    "day",
    tip("value", "that day"),
    tip("low", "all looks, from"),
    tip("high", "all looks, to"),
)


def over_time(
    points: Rows,
    alarms: Rows,
    at_least: float | None,
    reference_end: str | None,
    height: int,
) -> Spec:
    """A band of limits over days, the days' own shares as dots, and alarms.

    Parameters
    ----------
    points
        ``day`` (ISO date), ``value``, ``low`` and ``high``.
    alarms
        ``day``, ``text``, and the limits ``low`` and ``high`` of the days ``since`` the change.
    """
    x = {"field": "day", "type": "temporal", "axis": {"title": None, "grid": False, "labelOverlap": True}}
    dots = [row for row in points if row["value"] is not None]
    size, clip = {"size": 36 if len(dots) <= _FEW else 14}, {"clip": True}
    layers = [
        layer(points, "area watched", clip, x=x, y=titled("low", "consistency"), y2="high", tooltip=_TIPS),
        *(layer(points, "line limit", clip, x=x, y=end) for end in ("low", "high")),
        layer(dots, "point dot", size, x=x, y="value", tooltip=_TIPS),
    ]
    if reference_end is not None and points:  # a box behind the days of the reference period
        box = [{"day": points[0]["day"], "end": reference_end}]
        layers.insert(0, layer(box, "rect box", x=x, x2="end"))
    if at_least is not None:
        layers.append(layer([{"wanted": at_least}], "rule wanted", y="wanted"))
    if alarms:  # rules on their days, and the limits since the change that each tells of
        boxes = [{**row, "end": points[-1]["day"] if points else ""} for row in alarms]
        label = {"align": "right", "dx": 3, "baseline": "bottom", "dy": -2}
        first = list({row["text"]: row for row in reversed(alarms)}.values())  # others would cover it
        layers += [
            layer(boxes, "rect since", clip, x={**x, "field": "since"}, x2="end", y="low", y2="high"),
            layer(alarms, "rule alarm", x=x),
            layer(first, "text alarm-name", label, x=x, y={"value": 0}, text="text"),
        ]
    return layered(layers, height, {"domain": _range(points, alarms, at_least), "nice": True, "zero": False})


def _range(points: Rows, alarms: Rows, at_least: float | None) -> list[float]:
    """The part of 0 to 1 that shows all dots, the promise, and the limits once they say something."""
    limits = [row[end] for row in points[len(points) // 5 :] for end in ("low", "high")]
    ends = [at_least, *limits, *(row["value"] for row in points), *(row["low"] for row in alarms)]
    known = [end for end in ends if end is not None] or [0.0, 1.0]
    margin = max(0.01, 0.08 * (max(known) - min(known)))
    return [max(0.0, min(known) - margin), min(1.0, max(known) + margin)]
