"""Rows of rules that overlap, in two regions, added to monitors."""

import datetime

import numpy as np
import pandas as pd
from numpy.random import default_rng

import faithscope as fs

TEXTS = ["a <= 1", "b == 1", "a > 1 and b == 0", "a >= 1", "everything"]
START = datetime.date(2026, 1, 1)


def drawn(n, seed=0, days=1):
    """So many rows, spread over days; their labels differ from pattern to pattern."""
    rng = default_rng(seed)
    frame = pd.DataFrame({"a": rng.integers(0, 4, n), "b": rng.integers(0, 2, n), "g": rng.choice(["u", "v"], n)})
    inside = np.column_stack([frame.a <= 1, frame.b == 1, (frame.a > 1) & (frame.b == 0), frame.a >= 1, frame.a >= 0])
    frame["rule"] = [TEXTS[rng.choice(np.flatnonzero(row))] for row in inside]
    frame["day"] = [START + datetime.timedelta(row * days // n) for row in range(n)]
    return frame.assign(y=(frame.a + frame.b + (rng.random(n) < 0.2)) % 3)


def add(monitor, rows, **how):
    """Add them from memory."""
    groups = {"by": rows["g"]} if monitor.by else {}
    return monitor.add(rows["rule"].tolist(), rows["y"].tolist(), **groups, **how)


def measured(rows):
    return fs.consistency(rows["rule"].to_numpy(), rows["y"].to_numpy())


def same(told, rows):
    """One look is what all rows together give."""
    expected = measured(rows)
    assert (told.n, told.distinct, told.method) == (expected.n, expected.distinct, expected.method)
    for name in ("value", "unverifiable", "low", "high", "chance", "verified_low"):
        mine, theirs = getattr(told, name), getattr(expected, name)
        assert mine == theirs or np.isclose(mine, theirs, rtol=0, atol=1e-12), name


def holds_all(monitor, rows):
    """The whole, each group, and each of their days."""
    same(monitor.single_look(), rows)
    for group in monitor.groups:
        same(monitor.single_look(group), rows[rows["g"] == group])
    table = monitor.table()
    for line in table.itertuples():
        part = rows[(rows["day"] == line.day) & (pd.isna(line.group) | (rows["g"] == line.group))]
        expected = measured(part)
        for name in ("n", "value", "unverifiable", "low", "high"):
            assert np.isclose(getattr(line, name), getattr(expected, name), rtol=0, atol=1e-12), name
    assert table[table["group"].isna()]["n"].sum() == len(rows)


def looked(monitor, ask):
    """What a look at a monitor answers."""
    with monitor._look() as look:
        return ask(look)
