"""Measures from the cells of a store: of all rows ever, of a group, of each day."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from faithscope.counting.counted import Coverage
from faithscope.counting.counts import Counts
from faithscope.counting.leave_out import LeftOut
from faithscope.counting.profile import Profile
from faithscope.counting.terms import share_left_out, share_losses
from faithscope.inputs.array_types import Array
from faithscope.measures.estimate import Estimate, estimate
from faithscope.measures.sufficiency import coverage_estimate
from faithscope.monitor.queries import fetch_lines, fetch_table
from faithscope.monitor.schema import WHOLE
from faithscope.monitor.scopes import RowPatterns, Scopes, held_scopes
from faithscope.relations import Applies
from faithscope.runtime.memory import need

# Explanations with the same numbers of rows by label are merged in the database, and only those numbers come back.
_KINDS = """
WITH labelled AS (SELECT {keys} high, low, label, sum(given)::BIGINT AS given FROM {cells} GROUP BY ALL),
explained AS (SELECT {keys} high, low, list_sort(list(given)) AS given FROM labelled GROUP BY ALL)
SELECT {keys} given, count(*) AS times FROM explained GROUP BY ALL
"""
_LABELS = "SELECT {keys} label, sum(given)::BIGINT AS given FROM {cells} GROUP BY ALL"
# Rows whose explanations came once and are no longer known, each as one that nobody shares.
_LONE = " UNION ALL SELECT [1], rows FROM forgotten{chosen}"
_LONE_LABELS = "(SELECT label, given FROM {cells} UNION ALL SELECT label, rows FROM forgotten{chosen})"
# In an order of their own, since that of an engine differs from run to run, and rounding of sums with it.
PATTERNS = """
SELECT {keys} own, inside, label::BIGINT AS label, sum(given)::BIGINT AS given
FROM {cells} JOIN patterns USING (high, low) GROUP BY ALL ORDER BY {keys} own, inside, label
"""
_OPEN = "(SELECT period AS day, {group} AS grp, high, low, label, given FROM cells WHERE level = 0{further})"


def estimates(
    connection: Any, cells: str, keys: Sequence[str], confidence: float, forgotten: str | None = None
) -> dict[tuple[Any, ...], Estimate]:
    """The measure for each combination of keys among cells, which are a query in parentheses.

    Parameters
    ----------
    forgotten : str, optional
        Which rows that are no longer known by explanation count too, as a condition of SQL, if there are no keys.
    """
    told = {"cells": cells, "keys": "".join(f"{key}, " for key in keys)}
    if (scopes := held_scopes(connection)) is not None:
        answer = fetch_table(connection, PATTERNS.format(**told))
        parts = by_key(answer, keys, np.arange(answer.num_rows)).items()
        covered = {key: scope_coverage(connection, scopes, answer.take(places)) for key, places in parts}
        return {key: coverage_estimate(each, "sufficiency", confidence) for key, each in covered.items()}
    kinds, labels = _KINDS.format(**told), _LABELS.format(**told)
    if forgotten is not None:
        kinds += _LONE.format(chosen=forgotten)
        labels = _LABELS.format(keys="", cells=_LONE_LABELS.format(cells=cells, chosen=forgotten))
    answer, labelled = fetch_table(connection, kinds), fetch_table(connection, labels)
    label_rows, found = by_key(labelled, keys, labelled.column("given").to_numpy()), {}
    for key, places in by_key(answer, keys, np.arange(answer.num_rows)).items():
        part = answer.take(places)
        lists = part.column("given").combine_chunks()
        which = np.repeat(np.arange(len(lists)), np.asarray(lists.value_lengths()))
        given, times = np.asarray(lists.flatten()).astype(np.int64), part.column("times").to_numpy()
        profile = Profile.of_groups(which, given, times.astype(np.int64), label_rows[key])
        found[key] = estimate(profile, confidence=confidence, interval=None)
    return found


def by_key(answer: Any, keys: Sequence[str], values: Array) -> dict[tuple[Any, ...], Array]:
    """Values by the combination of keys in their line, in order."""
    if not keys or not len(values):
        return {(): values} if len(values) else {}
    table = np.column_stack([answer.column(key).to_numpy() for key in keys])
    different, place = np.unique(table, axis=0, return_inverse=True)
    order = np.argsort(place.reshape(-1), kind="stable")
    parts = np.split(values[order], np.cumsum(np.bincount(place.reshape(-1), minlength=len(different)))[:-1])
    return {tuple(line.tolist()): part for line, part in zip(different, parts, strict=True)}


def scope_coverage(connection: Any, scopes: Scopes, answer: Any) -> Coverage:
    """Whom the scopes that rows were given cover, with every row left out once; from a table of patterns."""
    rows = RowPatterns.read(answer.column("own").to_numpy(), answer.column("inside").to_pylist(), len(scopes))
    names = [json.loads(text) for (text,) in fetch_lines(connection, "SELECT shown FROM labels ORDER BY code")]
    used, code = np.unique(rows.own, return_inverse=True)
    labels, label = np.unique(answer.column("label").to_numpy(), return_inverse=True)
    times, covers = answer.column("given").to_numpy(), rows.inside[:, used]
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


def open_days(
    connection: Any, confidence: float, *, grouped: bool, before: int | None = None
) -> Iterator[tuple[tuple[Any, ...], Estimate]]:
    """The estimate of every day that is not closed, by day and group; of those before a day only, if there is one."""
    further = "" if before is None else f" AND period < {before}"
    for group in (WHOLE, "grp") if grouped else (WHOLE,):
        cells = _OPEN.format(group=group, further=further)
        yield from estimates(connection, cells, ("day", "grp"), confidence).items()


def measures(told: Estimate) -> tuple[int, float, int, int, float, float]:
    """Rows, the sum of agreements, unverifiable rows, explanations and the interval of an estimate."""
    profile = told.counts.profile()
    terms = profile.terms
    return told.n, terms.agreeing, int(terms.silent), profile.distinct, told.low, told.high
