"""A batch into the store, in one transaction: its cells, its pairs, those that wait, and names of explanations."""

import hashlib
import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from faithscope.errors import BadInput
from faithscope.explanations.base import several
from faithscope.monitor.batch import Batch, Names
from faithscope.monitor.beside import insert_beside
from faithscope.monitor.clusters import insert_clusters, insert_ids, one_row_each, settle_clusters
from faithscope.monitor.moments import to_date, to_days
from faithscope.monitor.origin import origin
from faithscope.monitor.pairing import Cells, Pairs, pair
from faithscope.monitor.queries import fetch_lines, fetch_table, fetch_value, held_settings, registered
from faithscope.monitor.schema import WHOLE
from faithscope.monitor.scopes import assign, held_openers, held_scopes, insert_patterns, replace_openers
from faithscope.monitor.store import Store

_OPEN_CELLS = """
INSERT INTO cells SELECT {batch}, 0, day, grp, high, low, label, sum(given)::BIGINT FROM arriving GROUP BY ALL
ORDER BY high, low
"""
_WAITING = """
SELECT w.grp, w.high, w.low, w.label, w.day, w.closing, sum(w.rows)::BIGINT AS rows
FROM waiting w SEMI JOIN arriving a ON w.high = a.high AND w.low = a.low
GROUP BY ALL HAVING sum(w.rows) <> 0
"""
_NAMED = 500  # explanations that a batch may name: of those that disagree, and of the most frequent ones
_LONGEST = 300  # characters of a name
ALL_WAITING = "SELECT grp, high, low, label, day, closing, sum(rows)::BIGINT AS rows FROM waiting GROUP BY ALL"
_CHANGED = """
INSERT INTO waiting SELECT grp, high, low, label, day, closing, sum(rows)::BIGINT FROM
(SELECT * FROM after UNION ALL SELECT grp, high, low, label, day, closing, -rows FROM before)
GROUP BY ALL HAVING sum(rows) <> 0 ORDER BY high, low
"""


@dataclass(frozen=True)
class Added:
    """What became of a batch.

    Attributes
    ----------
    batch : str
        Its id.
    rows : int
        Its rows.
    counted : bool
        False if a batch with this id was added before, so that nothing was counted.
    notes : tuple of str
        What a reader should know.

    Examples
    --------
    >>> import faithscope as fs
    >>> print(fs.Monitor().add(["a", "a"], [1, 0], when="2026-03-01", batch="march"))
    batch march: 2 rows added
    """

    batch: str
    rows: int
    counted: bool
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """All of it, ready for JSON."""
        return {"batch": self.batch, "rows": self.rows, "counted": self.counted, "notes": list(self.notes)}

    def lines(self) -> list[str]:
        """What became of it, then its notes."""
        rows = f"{self.rows:,} row{'s' * (self.rows != 1)} added"
        return [f"batch {self.batch}: {rows if self.counted else 'added before, so nothing was counted'}", *self.notes]

    def __str__(self) -> str:
        return "\n".join(self.lines())

    __repr__ = __str__


def add_batch(store: Store, batch: Batch, name: str | None) -> Added:
    """Count a batch, unless one with its id was counted before; all of it or, if anything fails, nothing."""
    question = "SELECT id, rows, content FROM batches WHERE id = ?"
    asked: list[str | int] = [name or batch.content_id()]
    if name is None and batch.rows:  # the same rows may have been added under a name
        question += " OR (content = ? AND first_day = ? AND last_day = ?)"
        asked += [batch.content(), int(batch.day.min()), int(batch.day.max())]
    with store.transaction(write=True) as connection:
        settle_kind(connection, batch, store.name)
        if held := fetch_lines(connection, question, asked):
            _refuse_other_rows(batch, *held[0])
            return Added(held[0][0], batch.rows, False, batch.notes)
        name = str(asked[0])
        notes = (*batch.notes, *_odd_days(connection, batch))
        counted, told = insert(connection, batch, name, batch.filed)
    once = f"{several(counted, 'cluster came', 'clusters came')} for the first time, and each of them counts by one row"
    return Added(name, batch.rows, True, (*notes, *(() if batch.clusters is None else (once,)), *told))


def _odd_days(connection: Any, batch: Batch) -> tuple[str, ...]:
    """Notes of days that a clock may have got wrong: before all that came so far, or in the future."""
    first = origin(connection)
    start, end, today = int(batch.day.min()), int(batch.day.max()), int(to_days(None, 1)[0])
    early = (
        f"rows of {to_date(start)} are older than the first batch, which began on {to_date(first)}: they count for "
        "limits, but neither for the reference nor for alarms"
        if first is not None and start < first
        else None
    )
    late = f"rows of {to_date(end)} lie in the future: is that the right clock?" if end > today + 1 else None
    return tuple(note for note in (early, late) if note)


def _refuse_other_rows(batch: Batch, name: str, rows: int, content: str) -> None:
    """Raise if a batch was added under this name that had other explanations, predictions or groups."""
    if batch.content() != content:
        raise BadInput(
            f"Batch {name!r} was added before with other rows ({rows:,} then, {batch.rows:,} now), so nothing was "
            "counted: give each batch a name of its own."
        )


