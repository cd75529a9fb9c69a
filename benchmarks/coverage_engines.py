"""Do an engine and memory give the same intervals? Random logs, whole and by group, counted by DuckDB and by NumPy."""

from collections.abc import Iterator
from typing import Any

import numpy as np

import faithscope as fs
from faithscope.testing import hard_systems

INTERVALS: tuple[dict[str, Any], ...] = ({}, {"interval": "jackknife"}, {"interval": "mcdiarmid"})
SYSTEMS = ("n/2 explanations", "3n explanations", "long tail of 3,000", "20 equal labels")


def engine_gap(logs: int) -> float:
    """The largest difference of two ends of an interval that an engine and memory give for the same rows."""
    return max(gap for seed in range(logs) for gap in _gaps(seed))


def _gaps(seed: int) -> Iterator[float]:
    import pandas as pd

    rng = np.random.default_rng(seed)
    rows = hard_systems(int(rng.integers(50, 3_000)))[SYSTEMS[seed % len(SYSTEMS)]].draw(rng)
    groups = rng.integers(0, 3, len(rows["predictions"]))
    log = pd.DataFrame({"why": rows["explanations"], "label": rows["predictions"], "group": groups})
    for how in INTERVALS:
        audit = fs.audit(log, prediction="label", explanation="why", by="group", **how)
        yield _apart(audit.consistency, fs.consistency(**rows, **how))
        for group, estimate in audit.populations.estimates.items():
            part = {name: column[groups == group] for name, column in rows.items()}
            yield _apart(estimate, fs.consistency(**part, **how))


def _apart(a: fs.Estimate, b: fs.Estimate) -> float:
    return max(abs(a.low - b.low), abs(a.high - b.high))
