"""The figures of docs/proofs.md, with altair."""

from dataclasses import asdict

import altair as alt
from harness import NOMINAL
from intervals import THEOREM

from ratios import marked, save_panels

BLUE, INK = "#0068a3", "#30343b"
KINDS = ("at .95 or within Monte-Carlo error", "falls short")
MARKS = {KINDS[0]: ("#8a8f98", "circle"), KINDS[1]: ("#c4591a", "triangle-down")}
SETS = {
    "chess": (BLUE, "circle"),
    "avila": ("#c4591a", "square"),
    "bank": ("#008a68", "cross"),
    "adult": ("#8a4a9c", "diamond"),
    "covtype": ("#8a6500", "triangle-up"),
    "rt_polarity": ("#3f97cf", "triangle-down"),
}
LOWEST = 0.80  # coverage below it is drawn here, and named in words
# By which panels are; title, dots and line of the vertical axis; its ticks and scale.
PANELS = {
    "coverage": ("interval", "coverage", "shown", "mean(held)", [0.8, 0.9, 0.95, 1], {"domain": [LOWEST, 1]}),
    "width": ("interval", "mean width", "width", "median(width)", [0.001, 0.01, 0.1, 1], {"type": "log"}),
    "bias": ("system", "mean estimate, and the theorem", "low", "mean(truth)", [0, 0.5, 1], {"domain": [0, 1]}),
}


def draw(cells, folder):
    """Four pictures, those of which there is something to show."""
    folder.mkdir(parents=True, exist_ok=True)
    told = [cell for cell in cells if cell.line.startswith("intervals/") and cell.interval != THEOREM]
    chosen = {
        "coverage": told,
        "width": [cell for cell in told if cell.width > 0],
        "bias": [cell for cell in cells if cell.interval == THEOREM and cell.line == "intervals/consistent"],
        "forecast": [cell for cell in cells if cell.line == "forecasts"],
    }
    for name, some in chosen.items():
        if some:
            layers, rows, panel, height = panels(some, *PANELS[name]) if name in PANELS else foreseen(some)
            save_panels(layers, rows, panel, folder / f"statistics-{name}.svg", width=215, height=height)


def panels(cells, by, title, dots, line, ticks, scale):
    """Every system as a dot, those that fall short in another color and shape; the mean, or median, as a line."""
    rows = [
        {**asdict(cell), "shown": max(cell.held, LOWEST), "by": KINDS[cell.short and title == "coverage"]}
        for cell in cells
    ]
    x = alt.X("n:Q", title="rows", axis=alt.Axis(values=[50, 200, 1_000, 5_000], format=",d", grid=False))
    x = x.scale(type="log", domain=[40, 6_300], nice=False)
    up, low = (
        alt.Y(f"{number}:Q", title=title, axis=alt.Axis(values=ticks)).scale(nice=False, **scale)
        for number in (line, dots)
    )
    layers = [
        alt.Chart().mark_line(color=BLUE, strokeWidth=2, clip=True).encode(x=x, y=up),
        alt.Chart().mark_point(filled=True, size=34, opacity=0.75).encode(*marked(MARKS), x=x, y=low),
    ]
    if title == "coverage":
        layers.insert(
            0,
            alt.Chart()
            .mark_rule(color=INK, strokeDash=[5, 4])
            .encode(y=alt.YDatum(NOMINAL).scale(nice=False, **scale)),
        )
    return layers, rows, by, 105


def foreseen(cells):
    """Every draw as a dot; on the diagonal the forecast is right."""
    drawn = {(cell.system, cell.n, cell.interval): cell.values for cell in cells}
    rows = [
        {"by": system.split(",")[0], "from": f"from {n:,} rows to {4 * n:,}", "foreseen": point, "found": found}
        for (system, n, interval), values in drawn.items()
        if interval == "foreseen at 4 n"
        for point, found in zip(values, drawn[system, n, "found at 4 n"], strict=True)
    ]
    x = alt.X("found:Q", title="unverifiable at 4 n").scale(domain=[0, 1])
    y = alt.Y("foreseen:Q", title="foreseen from n rows").scale(domain=[0, 1])
    ends = alt.Data(values=[{"x": 0, "y": 0}, {"x": 1, "y": 1}])
    line = alt.Chart(ends).mark_line(color=INK, strokeDash=[5, 4]).encode(x="x:Q", y="y:Q")
    dots = alt.Chart().mark_point(filled=True, size=30, opacity=0.6).encode(*marked(SETS), x=x, y=y)
    return [line, dots], rows, "from", 215
