"""The picture of explanations that say where they apply: the precision of each against its recall."""

from typing import Any

from faithscope.charts.layers import Rows, Spec, layer, layered, titled, tooltip

_MOST_INTERVALS = 25  # with more points, intervals would hide them
_RECALL = "recall: of the rows with its prediction, the share that it covers"
_PRECISION = "precision: of the rows that it covers, the share with its prediction"
_SIZES = {"range": [25, 500]}  # square pixels


def precision_recall(rows: Rows) -> Spec:
    """One point per explanation, larger if more rows were given it; a ring if its choice says more than it does.

    Parameters
    ----------
    rows : sequence of mappings
        With ``explanation``, ``label``, ``n``, ``precision``, ``recall``, the ends of both intervals, and ``flagged``.
    """
    x, y = titled("recall", _RECALL), titled("precision", _PRECISION)
    size: dict[str, Any] = {"field": "n", "type": "quantitative", "scale": _SIZES, "legend": None}
    tips = tooltip("explanation", "label", "n", "precision", "recall")
    few = rows if len(rows) <= _MOST_INTERVALS else []
    rule = {"type": "rule", "style": "checked-interval", "opacity": 0.35}
    along = {"x": titled("recall_low", _RECALL), "x2": {"field": "recall_high"}, "y": y}
    upward = {"x": x, "y": titled("precision_low", _PRECISION), "y2": {"field": "precision_high"}}
    ringed = [row for row in rows if row.get("flagged")]
    layers = [
        layer(few, rule, along),
        layer(few, rule, upward),
        layer(rows, {"type": "point", "style": "dot", "opacity": 0.6}, {"x": x, "y": y, "size": size, **tips}),
        layer(ringed, {"type": "point", "style": "ring", "size": 620}, {"x": x, "y": y, **tips}),
    ]
    return layered(layers, 320)
