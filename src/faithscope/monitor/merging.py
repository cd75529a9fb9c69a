"""Two stores as one: every batch counts once, and rows that wait in one may find partners in the other."""

import json
from typing import Any

import numpy as np

from faithscope.errors import Incompatible
from faithscope.monitor.adding import ALL_WAITING, codes, insert, replace_waiting, settle_kind, settled, waiting_rows
from faithscope.monitor.batch import Batch, Clusters, Names
from faithscope.monitor.beside import forget_beside
from faithscope.monitor.canonical import Digests
from faithscope.monitor.origin import origin, settle_origin
from faithscope.monitor.pairing import pair
from faithscope.monitor.queries import fetch_lines, fetch_table, fetch_value, registered
from faithscope.monitor.schema import ID_TABLES
from faithscope.monitor.scoped.adding import held_patterns
from faithscope.monitor.store import Store

_FILED = "SELECT number, id, rows, first_day, last_day, content FROM batches ORDER BY number"
_ROWS = "SELECT period, grp, high, low, label, given FROM cells WHERE batch = {}"
_CLUSTERED_ROWS = "SELECT day AS period, grp, high, low, label, 1 AS given, word FROM clusters WHERE batch = {}"


def merge(first: Store, second: Store) -> Store:
    """A store in memory that holds the batches of both."""
    ours, theirs = first.settings(), second.settings()
    if ours["by"] != theirs["by"]:
        raise Incompatible(
            f"One monitor has groups by {ours['by']}, the other by {theirs['by']}: merge monitors of the same groups."
        )
    if ours.get("scopes") != theirs.get("scopes"):
        raise Incompatible("These monitors watch different scopes: merge monitors that began with the same ones.")
    if ours.get("reference") != theirs.get("reference"):
        days = " and ".join(str(settings.get("reference", "no")) for settings in (ours, theirs))
        raise Incompatible(f"These monitors have references of {days} days: merge monitors of the same reference.")
    held, added = _batches(first), _batches(second)
    clustered = ["clusters" in settings for settings in (ours, theirs)]
    if held and added and clustered[0] != clustered[1]:
        raise Incompatible("One monitor counts each cluster once, the other has none: merge monitors of the same kind.")
    shared = held.keys() & added.keys()
    for name in sorted(shared):
        if held[name] != added[name]:
            raise Incompatible(f"Both monitors have a batch {name!r}, of different rows: give batches different names.")
    if not shared and not any(clustered):
        return _begun(_joined(first, second), first, second)
    if any(clustered) or _is_open(second):  # the rows by which clusters count are all kept
        return _begun(_replayed(first, second, shared), first, second)
    if _is_open(first):
        return _begun(_replayed(second, first, shared), first, second)
    raise Incompatible(
        f"Both monitors counted batch {min(shared)!r}, and both have merged their old days, so it cannot be counted "
        "once: merge monitors of different batches."
    )


def _begun(merged: Store, *stores: Store) -> Store:
    """A store whose watch began with the first of both."""
    days = []
    for store in stores:
        with store.transaction() as connection:
            days += [] if (day := origin(connection)) is None else [day]
    if days:
        with merged.transaction() as connection:
            settle_origin(connection, min(days))
    with merged.transaction() as connection:
        forget_beside(connection, anyway=any("beside" in store.settings() for store in stores))
    return merged


def _batches(store: Store) -> dict[str, str]:
    """What each batch held, by its name."""
    with store.transaction() as connection:
        return dict(fetch_lines(connection, "SELECT id, content FROM batches ORDER BY number"))


def _is_open(store: Store) -> bool:
    with store.transaction() as connection:
        return not fetch_value(connection, "SELECT count(*) FROM cells WHERE level > 0")


def _replayed(base: Store, other: Store, shared: set[str]) -> Store:
    """The batches of one, then those of the other that it does not have, as if they were added now."""
    merged = base.copy()
    with other.transaction() as source, merged.transaction() as target:
        _settle(source, target, base.name)
        for number, name, *filed in fetch_lines(source, _FILED):
            if name not in shared:
                insert(target, _batch(source, number), name, tuple(filed))
    return merged


def _settle(source: Any, target: Any, name: str) -> None:
    """Refuse to merge explanations of different kinds."""
    for number in fetch_lines(source, "SELECT number FROM batches ORDER BY number LIMIT 1"):
        settle_kind(target, _batch(source, number[0]), name)


