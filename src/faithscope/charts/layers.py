"""Layers of Vega-Lite specifications: what all charts are made of."""

from collections.abc import Mapping, Sequence
from typing import Any

Rows = Sequence[Mapping[str, Any]]
Spec = dict[str, Any]

_SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"  # an identifier; nothing is downloaded
SHARES = {"domain": [0, 1]}  # replaced by the `scale` of `layered` if there are values below 0
_NAMES = {"name", "other", "measure", "kind", "explanation", "label", "flagged", "day"}  # fields that hold words
_WORDS = {
    "low": "interval from",
    "high": "interval to",
    "verified": "where it can be checked",
    "verified_low": "where checked, from",
    "verified_high": "where checked, to",
    "tau": "distance",
    "n": "rows",
    "kind": "how known",
}


def layer(rows: Rows, look: str, mark: Spec | None = None, **channels: Any) -> Spec:
    """Rows drawn by one kind of mark.

    Parameters
    ----------
    rows : sequence of mappings
    look : str
        The type of the mark and its style, such as ``rule interval``.
    mark : dict, optional
        Further properties of the mark.
    **channels
        As Vega-Lite has them. A field alone is a share (``x``, ``y``), a text, or where a mark ends (``x2``, ``y2``);
        a ``tooltip`` has fields, or what `tip` makes of them.
    """
    kind, _, style = look.partition(" ")
    styled = {"type": kind, "style": style} if style else {"type": kind}
    encoding = {name: _channel(name, channel) for name, channel in channels.items()}
    return {"data": rows, "mark": styled | (mark or {}), "encoding": encoding}


def _channel(name: str, channel: Any) -> Any:
    if name == "tooltip":
        return [tip(field) if isinstance(field, str) else field for field in channel]
    if not isinstance(channel, str):
        return channel
    if name == "text":
        return nominal(channel)
    return {"field": channel} | ({"type": "quantitative", "scale": SHARES} if name in ("x", "y") else {})


def tip(field: str, words: str = "") -> Spec:
    """What hovering over a mark shows of one field."""
    titled = {"field": field, "title": words or _WORDS.get(field, field.replace("_", " "))}
    if field in _NAMES:
        return {**titled, "type": "nominal"}
    return {**titled, "type": "quantitative", "format": ",d" if field == "n" else ".3f"}


def layered(layers: list[Spec], height: Any, scale: Spec = SHARES) -> Spec:
    """The layers as one chart, with this scale for shares; rows that several layers draw are stored once."""
    held: list[Rows] = []
    named = []
    for each in layers:
        if each["data"] not in held:
            held.append(each["data"])
        encoding = {
            channel: {**shown, "scale": scale} if isinstance(shown, dict) and shown.get("scale") is SHARES else shown
            for channel, shown in each["encoding"].items()
        }
        named.append({**each, "data": {"name": f"rows{held.index(each['data'])}"}, "encoding": encoding})
    # Numbers are rounded to 5 digits, which is finer than a pixel.
    datasets = {
        f"rows{place}": [{key: round(x, 5) if isinstance(x, float) else x for key, x in row.items()} for row in rows]
        for place, rows in enumerate(held)
    }
    return {"$schema": _SCHEMA, "layer": named, "datasets": datasets, "height": height}


def number(field: str, scale: Spec | None = None, **axis: Any) -> Spec:
    """A channel that shows a number, beside an axis."""
    scaled = {} if scale is None else {"scale": scale}
    return {"field": field, "type": "quantitative", **scaled, "axis": axis}


def titled(field: str, title: str) -> Spec:
    """A channel that shows a share, beside an axis with a title."""
    return number(field, SHARES, title=title, tickCount=5)


def nominal(field: str) -> Spec:
    """A channel that shows names."""
    return {"field": field, "type": "nominal"}
