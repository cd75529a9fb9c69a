"""Measures from the cells of a store: of all rows ever, of a group, of each day."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.counting.counted import Coverage
from faithscope.counting.profile import Profile
from faithscope.measures.estimate import Estimate, estimate
from faithscope.measures.sufficiency import coverage_estimate
from faithscope.monitor.queries import fetch_lines, fetch_table
from faithscope.monitor.schema import WHOLE
from faithscope.monitor.scope_patterns import Patterns, to_counts
from faithscope.monitor.scopes import RowPatterns, Scopes, held_scopes

Ints = NDArray[np.int64]

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
    profiles = _profiles(fetch_table(connection, kinds), fetch_table(connection, labels), keys)
    return {key: estimate(each, confidence=confidence, interval=None) for key, each in profiles.items()}


def _profiles(kinds: Any, labels: Any, keys: Sequence[str]) -> dict[tuple[Any, ...], Profile]:
    """The profile for each combination of keys, from kinds of explanations and rows by label."""
    label_rows = by_key(labels, keys, labels.column("given").to_numpy())
    profiles = {}
    for key, places in by_key(kinds, keys, np.arange(kinds.num_rows)).items():
        part = kinds.take(places)
        lists = part.column("given").combine_chunks()
        which = np.repeat(np.arange(len(lists)), np.asarray(lists.value_lengths()))
        given, times = np.asarray(lists.flatten()).astype(np.int64), part.column("times").to_numpy()
        profiles[key] = Profile.of_groups(which, given, times.astype(np.int64), label_rows[key])
    return profiles


def by_key(answer: Any, keys: Sequence[str], values: NDArray[Any]) -> dict[tuple[Any, ...], NDArray[Any]]:
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
    labels, number = np.unique(answer.column("label").to_numpy(), return_inverse=True)
    lists = [(place,) for place in range(len(used))]
    patterns = Patterns(rows.inside[:, used], lists, code, number, answer.column("given").to_numpy())
    *tables, own = patterns.tables(len(labels))
    told = [tuple(name) if isinstance(name, list) else name for name in (names[place] for place in labels)]
    counts = to_counts(scopes.rules.take(used), told, *tables)
    return Coverage(counts, code, own, (), patterns.left_out(counts, own))


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