def _batch(connection: Any, number: int) -> Batch:
    """A batch as it was added; of clusters, the rows by which they count."""
    settings = dict(fetch_lines(connection, "SELECT name, value FROM settings"))
    answer = fetch_table(connection, (_CLUSTERED_ROWS if "clusters" in settings else _ROWS).format(number))
    column = {name: answer.column(name).to_numpy() for name in answer.column_names}
    lines = fetch_lines(connection, "SELECT high, low, name, features FROM names")
    names = {(high, low): (name, tuple(json.loads(features))) for high, low, name, features in lines}
    digests = Digests(column["high"], column["low"])
    labels, groups = (_Held.of(connection, table) for table in ("labels", "groups"))
    day, group, label, given = (column[name].astype(np.int64) for name in ("period", "grp", "label", "given"))
    keys = list(zip(digests.high.tolist(), digests.low.tolist(), strict=True))
    features = tuple(json.loads(settings["features"])) if "features" in settings else None
    cells = (np.arange(len(digests.high)), day, group, label, given)
    return Batch(
        *(digests, *cells, labels, groups, settings["kind"]),
        describe=lambda place: names.get(keys[place], ("", ()))[0],
        features=features,
        speaks_of=lambda place: names.get(keys[place], ("", ()))[1],
        discretizer=settings["discretizer"],
        patterns=held_patterns(connection, digests),
        clusters=Clusters(column["word"], settings["clusters"]) if "clusters" in settings else None,
        ids=_ids(connection, number) if "ids" in settings else {},
    )


def _ids(connection: Any, number: int) -> dict[str, Any]:
    """The ids that were kept of a batch, by the name of their column."""
    answer = fetch_table(connection, f"SELECT name, word FROM ids WHERE batch = {number}")
    names, words = np.array(answer.column("name").to_pylist()), answer.column("word").to_numpy()
    return {str(name): words[names == name] for name in np.unique(names)}


class _Held(Names):
    """Labels or groups as a store holds them."""

    @classmethod
    def of(cls, connection: Any, table: str) -> "_Held":
        return cls(tuple(fetch_lines(connection, f"SELECT canonical, shown FROM {table} ORDER BY code")))

    @property
    def canonical(self) -> list[str]:
        return [text for text, _ in self.values]

    @property
    def shown(self) -> list[str]:
        return [shown for _, shown in self.values]


def _joined(first: Store, second: Store) -> Store:
    """The tables of both, batches of the second numbered after those of the first, and rows that wait matched anew."""
    merged = first.copy()
    with second.transaction() as source, merged.transaction() as target:
        _settle(source, target, first.name)
        labels, groups = (codes(target, table, _Held.of(source, table)) for table in ("labels", "groups"))
        after = fetch_value(target, "SELECT coalesce(max(number), 0) FROM batches")
        told = {"label": labels, "grp": np.append(groups, -1).astype(np.int32)}
        settings = second.settings()
        further = ("patterns", "scoped_openers") if "scopes" in settings else ()
        if "ids" in settings:
            further = (*further, "ids")
            target.execute(ID_TABLES[0])
            settled(target, "ids", "kept")
        for table in ("batches", "cells", "forgotten", "waiting", "pairs", "days", "names", *further):
            _append(source, target, table, told, after)
        _pair_waiting(target)
    return merged


def _append(source: Any, target: Any, table: str, told: dict[str, Any], after: int) -> None:
    """The lines of a table with labels and groups by the numbers of the target, batches numbered on."""
    answer = fetch_table(source, f"SELECT * FROM {table}")
    columns = dict(zip(answer.column_names, answer.columns, strict=True))
    for name, numbers in told.items():
        if name in columns and answer.num_rows:
            columns[name] = numbers[columns[name].to_numpy()]
    for name in {"number", "batch"} & columns.keys():
        numbers = columns[name].to_numpy()
        columns[name] = np.where((numbers == 0) & (name == "batch"), 0, numbers + after).astype(np.int32)
    rest = f" ANTI JOIN {table} USING (high, low)" if table in ("names", "patterns") else ""
    with registered(target, "held", columns):
        target.execute(f"INSERT INTO {table} SELECT * FROM held{rest}")


def _pair_waiting(connection: Any) -> None:
    """Match openers that wait on one side with closers that wait on the other; the pairs count for the last batch."""
    before = waiting_rows(fetch_table(connection, ALL_WAITING))
    seed = int(fetch_value(connection, "SELECT value FROM settings WHERE name = 'seed'"))
    pairs = pair(before.take(slice(0)), before, np.random.default_rng(seed))
    replace_waiting(connection, before, pairs.waiting)
    last = fetch_value(connection, "SELECT coalesce(max(number), 0) FROM batches")
    lines = {
        "batch": np.full(len(pairs.days), last, np.int32),
        "day": pairs.days.astype(np.int32),
        "grp": pairs.groups.astype(np.int32),
        "rows": np.zeros(len(pairs.days), np.int64),
        "openers": pairs.openers,
        "matched": pairs.matched,
        "agreeing": pairs.agreeing,
    }
    with registered(connection, "lines", lines):
        connection.execute("INSERT INTO pairs SELECT * FROM lines WHERE matched > 0")
