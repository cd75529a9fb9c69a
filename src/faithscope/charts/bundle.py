"""Vega, Vega-Lite and Vega-Embed as one script, which is kept in ``scripts/`` so that pages need nobody to make it.

``python .ci/bundle.py`` makes it anew, with the versions and the licenses beside it.
"""

import json
from functools import cache
from importlib.resources import files
from typing import Any

EXPORT = "window.vegaEmbed = vegaEmbed;"  # what the script leaves behind
UNSAFE = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}  # not as they are in a script


@cache
def bundle() -> str:
    """The script, which draws when a page calls ``vegaEmbed``."""
    return kept("vega.js").decode()


def kept(name: str) -> bytes:
    """A file of ``scripts/``, byte for byte."""
    return files("faithscope.charts").joinpath("scripts", name).read_bytes()


def safe_json(value: Any) -> str:
    """JSON that can stand inside a script element whatever strings it holds."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False).translate(UNSAFE)
