"""Figures 1, 6 and 7: how many rows it takes to measure systems whose explanations determine their predictions.

Decision trees of 64 to 2,048 leaves, and k nearest neighbors by k and by the number of training rows: consistency is 1,
so the estimate is the share of rows that can be checked, whose expectation is exact for every number of rows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithscope as fs
from faithscope_reproduction.claims import by_interval, by_signs, by_trend, half_width
from faithscope_reproduction.data import Split, split
from faithscope_reproduction.intervals import JACKKNIFE
from faithscope_reproduction.numbers import ranged
from faithscope_reproduction.printed import in_figure
from faithscope_reproduction.records import Claim, Figure, Outcome, Record, total
from faithscope_reproduction.settings import Settings

NAMES = ("chess", "avila", "bank", "adult", "covtype")
_QUICK_NAMES = {"figure1": ("chess", "adult"), "figure7": ("chess",)}
LEAVES = tuple(2**power for power in range(6, 12))
KS, SIZES = (1, 3, 5), (64, 256, 1_024)
GOAL = 0.9
NEEDED = f"rows for an estimate of {GOAL:g}"
_RUNS, _TREES, _POINTS, _MOST, _AT = 5, 5, 16, 5_000, 1_000
_TITLES = {
    "figure1": ("Decision trees", "estimated consistency and sufficiency"),
    "figure7": ("Nearest neighbors", "estimated consistency"),
}
_NOTE = "on UCI's own training rows; the paper's rows seem to be counted in hundreds"
_NOT_SAID = "the paper does not say which k and N it draws"

System = tuple[str, str, Any, NDArray[Any], NDArray[Any]]  # its case, its curve, explanations, predictions, labels


def run(figure: str, settings: Settings) -> Outcome:
    """Exact curves and sampled runs for every system; as run, for Adult, also five trees on UCI's own split."""
    names = _QUICK_NAMES[figure] if settings.quick else NAMES
    steps = settings.each(figure, partial(_curves, figure), zip(names))
    if figure == "figure7":
        outcome = total(steps)
        return outcome + Outcome(claims=_fewer(outcome.records))
    seeds = range(settings.seed, settings.seed + _TREES)
    drawn = [replace(settings, seed=seed).do(f"{figure} adult again", _on_ucis_rows) for seed in seeds]
    outcome, again = total(steps), [step.result() for step in drawn]
    claims = (*_larger(outcome.records), _printed(total(again).records))
    return outcome + ranged(again[0], again[1:], "the trees") + Outcome(claims=claims)


def trees(data: Split, settings: Settings) -> Iterator[System]:
    """Trees that explain themselves, on all test rows."""
    from sklearn.tree import DecisionTreeClassifier

    rows = slice(4_000 if settings.quick else None)
    for leaves in LEAVES:
        tree = DecisionTreeClassifier(max_leaf_nodes=leaves, random_state=settings.seed)
        tree.fit(data.train[rows], data.y_train[rows])
        given = fs.explainers.TreePath(tree).explain(data.test)
        yield f"{leaves} leaves", f"{leaves:,} leaves", given, tree.predict(data.test), data.y_test


def neighbors(data: Split, settings: Settings) -> Iterator[System]:
    """The k nearest of so many training rows as model and as explainer."""
    most = 1_000 if settings.quick else 10_000
    for size, k in product(SIZES, KS):
        given = fs.explainers.NearestNeighbors(data.train[:size], k=k).explain(data.test[:most])
        # One vote for each set of neighbors: what is explained alike is predicted alike, however near rows tie.
        votes = [np.bincount(data.y_train[np.array(near)]).argmax() for near in given.distinct]
        predictions = np.array(votes, np.int64)[given.codes]
        yield f"k={k} N={size}", f"k={k}, N={size:,}", given, predictions, data.y_test[:most]


_SYSTEMS = {"figure1": trees, "figure7": neighbors}


def _curves(figure: str, name: str, settings: Settings) -> Outcome:
    columns: dict[str, list[Any]] = {field: [] for field in ("curve", "x", "y", "low", "high")}
    records: list[Record] = []
    data = split(name, settings.folder, settings.seed)
    for words, curve, given, predictions, truth in _SYSTEMS[figure](data, settings):
        estimate = fs.consistency(given, predictions, interval=JACKKNIFE)
        accuracy = float(np.mean(predictions == truth))
        points = curve_of(estimate, given, predictions, settings.seed)
        for field, values in points.items():
            columns[field] += values
        columns["curve"] += [f"{curve} ({accuracy:.2f})"] * len(points["x"])
        like = Record(figure, f"{name} {words}", "test_accuracy", "as_defined", estimate.n, accuracy)
        records += [_needed(estimate, like), like] if figure == "figure1" else _at(estimate, like)
    title, y = _TITLES[figure]
    drawn = "figure6" if figure == "figure1" and name != "adult" else figure
    return Outcome(
        tuple(records), (Figure(f"{drawn}-{name}", f"{title} on {name} (accuracy in parentheses)", "rows", y, columns),)
    )


