"""Measures from the cells of a store: of all rows ever, of a group, of each day."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from faithscope.counting.counted import Coverage
from faithscope.counting.counts import Counts
from faithscope.counting.leave_out import LeftOut
from faithscope.counting.profile import Profile
from faithscope.counting.terms import share_left_out, share_losses
from faithscope.inputs.array_types import Array
from faithscope.measures.covered import coverage_estimate
from faithscope.measures.estimate import Estimate, estimate
from faithscope.monitor.scopes import RowPatterns, Scopes
from faithscope.monitor.store import fetched
from faithscope.relations import Applies
from faithscope.runtime.memory import need

# Explanations with the same numbers of rows by label are merged in the database, and only those numbers come back.
_KINDS = """
WITH labelled AS (SELECT {keys} high, low, label, sum(given)::BIGINT AS given FROM {cells} GROUP BY ALL),
explained AS (SELECT {keys} high, low, list_sort(list(given)) AS given FROM labelled GROUP BY ALL)
SELECT {keys} given, count(*) AS times FROM explained GROUP BY ALL
"""
_LABELS = "SELECT {keys} label, sum(given)::BIGINT AS given FROM {cells} GROUP BY ALL"
# In an order of their own, since that of an engine differs from run to run, and rounding of sums with it.
_PATTERNS = """
SELECT {keys} own, inside, label::BIGINT AS label, sum(given)::BIGINT AS given
FROM {cells} JOIN patterns USING (high, low) GROUP BY ALL ORDER BY {keys} own, inside, label
"""


def estimates(
    connection: Any, cells: str, keys: Sequence[str], confidence: float, scopes: Scopes | None
) -> dict[tuple[Any, ...], Estimate]:
    """The measure for each combination of keys among cells, which are a query in parentheses."""
    told, found = {"cells": cells, "keys": "".join(f"{key}, " for key in keys)}, {}
    if scopes is not None:
        rows = fetched(connection, _PATTERNS.format(**told))
        for key, places in _by_key(rows, keys).items():
            covered = _coverage(connection, scopes, {name: column[places] for name, column in rows.items()})
            found[key] = coverage_estimate(covered, "sufficiency", confidence)
        return found
    kinds, labels = (fetched(connection, query.format(**told)) for query in (_KINDS, _LABELS))
    labelled = _by_key(labels, keys)
    for key, places in _by_key(kinds, keys).items():
        lists = kinds["given"][places].tolist()
        which = np.repeat(np.arange(len(lists)), [*map(len, lists)])
        given = np.concatenate(lists).astype(np.int64)
        profile = Profile.of_groups(which, given, kinds["times"][places], labels["given"][labelled[key]])
        found[key] = estimate(profile, confidence=confidence, interval=None)
    return found


def _by_key(rows: dict[str, Array], keys: Sequence[str]) -> dict[tuple[Any, ...], Array]:
    """The places of lines by the combination of their keys, in order."""
    n = len(rows["given"])
    if not keys or not n:
        return {(): np.arange(n)} if n else {}
    table = np.column_stack([rows[key] for key in keys])
    different, place, times = np.unique(table, axis=0, return_inverse=True, return_counts=True)
    parts = np.split(np.argsort(place.reshape(-1), kind="stable"), np.cumsum(times)[:-1])
    return {tuple(line): part for line, part in zip(different.tolist(), parts, strict=True)}


def _coverage(connection: Any, scopes: Scopes, patterns: dict[str, Array]) -> Coverage:
    """Whom the scopes that rows were given cover, with every row left out once."""
    rows = RowPatterns.read(patterns["own"], patterns["inside"].tolist(), len(scopes))
    lines = connection.execute("SELECT shown FROM names WHERE what = 'labels' ORDER BY code").fetchall()
    names = [json.loads(text) for (text,) in lines]
    used, code = np.unique(rows.own, return_inverse=True)
    labels, label = np.unique(patterns["label"], return_inverse=True)
    times, covers = patterns["given"], rows.inside[:, used]
    need(40 * len(used) * len(labels), f"Counts of {len(used):,} scopes by {len(labels):,} labels", "bin predictions")
    own = covers[np.arange(len(code)), code]
    given, missed = (np.zeros((len(used), len(labels)), np.int64) for _ in range(2))
    np.add.at(given, (code, label), times)
    np.add.at(missed, (code[~own], label[~own]), times[~own])
    covered = np.stack([np.where(label == each, times, 0) @ covers for each in range(len(labels))], axis=1)
    explanation, named = cells = np.nonzero(given + covered)
    told = [tuple(name) if isinstance(name, list) else name for name in (names[place] for place in labels)]
    distinct = scopes.rules.take(used)
    tables, relation = (given[cells], covered[cells], missed[cells]), Applies(exclusive=distinct.partitions)
    counts = Counts(distinct, tuple(told), explanation, named, *tables, relation=relation)
    if counts.n < 2:
        return Coverage(counts, code, own)
    losses = share_losses(counts)
    alike, mask = np.zeros(given.shape), covers.astype(np.float64)
    alike[losses.alike.group, losses.alike.value] = losses.alike.weight
    lost = losses.by_scope @ mask.T
    lost[0] -= np.einsum("ps,ps->p", mask, alike.T[label])
    occupied = np.ravel_multi_index((code, label), given.shape)
    left_out = share_left_out(counts, lost, np.searchsorted(np.flatnonzero(given), occupied), own)
    # Once more with no rows behind them, so that there are at least two to leave out.
    value, silent, weight = (np.tile(np.asarray(c), 2) for c in (left_out.value, left_out.silent, left_out.weight))
    doubled = LeftOut(value, silent, left_out.reach, weight, np.append(times, 0 * times))
    return Coverage(counts, code, own, (), doubled)
