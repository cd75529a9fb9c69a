"""The figures of docs/proofs.md, with altair."""

from dataclasses import asdict

import altair as alt
from harness import NOMINAL
from intervals import THEOREM

from ratios import save_svg

BLUE, ORANGE, GRAY, INK = "#0068a3", "#c4591a", "#8a8f98", "#30343b"
SETS = (BLUE, ORANGE, "#008a68", "#8a4a9c", "#8a6500", "#3f97cf")
KINDS = ("at .95 or within Monte-Carlo error", "falls short")
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
    text = {"labelColor": INK, "titleColor": INK, "labelFontSize": 11, "titleFontSize": 12, "titleFontWeight": "normal"}
    for name, some in chosen.items():
        if some:
            picture = panels(some, *PANELS[name]) if name in PANELS else foreseen(some)
            # Labels of marks, thousands of them, are what the tables tell.
            themed = picture.configure(axis=text, legend=text, view={"stroke": None}, background="white", aria=False)
            save_svg(themed, folder / f"statistics-{name}.svg")


def facets(layers, points, by, height):
    """One panel per interval, system or number of rows, in the order in which they come."""
    order = list(dict.fromkeys(point[by] for point in points))
    facet = alt.Facet(f"{by}:N", sort=order, header=alt.Header(labelExpr="split(datum.label, ', ')", title=None))
    layered = alt.layer(*layers, data=alt.Data(values=points)).properties(width=215, height=height)
    return layered.facet(facet, columns=3, spacing=18)


def panels(cells, by, title, dots, line, ticks, scale):
    """Every system as a dot, those that fall short in another color and shape; the mean, or median, as a line."""
    points = [
        {**asdict(cell), "shown": max(cell.held, LOWEST), "kind": KINDS[cell.short and title == "coverage"]}
        for cell in cells
    ]
    x = alt.X("n:Q", title="rows", axis=alt.Axis(values=[50, 200, 1_000, 5_000], format=",d", grid=False))
    x = x.scale(type="log", domain=[40, 6_300], nice=False)
    up, low = (
        alt.Y(f"{number}:Q", title=title, axis=alt.Axis(values=ticks)).scale(nice=False, **scale)
        for number in (line, dots)
    )
    color = alt.Color("kind:N", legend=alt.Legend(orient="top", title=None)).scale(domain=KINDS, range=[GRAY, ORANGE])
    shape = alt.Shape("kind:N").scale(domain=KINDS, range=["circle", "triangle-down"])
    layers = [
        alt.Chart().mark_line(color=BLUE, strokeWidth=2, clip=True).encode(x=x, y=up),
        alt.Chart().mark_point(filled=True, size=34, opacity=0.75).encode(x=x, y=low, color=color, shape=shape),
    ]
    if title == "coverage":
        layers.insert(0, alt.Chart().mark_rule(color=INK, strokeDash=[5, 4]).encode(y=alt.datum(NOMINAL)))
    return facets(layers, points, by, 105)


def foreseen(cells):
    """Every draw as a dot; on the diagonal the forecast is right."""
    drawn = {(cell.system, cell.n, cell.interval): cell.values for cell in cells}
    points = [
        {"of": system.split(",")[0], "from": f"from {n:,} rows to {4 * n:,}", "foreseen": point, "found": found}
        for (system, n, interval), values in drawn.items()
        if interval == "foreseen at 4 n"
        for point, found in zip(values, drawn[system, n, "found at 4 n"], strict=True)
    ]
    color = alt.Color("of:N", sort=None, legend=alt.Legend(orient="top", title=None)).scale(range=SETS)
    x = alt.X("found:Q", title="unverifiable at 4 n").scale(domain=[0, 1])
    y = alt.Y("foreseen:Q", title="foreseen from n rows").scale(domain=[0, 1])
    dots = alt.Chart().mark_point(filled=True, size=30, opacity=0.6).encode(x=x, y=y, color=color, shape="of:N")
    ends = alt.Data(values=[{"x": 0, "y": 0}, {"x": 1, "y": 1}])
    line = alt.Chart(ends).mark_line(color=INK, strokeDash=[5, 4]).encode(x="x:Q", y="y:Q")
    return facets([line, dots], points, "from", 215)
