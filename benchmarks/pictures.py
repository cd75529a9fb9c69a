"""Pictures of how the time of `sufficiency` grows, with altair where it is installed, else with matplotlib."""

import importlib
import importlib.util
from pathlib import Path
from typing import Any

import numpy as np


def draw(points: list[dict[str, Any]], path: Path) -> None:
    """Both curves on logarithmic axes, where a straight line of slope 1 is time in proportion."""
    if importlib.util.find_spec("altair"):
        draw_with_altair(points, path)
    elif importlib.util.find_spec("matplotlib"):
        draw_with_matplotlib(points, path)
    else:
        print("skipped: the picture needs altair or matplotlib, and neither is installed")


def draw_with_altair(points: list[dict[str, Any]], path: Path) -> None:
    alt = importlib.import_module("altair")
    axes = {"x": alt.X("how many:Q").scale(type="log"), "y": alt.Y("seconds:Q").scale(type="log")}
    curve = alt.Chart(alt.Data(values=points)).mark_line(point=True).encode(**axes).properties(width=300, height=240)
    curve.facet(column=alt.Column("of:N").title("Time of sufficiency")).resolve_scale(x="independent").save(path)


def draw_with_matplotlib(points: list[dict[str, Any]], path: Path) -> None:
    figure = importlib.import_module("matplotlib.figure").Figure(figsize=(8, 3.5), layout="constrained")
    for axes, of in zip(figure.subplots(1, 2, sharey=True), ("rows", "rules"), strict=True):
        many, seconds = zip(
            *[(point["how many"], point["seconds"]) for point in points if point["of"] == of], strict=True
        )
        axes.loglog(many, seconds, "o-", label="measured")
        axes.loglog(many, seconds[0] * np.array(many) / many[0], ":", color="gray", label="in proportion")
        axes.set(xlabel=of, ylabel="seconds of sufficiency")
        axes.set_xticks(many, [f"{count:,}" for count in many])
        axes.set_xticks([], minor=True)
        axes.yaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_minor_formatter("{x:g}")
        axes.legend()
    figure.savefig(path)
