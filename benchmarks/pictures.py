"""A picture of how the time of `sufficiency` grows, with altair where it is installed."""

import importlib
import importlib.util
from pathlib import Path
from typing import Any


def draw(points: list[dict[str, Any]], path: Path) -> None:
    """Both curves on logarithmic axes, where a straight line of slope 1 is time in proportion."""
    if not importlib.util.find_spec("altair"):
        print("skipped: the picture needs altair")
        return
    alt = importlib.import_module("altair")
    axes = {"x": alt.X("how many:Q").scale(type="log"), "y": alt.Y("seconds:Q").scale(type="log")}
    curve = alt.Chart(alt.Data(values=points)).mark_line(point=True).encode(**axes).properties(width=300, height=240)
    curve.facet(column=alt.Column("of:N").title("Time of sufficiency")).resolve_scale(x="independent").save(path)
