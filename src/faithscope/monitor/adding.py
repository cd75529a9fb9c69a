"""A batch into the store, in one transaction: its cells, its pairs, those that wait, and names of explanations."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from faithscope.errors import BadInput
from faithscope.explanations.base import several
from faithscope.monitor.batch import Batch, Names
from faithscope.monitor.beside import insert_beside
from faithscope.monitor.clusters import insert_ids, one_row_each, settle_clusters
from faithscope.monitor.moments import to_date, to_days
from faithscope.monitor.origin import origin
from faithscope.monitor.pairing import Cells, Pairs, pair
from faithscope.monitor.queries import fetch_lines, fetch_table, fetch_value, registered, setting, settle
from faithscope.monitor.queries import insert as insert_columns
from faithscope.monitor.schema import WHOLE
from faithscope.monitor.scopes import assign, held_openers, held_scopes, replace_openers
from faithscope.monitor.store import Store

_OPEN_CELLS = """
INSERT INTO cells SELECT {batch}, 0, day, grp, high, low, label, sum(given)::BIGINT FROM arriving GROUP BY ALL
ORDER BY high, low
"""
# Those who wait, as `Cells`; of explanations, only those that arrive.
_WAITING = """
SELECT high, low, label::BIGINT AS labels, day::BIGINT AS days, sum(rows)::BIGINT AS counts, grp::BIGINT AS groups,
    coalesce(sum(rows) FILTER (NOT closing), 0)::BIGINT AS opening
FROM waiting {among} GROUP BY ALL HAVING sum(rows) <> 0
"""
_AMONG = "SEMI JOIN arriving USING (high, low)"
# Explanations that a batch may name: 500 of those that disagree, and of the most frequent ones.
_WORTH_NAMING = """
SELECT place, high, low FROM (
    SELECT min(place) AS place, high, low, sum(given) AS n, sum(given) - max(given) AS odd
    FROM (SELECT min(place) AS place, high, low, label, sum(given) AS given FROM arriving GROUP BY ALL)
    GROUP BY high, low QUALIFY row_number() OVER (ORDER BY n DESC, high, low) <= 500
        OR (odd > 0 AND row_number() OVER (ORDER BY odd DESC, high, low) <= 500)
) ANTI JOIN names USING (high, low) ORDER BY high, low
"""
_LONGEST = 300  # characters of a name
_CHANGED = """
INSERT INTO waiting SELECT groups::INTEGER, high, low, labels::INTEGER, days::INTEGER, closing, sum(rows)::BIGINT FROM (
    SELECT *, false AS closing, opening AS rows FROM after UNION ALL SELECT *, true, counts - opening FROM after
    UNION ALL SELECT *, false, -opening FROM before UNION ALL SELECT *, true, opening - counts FROM before
) GROUP BY ALL HAVING sum(rows) <> 0 ORDER BY high, low
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
            known, rows, content = held[0]
            if batch.content() != content:
                raise BadInput(
                    f"Batch {known!r} was added before with other rows ({rows:,} then, {batch.rows:,} now), so nothing "
                    "was counted: give each batch a name of its own."
                )
            return Added(known, batch.rows, False, batch.notes)
        name = str(asked[0])
        notes = (*batch.notes, *_odd_days(connection, batch))
        counted, told = insert(connection, batch, name, batch.filed)
    once = f"{several(counted, 'cluster came', 'clusters came')} for the first time, and each of them counts by one row"
    return Added(name, batch.rows, True, (*notes, *(() if batch.clusters is None else (once,)), *told))


def _odd_days(connection: Any, batch: Batch) -> Iterator[str]:
    """Notes of days that a clock may have got wrong: before all that came so far, or in the future."""
    first = origin(connection)
    start, end, today = int(batch.day.min()), int(batch.day.max()), int(to_days(None, 1)[0])
    if first is not None and start < first:
        yield (
            f"rows of {to_date(start)} are older than the first batch, which began on {to_date(first)}: they count for "
            "limits, but neither for the reference nor for alarms"
        )
    if end > today + 1:
        yield f"rows of {to_date(end)} lie in the future: is that the right clock?"


def settle_kind(connection: Any, batch: Batch, where: str) -> None:
    """Keep what explanations and clusters are with the first rows, and refuse others."""
    settle_clusters(connection, batch, where)
    told = {"kind": batch.kind, "discretizer": batch.discretizer, "log": json.dumps(batch.options)}
    told |= {} if batch.features is None else {"features": json.dumps(batch.features)}
    held = {name: setting(connection, name) for name in told}
    for name, value in told.items():
        if held[name] is None and value != "{}":
            settle(connection, name, value)
    kind, discretizer = held["kind"] or batch.kind, held["discretizer"] or batch.discretizer
    if kind != batch.kind:
        raise BadInput(
            f"The explanations in {where!r} are {kind}, these are {batch.kind}, so no two can be equal: use one "
            "explainer and one discretizer, or begin another state."
        )
    if discretizer != batch.discretizer:
        raise BadInput(
            f"The explanations in {where!r} were discretized by {discretizer}, these by {batch.discretizer}: use one "
            "discretizer, or begin another state."
        )
    features = batch.features or ()  # of one kind, so as many
    known = json.loads(held.get("features") or "null") or features
    for place, (old, new) in enumerate(zip(known, features, strict=True)):
        if old != new:
            raise BadInput(
                f"Feature {place} is called {old!r} in {where!r} and {new!r} here: pass the same features in the same "
                "order."
            )


