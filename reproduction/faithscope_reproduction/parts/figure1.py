"""Figures 1 and 6: how many rows it takes to measure decision trees of 64 to 2,048 leaves, on five data sets."""

import sys
from dataclasses import replace
from itertools import pairwise

import numpy as np

import faithscope as fs
from faithscope_reproduction.claims import by_interval, by_trend
from faithscope_reproduction.growth import GOAL, Growth, joined
from faithscope_reproduction.models.splits import Split, split
from faithscope_reproduction.printed import in_figure
from faithscope_reproduction.records import Claim, Figure, Outcome, Record, total
from faithscope_reproduction.samples import half_width
from faithscope_reproduction.settings import Settings, Steps

ID = "figure1"
TITLE = "Decision trees: the larger the tree, the more rows it takes (with Figure 6)"
NAMES = ("chess", "avila", "bank", "adult", "covtype")
LEAVES = tuple(2**power for power in range(6, 12))
NEEDED = f"rows for an estimate of {GOAL:g}"
_TREES = 5
_MOST = 5_000
_QUICK_TRAIN = 4_000
_NOTE = "mean of 5 trees on UCI's own training rows; the paper's rows seem to be counted in hundreds"


def run(settings: Settings) -> Outcome:
    """Exact curves and sampled runs for every tree; as run, for Adult, also five trees on UCI's own split."""
    steps = Steps(settings, sys.modules[__name__])
    names = ("chess", "adult") if settings.quick else NAMES
    curves = total(steps.do(name, _curves, name, settings) for name in names)
    seeds = range(settings.seed, settings.seed + _TREES)
    again = total(steps.do(f"adult {seed}", _needed, replace(settings, seed=seed)) for seed in seeds)
    outcome = curves + Outcome(tuple(_means(again.records)), seconds=again.seconds)
    return outcome + Outcome(claims=(*_larger(outcome.records), _printed(again.records)))


def _tree(data: Split, leaves: int, settings: Settings) -> tuple[Growth, float]:
    """A tree that explains itself, on all test rows; and its accuracy."""
    from sklearn.tree import DecisionTreeClassifier

    rows = slice(_QUICK_TRAIN if settings.quick else None)
    tree = DecisionTreeClassifier(max_leaf_nodes=leaves, random_state=settings.seed)
    tree.fit(data.train[rows], data.y_train[rows])
    predictions = tree.predict(data.test)
    accuracy = float(np.mean(predictions == data.y_test))
    given = fs.explainers.TreePath(tree).explain(data.test)
    return Growth.of(f"{leaves:,} leaves ({accuracy:.2f})", given, predictions), accuracy


def _curves(name: str, settings: Settings) -> Outcome:
    data = split(name, settings.folder, settings.seed)
    records, columns = [], []
    for leaves in LEAVES:
        growth, accuracy = _tree(data, leaves, settings)
        columns.append(growth.columns(_MOST, settings.seed))
        records += _records(name, leaves, growth, accuracy)
    figure = "figure1" if name == "adult" else "figure6"
    drawn = Figure(
        f"{figure}-{name}",
        f"Decision trees on {name} (accuracy in parentheses)",
        "rows",
        "estimated consistency and sufficiency",
        joined(columns),
    )
    return Outcome(tuple(records), (drawn,))


def _records(name: str, leaves: int, growth: Growth, accuracy: float) -> list[Record]:
    case, n = f"{name} {leaves} leaves", growth.estimate.n
    needed = growth.needed()
    known = in_figure(ID, "samples") if (name, leaves) == ("adult", LEAVES[-1]) else None
    note = "" if needed is not None else "more than four times the rows there are: no forecast"
    if needed is not None and needed > n:
        note = f"forecast beyond the {n:,} test rows"
    return [
        Record(ID, case, NEEDED, "as_defined", n, needed, known, note=note),
        Record(ID, case, "test_accuracy", "as_defined", n, accuracy),
    ]


def _needed(settings: Settings) -> Outcome:
    """Rows needed on Adult as UCI splits it, so that only the tree's own randomness is left."""
    data = split("adult", settings.folder, settings.seed, "as_run")
    records = []
    for leaves in LEAVES:
        growth, _ = _tree(data, leaves, settings)
        records.append(Record(ID, f"adult {leaves} leaves", NEEDED, "as_run", growth.estimate.n, growth.needed()))
    return Outcome(tuple(records))


def _means(records: tuple[Record, ...]) -> list[Record]:
    """Mean over all trees: one record per size."""
    means = []
    for leaves in LEAVES:
        case = f"adult {leaves} leaves"
        rows = [record.ours for record in records if record.case == case and record.ours is not None]
        known = in_figure(ID, "samples") if leaves == LEAVES[-1] else None
        mean, std = float(np.mean(rows)), float(np.std(rows, ddof=1))
        n = max(record.n for record in records)
        means.append(Record(ID, case, NEEDED, "as_run", n, mean, known, repeats=len(rows), std=std, note=_NOTE))
    return means


def _larger(records: tuple[Record, ...]) -> list[Claim]:
    """On each data set, do larger trees take more rows?"""
    claims = []
    for name in dict.fromkeys(record.case.split()[0] for record in records):
        rows = [
            (int(record.case.split()[1]), record.ours)
            for record in records
            if record.case.split()[0] == name
            and record.measure == NEEDED
            and record.setting == "as_defined"
            and record.ours
        ]
        growing = sum(b > a for (_, a), (_, b) in pairwise(rows))
        claims.append(
            by_trend(
                Claim(
                    ID,
                    "as_defined",
                    words=f"on {name}, the larger the tree, the more rows it takes to estimate its consistency",
                    test=f"Kendall's rank correlation over {len(rows)} trees ({growing} of {len(rows) - 1} steps up)",
                ),
                [leaves for leaves, _ in rows],
                [needed for _, needed in rows],
            )
        )
    return claims


def _printed(records: tuple[Record, ...]) -> Claim:
    """Does the largest tree reach 0.9 at the number of rows that the paper prints?"""
    known = in_figure(ID, "samples")
    rows = np.array([record.ours for record in records if record.case == f"adult {LEAVES[-1]} leaves"], np.float64)
    margin = float(half_width(rows))
    off = abs(float(rows.mean()) - known)
    tolerated = 0.05 * known
    return by_interval(
        Claim(
            ID,
            "as_run",
            words=f"the 2,048-leaf tree on Adult takes {known:,.0f} rows to reach an estimate of 0.9, to within 5%",
            test=f"95% interval of what is left of the 5% by the mean over {len(rows)} trees ({rows.mean():,.0f} rows)",
        ),
        tolerated - off - margin,
        tolerated - off + margin,
    )
