"""Measures from the cells of a store: of all rows ever, of a group, of each day."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.counting.profile import Profile
from faithscope.monitor.queries import fetch_table

Ints = NDArray[np.int64]

# Explanations with the same numbers of rows by label are merged in the database, and only those numbers come back.
_KINDS = """
WITH labelled AS (SELECT {keys} high, low, label, sum(given)::BIGINT AS given FROM {cells} GROUP BY ALL),
explained AS (SELECT {keys} high, low, list_sort(list(given)) AS given FROM labelled GROUP BY ALL)
SELECT {keys} given, count(*) AS times FROM explained GROUP BY ALL
"""
_LABELS = "SELECT {keys} label, sum(given)::BIGINT AS given FROM {cells} GROUP BY ALL"


def profiles(connection: Any, cells: str, keys: Sequence[str] = ()) -> dict[tuple[Any, ...], Profile]:
    """A profile for each combination of keys among cells, which are a table or a query in parentheses."""
    told = {"cells": cells, "keys": "".join(f"{key}, " for key in keys)}
    kinds = fetch_table(connection, _KINDS.format(**told))
    labels = fetch_table(connection, _LABELS.format(**told))
    label_rows = by_key(labels, keys, labels.column("given").to_numpy())
    lists = kinds.column("given").combine_chunks()
    lengths = np.asarray(lists.value_lengths()).astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    given, times = np.asarray(lists.flatten()).astype(np.int64), kinds.column("times").to_numpy()
    return {
        key: _profile(starts, lengths, given, times, places, label_rows[key])
        for key, places in by_key(kinds, keys, np.arange(len(lengths))).items()
    }


def _profile(starts: Ints, lengths: Ints, given: Ints, times: Ints, places: Ints, label_rows: Ints) -> Profile:
    """The profile of some of the kinds of explanations."""
    sizes = lengths[places]
    which = np.repeat(np.arange(len(places)), sizes)
    inside = np.arange(len(which)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return Profile.of_groups(which, given[starts[places][which] + inside], times[places].astype(np.int64), label_rows)


def by_key(answer: Any, keys: Sequence[str], values: NDArray[Any]) -> dict[tuple[Any, ...], NDArray[Any]]:
    """Values by the combination of keys in their line, in order."""
    if not keys or not len(values):
        return {(): values} if len(values) else {}
    table = np.column_stack([answer.column(key).to_numpy() for key in keys])
    different, place = np.unique(table, axis=0, return_inverse=True)
    order = np.argsort(place.reshape(-1), kind="stable")
    parts = np.split(values[order], np.cumsum(np.bincount(place.reshape(-1), minlength=len(different)))[:-1])
    return {tuple(int(value) for value in line): part for line, part in zip(different, parts, strict=True)}


def with_forgotten(profile: Profile | None, lone: int, label_rows: Ints) -> Profile:
    """A profile with rows whose explanations came once and are no longer known, each as one that nobody shares.

    Parameters
    ----------
    lone : int
        How many such rows there are.
    label_rows : (k,) array
        All rows by label, with these.
    """
    none = np.zeros(1, np.int64)
    if profile is None:
        return Profile.of_groups(none, none + 1, none + lone, label_rows)
    columns = (np.concatenate([none, column]) for column in (profile.others, profile.agreeing, profile.pairs))
    others, agreeing, pairs = columns
    rows = np.concatenate([none + lone, profile.rows])
    known = replace(profile, others=others, agreeing=agreeing, pairs=pairs, rows=rows, label_rows=label_rows)
    return replace(known, distinct=profile.distinct + lone, modal=profile.modal + lone)
