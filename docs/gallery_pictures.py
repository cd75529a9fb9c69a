"""Draws the pictures of cases: ``python docs/gallery_pictures.py`` draws all, or those named (``rules``).

Each is drawn from what the blocks of its page have computed.
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

import faithscope as fs
from faithscope import charts
from faithscope.charts.theme import LIGHT, theme

HERE = Path(__file__).resolve().parent
IMAGES = HERE / "images" / "gallery"
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
    """Two digits with the same explanation and different answers, with the regions that both explanations name."""
    images, regions = page["rows"].reshape(-1, _CELLS, _CELLS), fs.Pool((_REGIONS, _REGIONS)) | fs.TopRegions(3)
    ev = fs.evaluate(page["predictions"], page["maps"], images, discretizer=regions, progress=False)
    pair = ev.counterexamples(1).iloc[0]
    digits = [_digit(page, int(pair[f"row_{side}"]), f"read as {pair[f'prediction_{side}']}") for side in "ab"]
    return alt.hconcat(*digits, spacing=40)


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


def plotted(name: str) -> Callable[[Page], Any]:
    """The picture that a result of the page draws of itself."""
    return lambda page: page[name].plot()


DRAWN: dict[str, tuple[str, Callable[[Page], Any]]] = {
    "granularity": ("gallery.md", plotted("certificate")),
    "rules": ("gallery.md", right_and_reached),
    "multi-class": ("gallery.md", plotted("comparison")),
    "log-over-time": ("gallery.md", lambda page: page["audited"].windows.plot()),
    "for-whom": ("groups.md", plotted("groups")),
    "other-decision": ("groups.md", told_the_same),
    "repeatability": ("choosing.md", plotted("repeated")),
    "regression": ("regression.md", variance),
    "image": ("images-and-series.md", two_digits),
}


def main() -> None:
    """Draw the pictures named, or all; each page runs once."""
    names = sys.argv[1:] or sorted(DRAWN)
    pages = {page: computed(HERE / page) for page in sorted({DRAWN[name][0] for name in names})}
    for name in names:
        page, drawn = DRAWN[name]
        chart = drawn(pages[page])
        plain = type(chart).__module__.startswith("altair")
        (chart.configure(**theme(LIGHT)) if plain and not chart.config else chart).save(IMAGES / f"{name}.svg")
        print(f"{name}.svg")


if __name__ == "__main__":
    main()
