"""Draws the pictures of the gallery: ``python docs/gallery/pictures.py`` runs all pages, or those named (``rules``).

A page that has a `chart` is shown by it; the others are drawn here, from what the page has computed.
"""

import contextlib
import io
import os
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np

from faithscope import charts
from faithscope.charts.theme import LIGHT, theme

HERE = Path(__file__).resolve().parent
IMAGES = HERE.parent / "images" / "gallery"
_RUNS = re.compile(r"^(?:```python\n(?P<shown>.*?)^```$|<!-- setup\n(?P<hidden>.*?)^-->$)", re.M | re.S)
_REGIONS, _CELLS = 4, 8
Page = dict[str, Any]


def computed(path: Path) -> Page:
    """What the blocks of a page define, run in a folder of their own."""
    page: Page = {"__name__": "page"}
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        os.chdir(folder)
        for block in _RUNS.finditer(path.read_text()):
            exec(compile(block["shown"] or block["hidden"], path.name, "exec"), page)
        os.chdir(HERE)
    return page


def told_the_same(page: Page) -> alt.LayerChart:
    """People with the reasons of the page's pair, by age and education; the two are ringed."""
    worst, rows, ev = page["worst"], page["rows"], page["ev"]
    reasons = np.array([ev.explanations.describe(row) for row in range(len(rows))])
    shown = rows.assign(decision=ev.predictions)[reasons == worst["explanation"]]
    pair = shown.loc[[worst["index_a"], worst["index_b"]]]
    x = alt.X("age:Q", scale=alt.Scale(zero=False))
    y = alt.Y("hours-per-week:Q", title="hours per week", scale=alt.Scale(zero=False))
    scale = alt.Scale(domain=["approved", "denied"], range=[LIGHT["consistency"], LIGHT["sufficiency"]])
    color = alt.Color("decision:N", scale=scale, legend=alt.Legend(orient="top", title=None))
    shape = alt.Shape("decision:N", scale=alt.Scale(domain=["approved", "denied"], range=["circle", "square"]))
    people = alt.Chart(_values(shown)).mark_point(filled=True, size=28, opacity=0.55)
    rings = alt.Chart(_values(pair)).mark_point(size=260, stroke=LIGHT["ink"], strokeWidth=2, opacity=1)
    return (people.encode(x=x, y=y, color=color, shape=shape) + rings.encode(x=x, y=y)).properties(
        width=560, height=300, title=f"{len(shown):,} people were told: {worst['explanation']}"
    )


def _values(frame: Any) -> alt.Data:
    return alt.Data(values=frame.to_dict("records"))


def variance(page: Page) -> alt.LayerChart:
    """The share of the variance by explainer."""
    comparison = page["comparison"]
    estimates = [(name, comparison[name].consistency) for name in page["explainers"]]
    return charts.estimates(estimates, title="Share of the variance accounted for")


def two_digits(page: Page) -> alt.HConcatChart:
    """The two digits of the page's pair, with the regions that both explanations name."""
    pair = page["pair"]
    images = [_digit(page, int(pair[f"row_{side}"]), f"read as {pair[f'prediction_{side}']}") for side in "ab"]
    return alt.hconcat(*images, spacing=40)


def _digit(page: Page, row: int, title: str) -> alt.LayerChart:
    ink = page["rows"][row].reshape(_CELLS, _CELLS)
    cells = [{"x": j, "y": i, "x2": j + 1, "y2": i + 1, "ink": ink[i, j]} for i in range(_CELLS) for j in range(_CELLS)]
    step = _CELLS // _REGIONS
    pooled = page["maps"][row].reshape(_REGIONS, step, _REGIONS, step).sum(axis=(1, 3)).ravel()
    top = np.argsort(-np.abs(pooled))[:3]
    boxes = [
        {"x": k % 4 * step, "y": k // 4 * step, "x2": (k % 4 + 1) * step, "y2": (k // 4 + 1) * step}
        for k in top.tolist()
    ]
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[0, _CELLS]))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[_CELLS, 0]))
    shade = alt.Color("ink:Q", legend=None, scale=alt.Scale(range=["#ffffff", LIGHT["ink"]], interpolate="rgb"))
    pixels = alt.Chart(alt.Data(values=cells)).mark_rect(stroke="#ffffff", strokeWidth=0.5)
    outlines = alt.Chart(alt.Data(values=boxes)).mark_rect(filled=False, stroke=LIGHT["sufficiency"], strokeWidth=4)
    drawn = pixels.encode(x=x, y=y, x2="x2:Q", y2="y2:Q", color=shade) + outlines.encode(x=x, y=y, x2="x2:Q", y2="y2:Q")
    return drawn.properties(width=240, height=240, title=title)


def by_words(page: Page) -> alt.LayerChart:
    """The estimates of a page side by side."""
    return charts.estimates(list(page["estimates"].items()), title="Same reason, same label?")


def right_and_reached(page: Page) -> alt.Chart:
    """The page's rules: precision against recall, larger if more rows were given the rule."""
    scopes = page["ev"].scopes()[["label", "n", "precision", "recall"]]
    x = alt.X(
        "recall:Q", scale=alt.Scale(domain=[0, 1]), title="recall: of the people with its prediction, those it reaches"
    )
    y = alt.Y("precision:Q", scale=alt.Scale(domain=[0.6, 1.02], nice=False), title="precision: how often it is right")
    scale = alt.Scale(domain=[">50K", "<=50K"], range=[LIGHT["consistency"], LIGHT["sufficiency"]])
    color = alt.Color("label:N", scale=scale, legend=alt.Legend(orient="top", title="the rule's prediction"))
    shape = alt.Shape("label:N", scale=alt.Scale(domain=[">50K", "<=50K"], range=["circle", "square"]))
    size = alt.Size("n:Q", legend=None, scale=alt.Scale(range=[80, 700]))
    points = alt.Chart(_values(scopes)).mark_point(filled=True, opacity=0.8)
    points = points.encode(x=x, y=y, color=color, shape=shape, size=size)
    subtitle = "Each mark is a rule, larger if more people were given it."
    return points.properties(width=560, height=300, title=alt.Title("Eight rules", subtitle=subtitle))


DRAWN: dict[str, Callable[[Page], Any]] = {
    "other-decision": told_the_same,
    "regression": variance,
    "image": two_digits,
    "rules": right_and_reached,
    "reasons-in-words": by_words,
}


def main() -> None:
    """Draw the pictures of the pages named, or of all."""
    names = sys.argv[1:] or sorted(path.stem for path in HERE.glob("*.md") if path.stem != "index")
    for name in names:
        page = computed(HERE / f"{name}.md")
        chart = DRAWN[name](page).configure(**theme(LIGHT)) if name in DRAWN else page["chart"]
        chart.save(IMAGES / f"{name}.svg")
        print(f"{name}.svg")


if __name__ == "__main__":
    main()
