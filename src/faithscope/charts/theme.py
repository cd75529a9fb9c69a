"""The colors of charts and pages, light and dark.

Marks name a style or a range, never a color: `theme` assigns the colors, so that one chart can be shown light, dark,
or in the colors of a page.
"""

from collections.abc import Mapping
from typing import Any

# Blue, vermilion and bluish green of Okabe and Ito, darkened or lightened until text and marks can be read.
LIGHT = {
    "paper": "#ffffff",
    "panel": "#f5f6f8",
    "ink": "#1b2430",
    "muted": "#545e6c",
    "line": "#d8dde4",
    "consistency": "#0068a3",
    "sufficiency": "#b8500b",
    "silent": "#6f7a88",
    "link": "#005a8f",
    "mark": "#fdeccb",
    "faithful": "#00684f",
    "partly": "#765300",
    "unknown": "#4d5765",
    "chance": "#7b3a8c",
    "unfaithful": "#a61f1a",
}
DARK = {
    "paper": "#14181f",
    "panel": "#1d232c",
    "ink": "#e7eaee",
    "muted": "#a9b2be",
    "line": "#353e4a",
    "consistency": "#4ea8e0",
    "sufficiency": "#f0994f",
    "silent": "#98a3b1",
    "link": "#7cc0ee",
    "mark": "#4a3a14",
    "faithful": "#58cfae",
    "partly": "#e3bd58",
    "unknown": "#b8c1cc",
    "chance": "#d59be3",
    "unfaithful": "#ff9087",
}
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"


def theme(palette: Mapping[str, str]) -> dict[str, Any]:
    """The Vega-Lite configuration that gives styles their colors.

    Parameters
    ----------
    palette : mapping of str to str
        Colors by the names that `LIGHT` has; ``hatch``, if given, is a page's own pattern for the unverifiable part.

    Examples
    --------
    >>> theme(LIGHT)["range"]
    {'category': ['#0068a3', '#b8500b']}
    """
    ink, muted, line, paper = (palette[name] for name in ("ink", "muted", "line", "paper"))
    colors = {"labelColor": muted, "titleColor": muted, "gridColor": line, "domainColor": line, "tickColor": line}
    text = {"labelFontSize": 11, "titleFontSize": 11, "titleFontWeight": "normal"}
    return {
        "background": paper,
        "font": FONT,
        "view": {"stroke": None},
        "axis": colors | text,
        "title": {"color": ink, "subtitleColor": muted, "anchor": "start", "fontSize": 13, "subtitleFontSize": 11},
        "range": {"category": [palette["consistency"], palette["sufficiency"]]},
        "style": _lines(palette) | _shapes(palette),
    }


def _lines(palette: Mapping[str, str]) -> dict[str, Any]:
    ink, silent, chance = palette["ink"], palette["silent"], palette["chance"]
    return {
        "interval": {"color": ink, "strokeWidth": 1.5},
        "checked-interval": {"color": ink, "strokeWidth": 1},
        "chance-line": {"color": chance, "strokeDash": [5, 4], "strokeWidth": 1.5},
        "hatch": {"color": silent, "strokeWidth": 1},
        "exact": {"color": silent, "strokeWidth": 2},
        "forecast": {"color": silent, "strokeDash": [6, 4], "strokeWidth": 2},
        "value": {"color": palette["consistency"], "strokeWidth": 2},
        "here-line": {"color": ink, "strokeWidth": 1},
        "leader": {"color": silent, "strokeWidth": 0.8},
        "limit": {"color": palette["consistency"], "strokeWidth": 1.2},
        "once": {"color": silent, "strokeDash": [5, 4], "strokeWidth": 1.2},
        "alarm": {"color": palette["unfaithful"], "strokeWidth": 2},
        "wanted": {"color": palette["faithful"], "strokeDash": [2, 3], "strokeWidth": 1.5},
    }


def _shapes(palette: Mapping[str, str]) -> dict[str, Any]:
    ink, muted, silent, paper = (palette[name] for name in ("ink", "muted", "silent", "paper"))
    unknown = {"color": palette["hatch"]} if "hatch" in palette else {"color": silent, "fillOpacity": 0.12}
    return {
        "name": {"color": ink, "fontSize": 13, "fontWeight": 600},
        "label": {"color": ink, "fontSize": 12},
        "aside": {"color": muted, "fontSize": 11},
        "cap": {"color": ink, "opacity": 1},
        "chance": {"color": palette["chance"], "opacity": 1},
        "checked": {"color": paper, "filled": True, "opacity": 1, "stroke": ink, "strokeWidth": 1.5},
        "silent": unknown | {"stroke": silent},
        "rows": {"color": palette["consistency"], "fillOpacity": 0.55},
        "box": {"color": silent, "fillOpacity": 0.07},
        "watched": {"color": palette["consistency"], "fillOpacity": 0.16},
        "since": {"color": palette["unfaithful"], "fillOpacity": 0.2},
        "alarm-name": {"color": palette["unfaithful"], "fontSize": 12, "fontWeight": 600},
        "band": {"color": silent, "fillOpacity": 0.13},
        "here": {"color": ink, "filled": True, "opacity": 1},
        "heat": {"color": palette["consistency"]},
        "dot": {"color": palette["consistency"], "filled": True, "opacity": 1},
        "ring": {"color": palette["unfaithful"], "filled": False, "opacity": 1, "strokeWidth": 2},
    }
