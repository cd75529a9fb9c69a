"""Figure 7: how many rows it takes to measure k nearest neighbors, by k and by the number of training rows."""

import sys
from itertools import pairwise, product

import numpy as np
from numpy.typing import NDArray

import faithscope as fs
from faithscope_reproduction.claims import by_signs
from faithscope_reproduction.growth import Growth, joined
from faithscope_reproduction.models.splits import Split, split
from faithscope_reproduction.records import Claim, Figure, Outcome, Record, total
from faithscope_reproduction.settings import Settings, Steps

ID = "figure7"
TITLE = "Nearest neighbors: more rows for more neighbors, and for more training rows"
NAMES = ("chess", "avila", "bank", "adult", "covtype")
KS = (1, 3, 5)
SIZES = (64, 256, 1_024)
_MOST = 5_000
_ROWS, _QUICK_ROWS = 10_000, 1_000
_AT = 1_000
_NOTE = "the paper does not say which k and N it draws"


def run(settings: Settings) -> Outcome:
    """Exact curves and sampled runs for every k and N; model and explainer are the same, so consistency is 1."""
    steps = Steps(settings, sys.modules[__name__])
    names = ("chess",) if settings.quick else NAMES
    outcome = total(steps.do(name, _curves, name, settings) for name in names)
    return outcome + Outcome(claims=_claims(outcome.records))


def _curves(name: str, settings: Settings) -> Outcome:
    data = split(name, settings.folder, settings.seed)
    records, columns = [], []
    for size, k in product(SIZES, KS):
        growth, accuracy = _neighbors(data, k, size, _QUICK_ROWS if settings.quick else _ROWS)
        columns.append(growth.columns(_MOST, settings.seed))
        records += _records(f"{name} k={k} N={size}", growth, accuracy)
    title = f"Nearest neighbors on {name} (accuracy in parentheses)"
    drawn = Figure(f"{ID}-{name}", title, "rows", "estimated consistency", joined(columns))
    return Outcome(tuple(records), (drawn,))


def _neighbors(data: Split, k: int, size: int, most: int) -> tuple[Growth, float]:
    """The k nearest of so many training rows as model and as explainer, on at most so many test rows."""
    rows, labels = data.test[:most], data.y_test[:most]
    given = fs.explainers.NearestNeighbors(data.train[:size], k=k).explain(rows)
    # One vote for each set of neighbors: what is explained alike is predicted alike, however near rows tie.
    votes = np.array([_majority(data.y_train[np.array(neighbors)]) for neighbors in given.distinct], np.int64)
    predictions = votes[given.codes]
    accuracy = float(np.mean(predictions == labels))
    return Growth.of(f"k={k}, N={size:,} ({accuracy:.2f})", given, predictions), accuracy


def _majority(labels: NDArray[np.int64]) -> int:
    """The most frequent label, the first among equals."""
    return int(np.bincount(labels).argmax())


def _records(case: str, growth: Growth, accuracy: float) -> list[Record]:
    estimate = growth.estimate
    at = min(_AT, estimate.n)
    expected = 1 - fs.plan(estimate).at(at)
    return [
        Record(ID, case, f"consistency at {_AT:,} rows", "as_defined", at, expected, note=_NOTE),
        Record(ID, case, "distinct", "as_defined", estimate.n, estimate.distinct / estimate.n, note=_NOTE),
        Record(ID, case, "test_accuracy", "as_defined", estimate.n, accuracy, note=_NOTE),
    ]


def _claims(records: tuple[Record, ...]) -> tuple[Claim, ...]:
    """At a given number of rows, does the estimate fall with k, and with N?"""
    values = {record.case: record.ours or 0.0 for record in records if record.measure.startswith("consistency")}
    names = list(dict.fromkeys(case.split()[0] for case in values))

    def at(name: str, k: int, size: int) -> float:
        return values[f"{name} k={k} N={size}"]

    by_k = [at(n, a, s) - at(n, b, s) for n in names for s in SIZES for a, b in pairwise(KS)]
    by_size = [at(n, k, a) - at(n, k, b) for n in names for k in KS for a, b in pairwise(SIZES)]
    return tuple(
        by_signs(
            Claim(
                ID,
                "as_defined",
                words=f"as {what} increases, more rows are required to estimate consistency",
                test=f"sign test over {len(falls)} steps ({sum(fall > 0 for fall in falls)} in that direction)",
            ),
            falls,
        )
        for what, falls in (("k", by_k), ("the number of training rows", by_size))
    )
