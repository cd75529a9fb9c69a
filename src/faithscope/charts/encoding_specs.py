"""The specification of encoding's chart: per explanation, the rows given it against the others that it covers."""

from collections.abc import Mapping
from typing import Any

from faithscope.charts.layers import Rows, Spec, layer, layered

KEY = ("one point per explanation, larger for more rows · on the diagonal: its choice says nothing more",)
_MOST = 2000  # points drawn
_NAMES = {True: ("covered_mean", "given_mean"), False: ("covered_share", "given_share")}


def points(columns: Mapping[str, Any], numbers: bool) -> list[dict[str, Any]]:
    """One point per explanation, strongest first."""
    labels = () if numbers else ("label",)
    names = ("explanation", *labels, "n", "others", *_NAMES[numbers], "p_adjusted", "flagged")
    return [{name: _plain(columns[name][i]) for name in names} for i in range(min(len(columns["n"]), _MOST))]


def _plain(value: Any) -> Any:
    """A value that JSON has: a number, or the text of anything else."""
    item = value.item() if hasattr(value, "item") else value
    return item if isinstance(item, int | float) else str(item)


def encoding_spec(rows: Rows, numbers: bool) -> Spec:
    """The specification: points, and the diagonal."""
    across, up = _NAMES[numbers]
    what = "mean prediction" if numbers else "share of the commonest label"
    ends = [row[name] for row in rows for name in (across, up)] if numbers else []
    domain = [min(ends, default=0.0), max(ends, default=1.0)] if numbers else [0.0, 1.0]
    if domain[0] == domain[1]:
        domain[1] = domain[0] + 1.0
    scale = {"domain": domain, "nice": numbers}
    x = _axis(across, f"{what} among others covered", scale)
    y = _axis(up, f"{what} among rows given", scale)
    tips = [{"field": name, "type": _kind(name)} for name in (rows[0] if rows else ())]
    size = {"field": "n", "type": "quantitative", "legend": None, "scale": {"range": [30, 400]}}
    filled = {"condition": {"test": "datum.flagged", "value": 0.9}, "value": 0.25}
    marks = {"x": x, "y": y, "size": size, "fillOpacity": filled, "tooltip": tips}
    diagonal = layer(
        [{across: end, up: end} for end in domain], {"type": "line", "style": "chance-line"}, {"x": x, "y": y}
    )
    return layered([diagonal, layer(rows, {"type": "point", "style": "dot"}, marks)], 360)


def _kind(name: str) -> str:
    return "nominal" if name in ("explanation", "label", "flagged") else "quantitative"


def _axis(field: str, title: str, scale: Spec) -> Spec:
    return {"field": field, "type": "quantitative", "scale": scale, "axis": {"title": title, "tickCount": 5}}
