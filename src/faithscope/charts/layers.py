"""Layers of Vega-Lite specifications: what all charts are made of."""

from collections.abc import Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]
Rows = Sequence[Row]
Spec = dict[str, Any]

_SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"  # an identifier; nothing is downloaded
SHARES = {"domain": [0, 1]}  # replaced by the `scale` of `layered` if there are values below 0
_WORDS = {
    "name": "name",
    "low": "interval from",
    "high": "interval to",
    "verified": "where it can be checked",
    "verified_low": "where checked, from",
    "verified_high": "where checked, to",
    "tau": "distance",
    "eps": "eps",
    "n": "rows",
    "kind": "how known",
}


def tooltip(*fields: str) -> Spec:
    """The tooltip: what hovering over a mark shows."""

    def tip(field: str) -> Spec:
        words = {"field": field, "title": _WORDS.get(field, field.replace("_", " "))}
        if field in {"name", "measure", "kind", "explanation", "label"}:
            return {**words, "type": "nominal"}
        return {**words, "type": "quantitative", "format": ",d" if field in {"n"} else ".3f"}

    return {"tooltip": [tip(field) for field in fields]}


def layer(rows: Rows, mark: Spec, encoding: Spec) -> Spec:
    """Rows drawn by one kind of mark."""
    return {"data": rows, "mark": mark, "encoding": encoding}


def layered(layers: list[Spec], height: Any, scale: Spec = SHARES) -> Spec:
    """The layers as one chart, with this scale for shares; rows that several layers draw are stored once."""
    layers = [{**each, "encoding": _scaled(each["encoding"], scale)} for each in layers]
    held: dict[int, tuple[str, Rows]] = {}
    for each in layers:
        held.setdefault(id(each["data"]), (f"rows{len(held)}", each["data"]))
    named = [{**each, "data": {"name": held[id(each["data"])][0]}} for each in layers]
    datasets = {name: [_compact(row) for row in rows] for name, rows in held.values()}
    return {"$schema": _SCHEMA, "layer": named, "datasets": datasets, "height": height}


def _scaled(encoding: Spec, scale: Spec) -> Spec:
    """The encoding with another scale for shares."""
    if scale is SHARES:
        return encoding
    channels = {name: channel for name, channel in encoding.items() if isinstance(channel, dict)}
    shares = {name: channel for name, channel in channels.items() if channel.get("scale") is SHARES}
    return encoding | {name: {**channel, "scale": scale} for name, channel in shares.items()}


def _compact(row: Row) -> dict[str, Any]:
    """A row with its numbers rounded to 5 digits, which is finer than a pixel."""
    return {name: round(value, 5) if isinstance(value, float) else value for name, value in row.items()}


def share(field: str) -> Spec:
    """A channel that shows a share, from 0 to 1."""
    return {"field": field, "type": "quantitative", "scale": SHARES}


def titled(field: str, title: str) -> Spec:
    """A channel that shows a share, beside an axis with a title."""
    return {**share(field), "axis": {"title": title, "tickCount": 5}}


def x_until(field: str) -> Spec:
    """The field at which a mark ends."""
    return {"x2": {"field": field}}


def nominal(field: str) -> Spec:
    """A channel that shows names."""
    return {"field": field, "type": "nominal"}