def insert(connection: Any, batch: Batch, name: str, filed: tuple[Any, ...]) -> tuple[int, tuple[str, ...]]:
    """Everything that a batch adds, which is filed under its name; the number of rows that count, and notes."""
    number = fetch_value(connection, "SELECT coalesce(max(number), 0) + 1 FROM batches")
    labels, groups = (codes(connection, table, getattr(batch, table)) for table in ("labels", "groups"))
    batch = batch if batch.clusters is None else one_row_each(connection, batch)
    cells = {
        "place": batch.explanation,
        "day": batch.day.astype(np.int32),
        "grp": groups[batch.group],
        "high": batch.digests.high[batch.explanation],
        "low": batch.digests.low[batch.explanation],
        "label": labels[batch.label],
        "given": batch.given,
    }
    connection.execute("INSERT INTO batches VALUES (?, ?, ?, ?, ?, now(), ?)", [number, name, *filed])
    if batch.clusters is not None:
        query = f"INSERT INTO clusters SELECT word, {number}, day, grp, high, low, label FROM telling ORDER BY word"
        insert_columns(connection, query, {"word": batch.clusters.words, **cells})
    insert_ids(connection, number, batch)
    if not batch.rows:
        return 0, ()
    scoped, grouped = batch.patterns is not None, setting(connection, "by") != "[]"
    with registered(connection, "arriving", cells):
        connection.execute(_OPEN_CELLS.format(batch=number))
        waiting = fetch_table(connection, _WAITING.format(among="" if scoped else _AMONG))
        before = Cells(*(column.to_numpy() for column in waiting.columns))
        # Randomness of the monitor's seed and the batch alone, so that a batch added again draws the same.
        seeded = f"{setting(connection, 'seed')} {name}".encode("utf-8", "surrogatepass")
        words = hashlib.blake2b(seeded, digest_size=16).digest()
        rng = np.random.Generator(np.random.PCG64(int.from_bytes(words, "little")))
        pairs = _paired(connection, batch, cells, before, rng, grouped=grouped)
        with registered(connection, "before", vars(before)), registered(connection, "after", vars(pairs.waiting)):
            connection.execute(_CHANGED)
        _insert_pairs(connection, number, pairs, grouped=grouped)
        if batch.patterns is None:
            _insert_names(connection, batch)
        else:
            told = batch.patterns
            columns = {**batch.digests._asdict(), "own": told.own.astype(np.int32), "inside": told.texts}
            query = "INSERT INTO patterns SELECT * FROM telling ANTI JOIN patterns USING (high, low)"
            insert_columns(connection, query, columns)
    return batch.rows, insert_beside(connection, cells)


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


_NEW_PAIRS = """
INSERT INTO pairs SELECT {number}, day, grp, sum(rows)::BIGINT, sum(openers)::BIGINT, sum(matched)::BIGINT,
sum(agreeing) FROM (
    SELECT days::INTEGER AS day, groups::INTEGER AS grp, 0 AS rows, openers, matched, agreeing FROM telling
    UNION ALL SELECT day, {whole}, given, 0, 0, 0 FROM arriving
    UNION ALL SELECT day, grp, given, 0, 0, 0 FROM arriving WHERE {grouped}
) GROUP BY ALL ORDER BY day, grp
"""


def _insert_pairs(connection: Any, number: int, pairs: Pairs, *, grouped: bool) -> None:
    """Rows by the day on which they came, pairs by the day of their opener."""
    counted = {name: column for name, column in vars(pairs).items() if name != "waiting"}
    insert_columns(connection, _NEW_PAIRS.format(number=number, whole=WHOLE, grouped=grouped), counted)


def _insert_names(connection: Any, batch: Batch) -> None:
    """Texts of explanations whose rows disagree, and of the most frequent ones, unless they have a name."""
    new = fetch_table(connection, _WORTH_NAMING)  # few: most explanations of a day came before
    told = [batch.told(place) for place in new.column("place").to_pylist()]
    texts = [text[:_LONGEST].encode("utf-8", "replace").decode() for text, _ in told]
    columns = {"name": texts, "features": [json.dumps(features) for _, features in told]}
    columns |= {name: new.column(name) for name in ("high", "low")}
    insert_columns(connection, "INSERT INTO names SELECT high, low, name, features FROM telling", columns)
