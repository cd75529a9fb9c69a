"""A result of every kind, small, for tests of where results go."""

import datetime
from functools import cache

import numpy as np
import pandas as pd
from numpy.random import default_rng

import faithscope as fs
import report_examples as examples

N = 60
_RNG = default_rng(0)
LABELS = _RNG.choice(["yes", "no"], N)
KEYS = _RNG.choice(["a", "b", "c"], N)
NUMBERS = _RNG.normal(size=N)
ROWS = pd.DataFrame({"x": np.arange(float(N)), "job": _RNG.choice(["clerk", "cook"], N)})
CUSTOMERS = np.arange(N) // 3


def _log():
    when = pd.date_range("2026-03-01", periods=N, freq="2h")
    return ROWS.assign(why=KEYS, yhat=LABELS, number=NUMBERS, when=when, customer=CUSTOMERS, day=when.date)


def _rules():
    conditions = [[("x", "<=", 30.0)] if x <= 30 else [("x", ">", 25.0), ("job", "==", job)] for x, job in ROWS.values]
    return fs.Rules.from_conditions(conditions, features=["x", "job"])


def _evaluated(**options):
    return fs.evaluate(LABELS, KEYS, ROWS, **options)


def _audited(**options):
    return fs.audit(_log(), **{"prediction": "yhat", "explanation": "why", **options})


def _monitored(**options):
    monitor = fs.Monitor(**{"by": "job", "at_least": 0.9, **options})
    monitor.add_log(_log(), prediction="yhat", explanation="why", when="when")
    return monitor


def _local():
    return fs.local([3.0, "cook"], lambda X: ["yes"] * len(X), lambda X: _rules().take([0] * len(X)), ROWS)


def _agreement():
    importances = {"<b>shap</b>": ROWS[["x"]] - 30, "lime | 2": ROWS[["x"]] - 20}
    return fs.explainer_agreement({**importances, "rules": _rules(), "keys": KEYS})


RESULTS = {
    "estimate": lambda: fs.consistency(KEYS, LABELS),
    "estimate where nothing can be checked": lambda: fs.consistency(range(5), [0, 1, 0, 1, 0]),
    "estimate of one row": lambda: fs.consistency(["a"], [1]),
    "estimate of one label": lambda: fs.consistency(KEYS, [1] * N),
    "estimate of float32": lambda: fs.consistency(NUMBERS.astype(np.float32).round(0), LABELS),
    "sufficiency on draws": lambda: fs.sufficiency(
        _rules(), lambda rows: np.where(rows["x"] > 20, "yes", "no"), ROWS, population=fs.Perturbed(ROWS, draws=3)
    ),
    "drop on draws": lambda: fs.sufficiency(
        KEYS, NUMBERS, population=fs.drawn(KEYS, ROWS, NUMBERS / 2), agreement=fs.Close(1.0)
    ),
    "within": lambda: fs.within(NUMBERS.reshape(-1, 1), LABELS, 0.1),
    "monitor": _monitored,
    "monitor without rows": fs.Monitor,
    "evaluation": _evaluated,
    "evaluation with weights": lambda: _evaluated(weights=np.arange(1.0, N + 1)),
    "evaluation with clusters": lambda: _evaluated(clusters=CUSTOMERS),
    "evaluation by group": lambda: _evaluated(by=ROWS["job"]),
    "evaluation by date": lambda: _evaluated(by=[datetime.date(2026, 1, 1 + row % 2) for row in range(N)]),
    "evaluation of rules": lambda: fs.evaluate(LABELS, _rules(), ROWS, by=ROWS["job"]),
    "evaluation by spread": lambda: fs.evaluate(NUMBERS, KEYS, ROWS, agreement=fs.Spread(), by=ROWS["job"]),
    "comparison": lambda: examples.comparison(120),
    "comparison of hostile names": examples.hostile,
    "best": lambda: fs.compare(LABELS, {"phi": fs.Importances(NUMBERS[:, None])}, ROWS, discretizer=fs.Best()),
    "populations": lambda: _evaluated().by(ROWS["job"]),
    "populations, many": lambda: fs.evaluate([0, 1] * 120, [0, 1] * 120, range(240)).by(np.arange(240) // 4),
    "audit": _audited,
    "audit by several": lambda: _audited(by=["job", "day"], time="when", every="1d", clusters="customer"),
    "audit beside another": lambda: _audited(against=_log()[: N // 2]),
    "populations of two columns": lambda: fs.evaluate(LABELS, KEYS, _log()).by(["job", "customer"]),
    "audit of numbers": lambda: _audited(prediction="number", agreement="spread", by="job"),
    "windows": lambda: _audited(time="when", every="1d").windows,
    "plan": lambda: fs.plan(fs.consistency(_RNG.integers(0, 80, 100), np.zeros(100))),
    "plan that cannot tell": lambda: fs.plan(fs.consistency(range(40), np.zeros(40))),
    "encoding": lambda: fs.encoding(_rules(), LABELS, ROWS),
    "encoding of numbers": lambda: fs.encoding(_rules(), NUMBERS, ROWS, agreement=fs.Close(0.5)),
    "encoding of nothing": lambda: fs.encoding(_rules().take([0]), LABELS[:1], ROWS[:1]),
    "certificate": lambda: fs.certify(NUMBERS[:, None], LABELS),
    "leakage": lambda: fs.leakage([f"{key} is {label}" for key, label in zip(KEYS, LABELS, strict=True)], LABELS),
    "within curve": lambda: fs.within_curve(NUMBERS[:, None], LABELS, [0.0, 0.1, 1.0]),
    "tolerance curve": lambda: fs.tolerance_curve(KEYS, NUMBERS),
    "simulatability": lambda: fs.OptimalDecoder().fit(KEYS[:30], LABELS[:30]).accuracy(KEYS[30:], LABELS[30:]),
    "local": _local,
    "explainer agreement": _agreement,
    "direction": lambda: fs.direction(ROWS[["x"]] - 30, lambda rows: np.tanh(rows["x"].to_numpy()), ROWS[["x"]]),
    "direction of nothing": lambda: fs.direction(ROWS[["x"]] - 30, lambda rows: np.ones(len(rows)), ROWS[["x"]]),
    "repeatability": lambda: fs.repeatability([KEYS, np.roll(KEYS, 1), KEYS], weights=np.arange(1.0, N + 1)),
    "repeatability of one row": lambda: fs.repeatability([["a"], ["b"]]),
    "local until": lambda: fs.sample_until([(KEYS, LABELS)], "a", epsilon=0.5, budget=9, prediction="yes"),
}


@cache
def result(name):
    """One of `RESULTS`, made once."""
    return RESULTS[name]()
