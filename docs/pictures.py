"""Draws the pictures of the pages on ideas: ``python docs/pictures.py`` writes them to docs/images."""

from pathlib import Path

import altair as alt
import numpy as np
from numpy.typing import NDArray

import faithscope as fs
from faithscope import charts
from faithscope.charts.theme import LIGHT, theme

HERE = Path(__file__).parent / "images"
YES, NO, INK, MUTED = LIGHT["consistency"], LIGHT["sufficiency"], LIGHT["ink"], LIGHT["muted"]
COLORS = alt.Scale(domain=["approve", "decline"], range=[YES, NO])
SHAPES = alt.Scale(domain=["approve", "decline"], range=["circle", "square"])


def same_explanation() -> alt.LayerChart:
    """Rows under the explanation they were given: is a column of one color?"""
    groups = {"income high": "AAAAA", "debt low": "AAAD", "young, no debt": "AD", "owns a boat": "D"}
    names = {"A": "approve", "D": "decline"}
    rows = [
        {"explanation": why, "place": place, "prediction": names[label]}
        for why, given in groups.items()
        for place, label in enumerate(given)
    ]
    estimate = fs.consistency([row["explanation"] for row in rows], [row["prediction"] for row in rows])
    shares = [{"explanation": why, "says": _share(given)} for why, given in groups.items()]
    across = alt.X("explanation:N", sort=list(groups), title=None, axis=alt.Axis(labelAngle=0, labelFontSize=12))
    dots = alt.Chart(alt.Data(values=rows)).mark_point(filled=True, size=420, opacity=1)
    dots = dots.encode(x=across, y=alt.Y("place:Q", axis=None, scale=alt.Scale(domain=[-1.2, 5])), **_prediction())
    text = alt.Chart(alt.Data(values=shares)).mark_text(fontSize=12, color=INK)
    text = text.encode(x=across, y=alt.datum(-0.9), text="says:N")
    return (dots + text).properties(
        width=560,
        height=230,
        title=alt.Title(
            f"Consistency {estimate.value:.2f}; {estimate.unverifiable:.0%} of rows unverifiable",
            subtitle="Each mark is a row above the explanation it was given. Below: pairs of rows predicted the same.",
        ),
    )


def _share(given: str) -> str:
    if len(given) == 1:
        return "alone: cannot tell"
    same = sum(given.count(label) * (given.count(label) - 1) for label in set(given))
    return f"{same / (len(given) * (len(given) - 1)):.0%}"


def where_it_applies() -> alt.LayerChart:
    """A rule, the rows that were given it, and all rows that it covers."""
    points, says = _people()
    covered = (points[:, 0] <= 40) & (points[:, 1] <= 55)
    given = covered & (points[:, 0] <= 30) & (points[:, 1] <= 40)
    right = int((covered & (says == "approve")).sum())
    return _rules(points, says, given, [(40, 55)]).properties(
        title=alt.Title(
            'The rule "age <= 40 and debt <= 55 means approve"',
            subtitle=f"Given to {given.sum()} rows (ringed), all approved. "
            f"It covers {covered.sum()} rows (shaded), and {right} of them are approved.",
        ),
    )


def who_was_given_it() -> alt.LayerChart:
    """A rule that tells nothing, given to those rows alone that are approved: its choice tells everything."""
    points, says = _people()
    given = says == "approve"
    return _rules(points, says, given, [(72, 100)]).properties(
        title=alt.Title(
            'The rule "age <= 72", which covers everybody',
            subtitle=[
                f"Given to {given.sum()} rows (ringed), all approved.",
                f"The {(~given).sum()} others that it covers were given another rule, and none of them is approved.",
            ],
        ),
    )


def how_far_it_reaches() -> alt.LayerChart:
    """Two rules that are both sufficient: one covers most of the approved rows, the other a few of them."""
    points, says = _people()
    approved, rules = says == "approve", [(36, 45), (27, 20)]
    reached = [int((approved & (points[:, 0] <= age) & (points[:, 1] <= debt)).sum()) for age, debt in rules]
    return _rules(points, says, np.zeros(len(points), bool), rules).properties(
        title=alt.Title(
            "Two rules that always mean approve",
            subtitle=[
                f'"age <= 36 and debt <= 45" covers {reached[0]} of the {approved.sum()} approved rows,',
                f'"age <= 27 and debt <= 20" covers {reached[1]} of them.',
            ],
        ),
    )