def curve_of(estimate: fs.Estimate, given: Any, predictions: NDArray[Any], seed: int) -> dict[str, list[Any]]:
    """The estimate by the number of rows: the exact expectation, and the 95% band of the mean of sampled runs."""
    most, plan = min(_MOST, estimate.n), fs.plan(estimate)
    sizes = sorted({max(1, round(most * step / _POINTS)) for step in range(1, _POINTS + 1)})
    ends = []
    for size in sizes:
        draws = [
            np.random.default_rng([seed, run, size]).choice(estimate.n, size, replace=False) for run in range(_RUNS)
        ]
        runs = np.array([fs.consistency(given.take(rows), predictions[rows]).value for rows in draws])
        mean, margin = float(np.mean(runs)), float(half_width(runs))
        ends.append((max(0.0, mean - margin), min(1.0, mean + margin)))
    low, high = map(list, zip(*ends, strict=True))
    return {"x": sizes, "y": [1 - plan.at(size) for size in sizes], "low": low, "high": high}


def _at(estimate: fs.Estimate, like: Record) -> list[Record]:
    at = min(_AT, estimate.n)
    like = replace(like, note=_NOT_SAID)
    expected = replace(like, measure=f"consistency at {_AT:,} rows", n=at, ours=1 - fs.plan(estimate).at(at))
    return [expected, like]


def _needed(estimate: fs.Estimate, like: Record) -> Record:
    """Rows until the estimate is expected to reach the goal: exact up to n, forecast to 4 n, else none."""
    needed = fs.plan(estimate, unverifiable=1 - GOAL).rows_needed
    note = "more than four times the rows there are: no forecast" if needed is None else ""
    if needed is not None and needed > estimate.n:
        note = f"forecast beyond the {estimate.n:,} test rows"
    return replace(like, measure=NEEDED, ours=needed, printed=_known(like.case), note=note)


def _known(case: str) -> float | None:
    return in_figure("figure1", "samples") if case == f"adult {LEAVES[-1]} leaves" else None


def _on_ucis_rows(settings: Settings) -> Outcome:
    """Rows needed on Adult as UCI splits it, so that only the tree's own randomness is left."""
    data = split("adult", settings.folder, settings.seed, "as_run")
    records = []
    for words, _, given, predictions, _ in trees(data, settings):
        estimate = fs.consistency(given, predictions, interval=JACKKNIFE)
        record = _needed(estimate, Record("figure1", f"adult {words}", NEEDED, "as_run", estimate.n, None))
        records.append(replace(record, note=_NOTE))
    return Outcome(tuple(records))


def _larger(records: Sequence[Record]) -> Iterator[Claim]:
    """On each data set, do larger trees take more rows?"""
    needed: dict[str, list[tuple[int, float]]] = {}
    for record in records:
        name, leaves, _ = record.case.split()
        chosen = needed.setdefault(name, [])
        if (record.measure, record.setting) == (NEEDED, "as_defined") and record.ours:
            chosen.append((int(leaves), record.ours))
    for name, rows in needed.items():
        growing = sum(b > a for (_, a), (_, b) in pairwise(rows))
        claim = Claim(
            *("figure1", "as_defined"),
            words=f"on {name}, the larger the tree, the more rows it takes to estimate its consistency",
            test=f"Kendall's rank correlation over {len(rows)} trees ({growing} of {len(rows) - 1} steps up)",
        )
        yield by_trend(claim, *zip(*rows, strict=True))


def _printed(records: Sequence[Record]) -> Claim:
    """Does the largest tree reach 0.9 at the number of rows that the paper prints?"""
    known = in_figure("figure1", "samples")
    rows = np.array([record.ours for record in records if _known(record.case)], np.float64)
    left = 0.05 * known - abs(float(rows.mean()) - known)
    margin = float(half_width(rows))
    claim = Claim(
        *("figure1", "as_run"),
        words=f"the 2,048-leaf tree on Adult takes {known:,.0f} rows to reach an estimate of 0.9, to within 5%",
        test=f"95% interval of what is left of the 5% by the mean over {len(rows)} trees ({rows.mean():,.0f} rows)",
    )
    return by_interval(claim, left - margin, left + margin)


def _fewer(records: Sequence[Record]) -> tuple[Claim, ...]:
    """At a given number of rows, does the estimate fall with k, and with N?"""
    values = {record.case: record.ours or 0.0 for record in records if record.measure.startswith("consistency")}
    names = dict.fromkeys(case.split()[0] for case in values)

    def falls(key: str, first: Sequence[int], second: Sequence[int]) -> list[float]:
        """Falls from each of the second to the next, for each of the first."""
        at = [[values[f"{name} {key.format(a=a, b=b)}"] for b in second] for name in names for a in first]
        return [before - after for line in at for before, after in pairwise(line)]

    steps = {"k": falls("k={b} N={a}", SIZES, KS), "the number of training rows": falls("k={a} N={b}", KS, SIZES)}
    return tuple(
        by_signs(
            Claim(
                *("figure7", "as_defined"),
                words=f"as {what} increases, more rows are required to estimate consistency",
                test=f"sign test over {len(fall)} steps ({sum(each > 0 for each in fall)} in that direction)",
            ),
            fall,
        )
        for what, fall in steps.items()
    )
