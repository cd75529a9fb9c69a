"""Two stores as one: the batches of one are added to the other once more, and a batch of both counts once."""

import json
from typing import Any, NamedTuple

import numpy as np

from faithscope.errors import Incompatible
from faithscope.monitor.adding import insert, settle_kind
from faithscope.monitor.batch import Batch, Clusters, Names
from faithscope.monitor.beside import forget_beside
from faithscope.monitor.canonical import Digests
from faithscope.monitor.origin import origin
from faithscope.monitor.queries import fetch_lines, fetch_table, fetch_value, held_settings
from faithscope.monitor.scopes import held_patterns
from faithscope.monitor.store import Store

_FILED = "SELECT number, id, rows, first_day, last_day, content FROM batches ORDER BY number"
_ROWS = """
SELECT period::BIGINT AS day, grp::BIGINT AS grp, label::BIGINT AS label, given, high, low FROM cells WHERE batch = {}
"""
_CLUSTERED_ROWS = """
SELECT day::BIGINT AS day, grp::BIGINT AS grp, label::BIGINT AS label, 1::BIGINT AS given, high, low, word
FROM clusters WHERE batch = {}
"""


class _Held(NamedTuple):
    """Of a store, what was settled, the content of each batch by its name, whether days were merged, its first day."""

    settings: dict[str, str]
    batches: dict[str, str]
    closed: bool
    begun: float

    @classmethod
    def of(cls, store: Store) -> "_Held":
        with store.transaction() as connection:
            settings, begun = held_settings(connection), origin(connection)
            closed = bool(fetch_value(connection, "SELECT count(*) FROM cells WHERE level > 0"))
            batches = {line[1]: line[-1] for line in fetch_lines(connection, _FILED)}
        closed = closed and "clusters" not in settings  # the rows by which clusters count are all kept
        return cls(settings, batches, closed, np.inf if begun is None else begun)


def merge(first: Store, second: Store) -> Store:
    """A store in memory that holds the batches of both, as if those of the one that began later came after the others.

    A store whose old days were merged no longer has its batches apart: those of the other are then added to it.
    """
    ours, theirs = _Held.of(first), _Held.of(second)
    _refuse_others(ours, theirs)
    swapped = theirs.closed if ours.closed or theirs.closed else theirs.begun < ours.begun
    base, other, held = (second, first, theirs) if swapped else (first, second, ours)
    merged = base.copy()
    with other.transaction() as source, merged.transaction(write=True) as target:
        if "beside" in ours.settings or "beside" in theirs.settings:
            forget_beside(target)
        for number, name, *about in fetch_lines(source, _FILED):
            batch = _batch(source, number)
            settle_kind(target, batch, base.name)
            if name not in held.batches:
                insert(target, batch, name, tuple(about))
    return merged


def _refuse_others(ours: _Held, theirs: _Held) -> None:
    """Raise if two stores cannot be one."""
    one, other = ours.settings, theirs.settings
    days = " and ".join(str(settings.get("reference", "no")) for settings in (one, other))
    shared = sorted(ours.batches.keys() & theirs.batches.keys())
    apart = next((name for name in shared if ours.batches[name] != theirs.batches[name]), None)
    clustered = ours.batches and theirs.batches and ("clusters" in one) != ("clusters" in other)
    refusals = {
        f"One monitor has groups by {one['by']}, the other by {other['by']}: merge monitors of the same groups.": (
            one["by"] != other["by"]
        ),
        "These monitors watch different scopes: merge monitors that began with the same ones.": (
            one.get("scopes") != other.get("scopes")
        ),
        f"These monitors have references of {days} days: merge monitors of the same reference.": (
            one.get("reference") != other.get("reference")
        ),
        "One monitor counts each cluster once, the other has none: merge monitors of the same kind.": clustered,
        f"Both monitors have a batch {apart!r}, of different rows: give batches different names.": apart is not None,
        "Both monitors have merged their old days, so that neither still has its batches apart, to be added to the "
        "other: add the logs of one to the state of the other.": ours.closed and theirs.closed,
    }
    for sentence, refused in refusals.items():
        if refused:
            raise Incompatible(sentence)


def _batch(connection: Any, number: int) -> Batch:
    """A batch as it was added; of clusters, the rows by which they count."""
    settings = held_settings(connection)
    clustered, features = "clusters" in settings, settings.get("features")
    answer = fetch_table(connection, (_CLUSTERED_ROWS if clustered else _ROWS).format(number))
    day, group, label, given, high, low = (answer.column(j).to_numpy() for j in range(6))
    lines = fetch_lines(connection, "SELECT high, low, name, features FROM names")
    names = {(top, bottom): (name, tuple(json.loads(told))) for top, bottom, name, told in lines}
    digests = Digests(high, low)
    ids = fetch_lines(connection, f"SELECT name, word FROM ids WHERE batch = {number}") if "ids" in settings else []
    labels, groups = (
        Names(*fetch_table(connection, f"SELECT canonical, shown FROM {table} ORDER BY code").to_pydict().values())
        for table in ("labels", "groups")
    )
    return Batch(
        digests,
        np.arange(len(high)),
        *(day, group, label, given, labels, groups),
        settings["kind"],
        lambda place: names.get((int(high[place]), int(low[place])), ("", ())),
        features=None if features is None else tuple(json.loads(features)),
        discretizer=settings["discretizer"],
        patterns=held_patterns(connection, digests),
        clusters=Clusters(answer.column("word").to_numpy(), settings["clusters"]) if clustered else None,
        ids={name: np.array([word for other, word in ids if other == name], np.uint64) for name, _ in ids},
    )