def settle_kind(connection: Any, batch: Batch, where: str) -> None:
    """Keep what explanations and clusters are with the first rows, and refuse others."""
    settle_clusters(connection, batch, where)
    kind = settled(connection, "kind", batch.kind)
    if kind != batch.kind:
        raise BadInput(
            f"The explanations in {where!r} are {kind}, these are {batch.kind}, so no two can be equal: use one "
            "explainer and one discretizer, or begin another state."
        )
    discretizer = settled(connection, "discretizer", batch.discretizer)
    if discretizer != batch.discretizer:
        raise BadInput(
            f"The explanations in {where!r} were discretized by {discretizer}, these by {batch.discretizer}: use one "
            "discretizer, or begin another state."
        )
    if batch.options:
        settled(connection, "log", json.dumps(batch.options))
    if batch.features is None:
        return
    features = tuple(json.loads(settled(connection, "features", json.dumps(batch.features))))
    if features != batch.features:
        pairs = zip(features, batch.features, strict=False)
        place, (old, new) = next(((j, pair) for j, pair in enumerate(pairs) if pair[0] != pair[1]))
        raise BadInput(
            f"Feature {place} is called {old!r} in {where!r} and {new!r} here: pass the same features in the same "
            "order."
        )


def settled(connection: Any, setting: str, value: str) -> str:
    """What a setting is since the first rows; this value if these are the first."""
    held = fetch_value(connection, "SELECT value FROM settings WHERE name = ?", [setting])
    if held is None:
        connection.execute("INSERT INTO settings VALUES (?, ?)", [setting, value])
    return value if held is None else str(held)


def insert(connection: Any, batch: Batch, name: str, filed: tuple[Any, ...]) -> tuple[int, tuple[str, ...]]:
    """Everything that a batch adds, which is filed under its name; the number of rows that count, and notes."""
    number = fetch_value(connection, "SELECT coalesce(max(number), 0) + 1 FROM batches")
    labels, groups = (codes(connection, table, getattr(batch, table)) for table in ("labels", "groups"))
    batch = batch if batch.clusters is None else one_row_each(connection, batch)
    cells = {
        "day": batch.day.astype(np.int32),
        "grp": groups[batch.group],
        "high": batch.digests.high[batch.explanation],
        "low": batch.digests.low[batch.explanation],
        "label": labels[batch.label],
        "given": batch.given,
    }
    connection.execute("INSERT INTO batches VALUES (?, ?, ?, ?, ?, now(), ?)", [number, name, *filed])
    if batch.clusters is not None:
        insert_clusters(connection, number, cells, batch.clusters)
    insert_ids(connection, number, batch)
    if not batch.rows:
        return 0, ()
    scoped, grouped = batch.patterns is not None, held_settings(connection)["by"] != "[]"
    with registered(connection, "arriving", cells):
        connection.execute(_OPEN_CELLS.format(batch=number))
        before = waiting_rows(fetch_table(connection, ALL_WAITING if scoped else _WAITING))
        pairs = _paired(connection, batch, cells, before, _generator(connection, name), grouped=grouped)
        replace_waiting(connection, before, pairs.waiting)
        _insert_pairs(connection, number, pairs, grouped=grouped)
    if batch.patterns is None:
        _insert_names(connection, batch)
    else:
        insert_patterns(connection, batch.digests, batch.patterns)
    return batch.rows, insert_beside(connection, cells)


def replace_waiting(connection: Any, before: Cells, after: Cells) -> None:
    """Those who wait now in place of those who waited."""
    with (
        registered(connection, "before", _waiting_columns(before)),
        registered(connection, "after", _waiting_columns(after)),
    ):
        connection.execute(_CHANGED)


def waiting_rows(answer: Any) -> Cells:
    """Those who wait, from an Arrow table."""
    column = {name: answer.column(name).to_numpy() for name in answer.column_names}
    label, day, rows, group = (column[name].astype(np.int64) for name in ("label", "day", "rows", "grp"))
    opening = np.where(column["closing"].astype(bool), 0, rows)
    return Cells.of(column["high"], column["low"], label, day, rows, group, opening)


def codes(connection: Any, table: str, names: Names) -> Any:
    """The numbers that labels or groups have in the store, new ones for those it did not know.

    New ones in the order of their texts: an engine's own order differs from run to run, and draws would with it.
    """
    known = dict(fetch_lines(connection, f"SELECT canonical, code FROM {table}"))
    for text, shown in sorted(zip(names.canonical, names.shown, strict=True)):
        if text not in known:
            known[text] = len(known)
            connection.execute(f"INSERT INTO {table} VALUES (?, ?, ?)", [known[text], text, shown])
    return np.array([known[text] for text in names.canonical], np.int32)


