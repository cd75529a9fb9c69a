"""The colors of charts and pages, light and dark.

Marks name a style or a range, never a color: `theme` assigns the colors of ``theme.json``, so that one chart can be
shown light, dark, or in the colors of a page.
"""

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

_KEPT = json.loads(files("faithscope.charts").joinpath("theme.json").read_text("utf-8"))
# Blue, vermilion and bluish green of Okabe and Ito, darkened or lightened until text and marks can be read.
LIGHT: dict[str, str] = _KEPT["light"]
DARK: dict[str, str] = _KEPT["dark"]
FONT: str = _KEPT["config"]["font"]


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
    config: dict[str, Any] = _colored(_KEPT["config"], palette)
    if "hatch" in palette:
        config["style"]["silent"] = {"color": palette["hatch"], "stroke": palette["silent"]}
    return config


def _colored(part: Any, palette: Mapping[str, str]) -> Any:
    """A part of the configuration, with colors in place of their names."""
    if isinstance(part, dict):
        return {name: _colored(value, palette) for name, value in part.items()}
    if isinstance(part, list):
        return [_colored(value, palette) for value in part]
    return palette.get(part, part) if isinstance(part, str) else part
