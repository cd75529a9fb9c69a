"""The heat map: a square of numbers in, a plain Vega-Lite specification out."""

from collections.abc import Sequence

from faithscope.charts.layers import Spec, layer, layered, nominal

CELL, _ROW = 84, 34  # pixels of a cell, if there is room
_STRENGTH = {"domain": [0, 1], "range": [0.04, 0.55], "clamp": True}  # more would make numbers in cells illegible


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
    place, text = _place(names), {"type": "text", "style": "label", "baseline": "middle"}
    number = {"field": "value", "type": "quantitative"}
    strength = {**number, "legend": None, "scale": _STRENGTH}
    told = {**number, "title": measure or "value", "format": ".3f"}
    tips = {"tooltip": [{**nominal("name"), "title": "explainer"}, {**nominal("other"), "title": "and"}, told]}
    hatched, dash = {"type": "rect", "style": "silent", "strokeWidth": 0}, {**text, "style": "aside"}
    layers = [
        layer(known, {"type": "rect", "style": "heat"}, {**place, "fillOpacity": strength, **tips}),
        layer(known, text, {**place, "text": nominal("text")}),
        layer(missing, hatched, place),
        layer(missing, dash, {**place, "text": nominal("text")}),
    ]
    return layered([each for each in layers if each["data"]], _ROW * len(names))


def _place(names: Sequence[str]) -> Spec:
    """Rows and columns in the order of the names."""
    axis = {"title": None, "ticks": False, "domain": False, "grid": False, "labelLimit": 140}
    scale = {"domain": list(names), "paddingInner": 0.04, "paddingOuter": 0}
    x = {**nominal("other"), "scale": scale, "axis": {**axis, "orient": "top", "labelAngle": -30}}
    return {"x": x, "y": {**nominal("name"), "scale": scale, "axis": axis}}