def _people() -> tuple[NDArray[np.float64], NDArray[np.str_]]:
    """Ages and debts, and whether the model approves."""
    rng = np.random.default_rng(3)
    points = np.column_stack([rng.uniform(18, 70, 70), rng.uniform(0, 100, 70)])
    return points, np.where(points[:, 1] + 1.6 * (points[:, 0] - 18) > 58, "decline", "approve")


def _rules(
    points: NDArray[np.float64], says: NDArray[np.str_], given: NDArray[np.bool_], rules: list[tuple[float, float]]
) -> alt.LayerChart:
    """Rows by age and debt, those that were given the rule ringed, over the boxes that rules cover."""
    rows = [
        {"age": float(a), "debt": float(d), "prediction": str(p), "given": bool(g)}
        for (a, d), p, g in zip(points, says, given, strict=True)
    ]
    axes = {
        "x": alt.X("age:Q", scale=alt.Scale(domain=[16, 72], nice=False), title="age"),
        "y": alt.Y("debt:Q", scale=alt.Scale(domain=[0, 100]), title="debt"),
    }
    box = alt.Chart(alt.Data(values=[{"age": 16, "to": age, "debt": 0, "up": debt} for age, debt in rules]))
    box = box.mark_rect(fill=LIGHT["mark"], stroke=INK, strokeDash=[5, 3], opacity=0.75)
    box = box.encode(**axes, x2="to:Q", y2="up:Q")
    dots = alt.Chart(alt.Data(values=rows)).mark_point(filled=True, size=80, opacity=1).encode(**axes, **_prediction())
    rings = alt.Chart(alt.Data(values=[row for row in rows if row["given"]]))
    rings = rings.mark_point(size=260, stroke=INK, strokeWidth=1.6, opacity=1).encode(**axes)
    return (box + dots + rings).properties(width=560, height=300)


def _prediction() -> dict[str, object]:
    # Below the picture nothing is cut off if a browser's letters are wider than those measured here.
    legend = alt.Legend(orient="bottom", title="prediction", titleOrient="left", titlePadding=12)
    return {
        "color": alt.Color("prediction:N", scale=COLORS, legend=legend),
        "shape": alt.Shape("prediction:N", scale=SHAPES, legend=legend),
    }


def four_answers() -> alt.LayerChart:
    """Four explainers whose intervals say four different things."""
    rng = np.random.default_rng(0)
    n = 2_000
    labels = rng.integers(0, 2, n)
    noisy = np.where(rng.uniform(size=n) < 0.08, 1 - labels, labels)
    often_unique = np.where(rng.uniform(size=n) < 0.4, rng.integers(10, 10**9, n), 20 + labels)
    explainers = {
        "faithful": labels + 2 * rng.integers(0, 4, n),
        "mostly faithful": noisy + 2 * rng.integers(0, 4, n),
        "no better than chance": rng.integers(0, 8, n),
        "cannot tell yet": often_unique,
    }
    estimates = [(name, fs.consistency(list(map(int, keys)), labels)) for name, keys in explainers.items()]
    return charts.estimates(estimates, title="Four answers")


def silence() -> alt.LayerChart:
    """How the share that cannot be checked falls with rows, and what is forecast."""
    rng = np.random.default_rng(0)
    explanations = np.minimum(rng.zipf(1.35, 1_500), 10**7)
    return fs.plan(fs.consistency(list(map(int, explanations)), explanations % 2), unverifiable=0.08).plot()


def main() -> None:
    """Draw all of them."""
    pictures = {
        "idea-consistency": same_explanation(),
        "idea-sufficiency": where_it_applies(),
        "idea-encoding": who_was_given_it(),
        "idea-necessity": how_far_it_reaches(),
        "idea-intervals": four_answers(),
        "idea-silence": silence(),
    }
    for name, chart in pictures.items():
        chart.configure(**(theme(LIGHT))).save(HERE / f"{name}.svg")
        print(HERE.name, f"{name}.svg")


if __name__ == "__main__":
    main()