def _generator(connection: Any, name: str) -> np.random.Generator:
    """Randomness of the monitor's seed and the batch alone, so that a batch added again draws the same."""
    seed = fetch_value(connection, "SELECT value FROM settings WHERE name = 'seed'")
    words = hashlib.blake2b(f"{seed} {name}".encode("utf-8", "surrogatepass"), digest_size=16).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(words, "little")))


def _paired(
    connection: Any,
    batch: Batch,
    cells: dict[str, Any],
    before: Cells,
    rng: np.random.Generator,
    *,
    grouped: bool,
) -> Pairs:
    """The rows paired once as a whole, and once more within their groups, by draws of their own.

    A pair of the whole may be of two groups, and groups change nothing of the whole. With scopes a row opens a pair of
    its own scope, or closes one of a scope that is drawn for it.
    """
    patterns, scopes, told = batch.patterns, held_scopes(connection), held_openers(connection)

    def paired(groups: Any, here: Any, rng: np.random.Generator) -> Pairs:
        rows, waiting = (cells["label"], cells["day"], cells["given"], groups), before.take(here)
        if patterns is None or scopes is None:
            return pair(Cells.of(cells["high"], cells["low"], *rows), waiting, rng)
        own, inside = patterns.own[batch.explanation], patterns.inside[batch.explanation]
        arrivals = Cells.of(own, np.zeros_like(own), *rows)
        assigned, openers = assign(arrivals, inside, waiting, told, scopes.classes, rng)
        told.update({group: told.get(group, 0) + each for group, each in openers.items()})
        return pair(assigned, waiting, rng)

    pairs = paired(WHOLE, before.groups == WHOLE, rng)
    if grouped:
        pairs = pairs + paired(cells["grp"], before.groups != WHOLE, rng.spawn(1)[0])
    if told:
        replace_openers(connection, told)
    return pairs


def _waiting_columns(waiting: Cells) -> dict[str, Any]:
    """Openers that wait, then closers."""
    assert waiting.opening is not None
    twice = waiting.take(np.tile(np.arange(len(waiting)), 2))
    return {
        "grp": twice.groups.astype(np.int32),
        "high": twice.high,
        "low": twice.low,
        "label": twice.labels.astype(np.int32),
        "day": twice.days.astype(np.int32),
        "closing": np.repeat([False, True], len(waiting)),
        "rows": np.concatenate([waiting.opening, waiting.counts - waiting.opening]),
    }


_NEW_PAIRS = """
INSERT INTO pairs SELECT {number}, day, grp, sum(rows)::BIGINT, sum(openers)::BIGINT, sum(matched)::BIGINT,
sum(agreeing) FROM (
    SELECT day, grp, 0 AS rows, openers, matched, agreeing FROM counted
    UNION ALL SELECT day, {whole}, given, 0, 0, 0 FROM arriving
    UNION ALL SELECT day, grp, given, 0, 0, 0 FROM arriving WHERE {grouped}
) GROUP BY ALL ORDER BY day, grp
"""


def _insert_pairs(connection: Any, number: int, pairs: Pairs, *, grouped: bool) -> None:
    """Rows by the day on which they came, pairs by the day of their opener."""
    counted = {
        "day": pairs.days.astype(np.int32),
        "grp": pairs.groups.astype(np.int32),
        "openers": pairs.openers,
        "matched": pairs.matched,
        "agreeing": pairs.agreeing.astype(np.float64),
    }
    with registered(connection, "counted", counted):
        connection.execute(_NEW_PAIRS.format(number=number, whole=WHOLE, grouped=grouped))


def _insert_names(connection: Any, batch: Batch) -> None:
    """Texts of explanations whose rows disagree, and of the most frequent ones, unless they have a name."""
    size, many = len(batch.digests.high), len(batch.labels.canonical)
    rows = np.bincount(batch.explanation, batch.given, size)
    cells = batch.explanation * many + batch.label
    labelled = np.unique(cells)
    most = np.zeros(size)
    np.maximum.at(most, labelled // many, np.bincount(np.searchsorted(labelled, cells), batch.given))
    frequent = np.argsort(-rows, kind="stable")[: min(_NAMED, np.count_nonzero(rows))]
    odd = rows - most
    contradicted = np.argsort(-odd, kind="stable")[:_NAMED]
    chosen = np.unique(np.concatenate([frequent, contradicted[odd[contradicted] > 0]]))
    columns = {"place": chosen, "high": batch.digests.high[chosen], "low": batch.digests.low[chosen]}
    with registered(connection, "worth", columns):  # most explanations of a day came before
        answer = fetch_table(connection, "SELECT place FROM worth ANTI JOIN names USING (high, low) ORDER BY place")
    new = answer.column("place").to_numpy()
    told = [batch.told(int(place)) for place in new]
    columns = {
        "high": batch.digests.high[new],
        "low": batch.digests.low[new],
        "name": [text[:_LONGEST].encode("utf-8", "replace").decode() for text, _ in told],
        "features": [json.dumps(features) for _, features in told],
    }
    with registered(connection, "telling", columns):
        connection.execute("INSERT INTO names SELECT * FROM telling")
