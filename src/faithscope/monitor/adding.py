"""A batch into the store, in one transaction: its cells, its pairs, those that wait, and texts of explanations."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from faithscope.errors import BadInput, Incompatible
from faithscope.explanations.base import several
from faithscope.inputs.array_types import Array, Ints
from faithscope.monitor.batch import Batch, Names
from faithscope.monitor.canonical import Words, mixed
from faithscope.monitor.moments import to_date, to_days
from faithscope.monitor.pairing import Rows, pair, sides
from faithscope.monitor.scopes import RowPatterns, Scopes
from faithscope.monitor.store import WHOLE, Store, fetched, insert, registered, settings_of, settle

_CELLS = """
INSERT INTO cells SELECT {number}, day, grp, high, low, label, sum(given)::BIGINT, {cluster} FROM coming GROUP BY ALL
ORDER BY high, low
"""
# In an order of their own, since that of an engine differs from run to run, and draws with it.
_CAME = """
SELECT day::BIGINT AS day, high, low, label::BIGINT AS label, grp::BIGINT AS grp, sum(given)::BIGINT AS given
FROM cells WHERE batch = {number} GROUP BY ALL ORDER BY ALL
"""
# Explanations that a batch may name: some of those that disagree, and of the most frequent ones.
_WORTH_NAMING = """
SELECT place, high, low FROM (
    SELECT min(place) AS place, high, low, sum(given) AS n, sum(given) - max(given) AS odd
    FROM (SELECT min(place) AS place, high, low, label, sum(given) AS given FROM coming GROUP BY ALL)
    GROUP BY high, low QUALIFY row_number() OVER (ORDER BY n DESC, high, low) <= 200
        OR (odd > 0 AND row_number() OVER (ORDER BY odd DESC, high, low) <= 200)
) ANTI JOIN texts USING (high, low) ORDER BY high, low
"""
_LONGEST = 300  # characters of a text
_PAIRS = """
INSERT INTO pairs SELECT {number}, day, grp, sum(rows)::BIGINT, sum(openers)::BIGINT, sum(matched)::BIGINT,
    sum(agreeing)::BIGINT
FROM (
    SELECT day, {whole} AS grp, given AS rows, 0 AS openers, 0 AS matched, 0 AS agreeing FROM cells
    WHERE batch = {number}
    UNION ALL SELECT day, grp, given, 0, 0, 0 FROM cells WHERE batch = {number} AND {grouped}
    UNION ALL SELECT day, grp, 0, openers, matched, agreeing FROM told
) GROUP BY ALL ORDER BY day, grp
"""
MOST_PAIRED = 10_000_000  # rows of a batch that take part in pairs


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


def add_batch(store: Store, batch: Batch, name: str | None, scopes: Scopes | None) -> Added:
    """Count a batch, unless one with its id was counted before; all of it or, if anything fails, nothing."""
    rows, first, last, content = batch.filed
    asked: tuple[str, list[Any]] = ("id = ?", [name])
    if name is None:  # the same rows of the same days may have been added under a name
        asked = "content = ? AND first_day = ? AND last_day = ?", [content, first, last]
        name = hashlib.blake2b(f"{content} {first} {last}".encode(), digest_size=12).hexdigest()
    with store.transaction(write=True) as connection:
        settings = settings_of(connection, store.name)
        settle_kind(connection, settings, batch, store.name)
        query = f"SELECT id, rows, content FROM batches WHERE {asked[0]}"
        for known, many, before in connection.execute(query, asked[1]).fetchall():
            if before != content:
                raise BadInput(
                    f"Batch {known!r} was added before with other rows ({many:,} then, {rows:,} now), so nothing was "
                    "counted: give each batch a name of its own."
                )
            return Added(known, rows, False, batch.notes)
        notes = [*batch.notes, *_odd_days(origin(connection), first, last)]
        counted = _insert(connection, batch, name, settings, scopes)
    if batch.clusters:
        heard = several(counted, "cluster came", "clusters came")
        notes.append(f"{heard} for the first time, and each of them counts by one row")
    return Added(name, rows, True, tuple(notes))


def origin(connection: Any) -> int | None:
    """The first day of the first batch, from which the reference and all windows are counted; None without rows."""
    days = connection.execute("SELECT first_day FROM batches ORDER BY number LIMIT 1").fetchall()
    return days[0][0] if days else None


def _odd_days(begun: int | None, first: int, last: int) -> Iterator[str]:
    """Notes of days that a clock may have got wrong: before all that came so far, or in the future."""
    if begun is not None and first < begun:
        yield (
            f"rows of {to_date(first)} are older than the first batch, which began on {to_date(begun)}: they count for "
            "limits, but neither for the reference nor for alarms"
        )
    if last > int(to_days(None, 1)[0]) + 1:
        yield f"rows of {to_date(last)} lie in the future: is that the right clock?"


_CLUSTERS = {"n": "numbers", "s": "texts", "t": "dates"}  # by the first letter of their canonical texts
_ADVICE = {
    "kind": "use one explainer and one discretizer",
    "discretizer": "use one discretizer",
    "features": "pass the same features in the same order",
    "clusters": "pass clusters=, on the command line --cluster, with names of one kind for all batches or for none",
}


def settle_kind(connection: Any, settings: Mapping[str, Any], batch: Batch, where: str) -> None:
    """Keep what explanations and clusters are with the first rows, and refuse others."""
    told = {
        "kind": batch.kind,
        "discretizer": batch.discretizer,
        "features": None if batch.features is None else list(batch.features),
        "clusters": batch.clusters,
        "log": batch.options or None,
    }
    settle(connection, {name: value for name, value in told.items() if value is not None and name not in settings})
    for name, advice in _ADVICE.items():
        held, given = settings.get(name), told[name]
        if held is None or given is None or held == given:
            continue
        if name == "clusters":
            if held and given and set(given) <= set(held):
                continue
            held, given = (
                " and ".join(_CLUSTERS.get(kind, "other values") for kind in kinds) or "none" for kinds in (held, given)
            )
        raise BadInput(
            f"{where!r} was begun with {name} {held}, and these rows have {name} {given}: {advice}, or begin another "
            "state."
        )


def _insert(connection: Any, batch: Batch, name: str, settings: Mapping[str, Any], scopes: Scopes | None) -> int:
    """Everything that a batch adds, which is filed under its name; the number of rows that count."""
    labels, groups = (codes(connection, what, getattr(batch, what)) for what in ("labels", "groups"))
    cells = _one_row_each(connection, batch, settings["seed"]) if batch.clusters else batch.cells
    cells = {**cells, "label": labels[cells["label"]], "grp": groups[cells["grp"]]}
    if batch.patterns is None:
        with registered(connection, "coming", cells):
            places, high, low = fetched(connection, _WORTH_NAMING).values()  # few: most came before
        told = [batch.told(place) for place in places.tolist()]
        texts = [text[:_LONGEST].encode("utf-8", "replace").decode() for text, _ in told]
        features = [json.dumps(named) for _, named in told]
        insert(connection, "texts", {"high": high, "low": low, "name": texts, "features": features})
    else:
        known = {"own": batch.patterns.own, "inside": batch.patterns.texts}
        with registered(connection, "coming", {**batch.patterns.digests()._asdict(), **known}):
            connection.execute("INSERT INTO patterns SELECT * FROM coming ANTI JOIN patterns USING (high, low)")
    return _file(connection, name, batch.filed, cells, batch.ids, settings, scopes)


def _file(
    connection: Any,
    name: str,
    filed: tuple[Any, ...],
    cells: Mapping[str, Array],
    ids: Mapping[str, Words],
    settings: Mapping[str, Any],
    scopes: Scopes | None,
) -> int:
    """The cells of a batch and its pairs, filed under its name; the number of rows that count."""
    ((number,),) = connection.execute("SELECT coalesce(max(number), 0) + 1 FROM batches").fetchall()
    connection.execute("INSERT INTO batches VALUES (?, ?, ?, ?, ?, ?)", [number, name, *filed])
    for column, words in ids.items():
        insert(connection, "ids", {"name": [column] * len(words), "word": words, "batch": [number] * len(words)})
    with registered(connection, "coming", cells):
        connection.execute(_CELLS.format(number=number, cluster="cluster" if "cluster" in cells else "NULL"))
    # Randomness of the monitor's seed and the batch alone, so that a batch added again draws the same.
    drawn = hashlib.blake2b(f"{settings['seed']} {name}".encode(), digest_size=16).digest()
    rng = np.random.default_rng(int.from_bytes(drawn, "little"))
    return _pair(connection, number, rng, scopes, grouped=bool(settings["by"]))


def codes(connection: Any, what: str, names: Names) -> Ints:
    """The numbers that labels or groups have in the store, new ones for those it did not know.

    New ones in the order of their texts: an engine's own order differs from run to run, and draws would with it.
    """
    query = "SELECT canonical, code FROM names WHERE what = ?"
    known = dict(connection.execute(query, [what]).fetchall())
    for text, shown in sorted(zip(names.canonical, names.shown, strict=True)):
        if text not in known:
            known[text] = len(known)
            connection.execute("INSERT INTO names VALUES (?, ?, ?, ?)", [what, known[text], text, shown])
    return np.array([known[text] for text in names.canonical], np.int64)


def _one_row_each(connection: Any, batch: Batch, seed: int) -> dict[str, Array]:
    """Of each cluster that never came before a row of its first day here, as a cell of its own.

    Which one depends on the monitor's seed and on the name of the cluster, neither on the order of rows nor on what
    they hold: each of these rows has the same chance.
    """
    words, days = batch.cells["cluster"], batch.cells["day"]
    with registered(connection, "coming", {"place": np.arange(len(words)), "cluster": words}):
        new = fetched(connection, "SELECT place FROM coming ANTI JOIN cells USING (cluster)")["place"]
    order = new[np.lexsort((batch.row_words("high")[new], days[new], words[new]))]
    word, first, number = np.unique(words[order], return_index=True, return_inverse=True)
    rows = np.where(days[order] == days[order][first][number], batch.cells["given"][order], 0)
    until = np.cumsum(rows)
    chance = (mixed(word ^ mixed(np.array([seed % 2**64], np.uint64))) >> np.uint64(11)) * 2.0**-53
    drawn = (until - rows)[first] + (chance * np.bincount(number, rows, len(word))).astype(np.int64)
    chosen = order[np.searchsorted(until, drawn, side="right")]
    cells = {name: column[chosen] for name, column in batch.cells.items()}
    return {**cells, "given": np.ones(len(chosen), np.int64)}


def held_patterns(connection: Any, scopes: Scopes, high: Words, low: Words) -> RowPatterns:
    """Of what patterns with these digests are."""
    query = "SELECT own, inside FROM wanted JOIN patterns USING (high, low) ORDER BY place"
    with registered(connection, "wanted", {"place": np.arange(len(high)), "high": high, "low": low}):
        told = fetched(connection, query)
    return RowPatterns.read(told["own"], told["inside"].tolist(), len(scopes))


def _pair(connection: Any, number: int, rng: np.random.Generator, scopes: Scopes | None, *, grouped: bool) -> int:
    """Pair the rows of a batch, and those that wait, once as a whole and once more within their groups; its rows.

    A pair of the whole may be of two groups, and groups change nothing of the whole. With scopes a row opens a pair of
    its own scope, or closes one of a scope that is drawn for it.
    """
    came = fetched(connection, _CAME.format(number=number))
    given, high, low = came["given"], came["high"], came["low"]
    n = int(given.sum())
    if n > MOST_PAIRED:
        given = rng.binomial(given, MOST_PAIRED / n)
    if scopes is None:
        cell, closing, _ = sides(given, rng)
        high, low = high[cell], low[cell]
    else:
        patterns = held_patterns(connection, scopes, high, low)
        cell, closing, scope = sides(given, rng, scopes.serves(patterns))
        high = np.where(closing, scope, patterns.own[cell]).astype(np.uint64)
        low = np.zeros_like(high)
    rows = Rows(np.full(len(cell), WHOLE), high, low, came["label"][cell], came["day"][cell], closing)
    if grouped:
        rows = Rows.joined([rows, rows._replace(group=came["grp"][cell])])
    with registered(connection, "arriving", {"grp": rows.group, "high": rows.high, "low": rows.low}):
        waiting = fetched(connection, "SELECT * FROM waiting SEMI JOIN arriving USING (grp, high, low) ORDER BY ALL")
        connection.execute("DELETE FROM waiting WHERE (grp, high, low) IN (SELECT (grp, high, low) FROM arriving)")
    pairs = pair(rows, Rows(*waiting.values()), rng)
    insert(connection, "waiting", pairs.waiting._asdict())
    openers, agreeing = rows.take(~rows.closing), pairs.agreeing.astype(np.int64)
    zeros, ones = np.zeros(len(openers.day), np.int64), np.ones_like(agreeing)
    told = {
        "day": np.concatenate([openers.day, pairs.openers.day]),
        "grp": np.concatenate([openers.group, pairs.openers.group]),
        "openers": np.concatenate([zeros + 1, 0 * ones]),
        "matched": np.concatenate([zeros, ones]),
        "agreeing": np.concatenate([zeros, agreeing]),
    }
    with registered(connection, "told", told):
        connection.execute(_PAIRS.format(number=number, whole=WHOLE, grouped=grouped))
    return n


def replayed(stores: tuple[Store, Store], scopes: Scopes | None) -> Store:
    """A store in memory to which the batches of both were added, in the order of their days; one of both counts once.

    It holds what a monitor holds to which all of them were added.
    """
    one, other = (store.settings() for store in stores)
    for name in ("by", "scopes", "reference", *_ADVICE):
        unsaid = name in _ADVICE and not {"kind"} <= one.keys() & other.keys()
        if one.get(name) != other.get(name) and not unsaid:
            raise Incompatible(f"These monitors have different {name}: merge monitors of the same {name}.")
    settings = {**other, **one}
    merged, filed = Store(None, settings), list[tuple[Any, ...]]()
    with merged.transaction(write=True) as target:
        for turn, store in enumerate(stores):
            with store.transaction() as source:
                lines = source.execute("SELECT first_day, number, id, rows, last_day, content FROM batches").fetchall()
                filed += [(first, turn, number, name, (n, first, *about)) for first, number, name, n, *about in lines]
                for table in ("texts", "patterns"):
                    with registered(target, "coming", source.sql(f"SELECT * FROM {table}").to_arrow_table()):
                        target.execute(f"INSERT INTO {table} SELECT * FROM coming ANTI JOIN {table} USING (high, low)")
        contents: dict[str, str] = {}
        for _, turn, number, name, about in sorted(filed):
            if contents.get(name, about[-1]) != about[-1]:
                raise Incompatible(
                    f"Both monitors have a batch {name!r}, of different rows: give batches different names."
                )
            if name not in contents:
                with stores[turn].transaction() as source:
                    cells, ids = _held(source, target, number)
                _file(target, name, about, cells, ids, settings, scopes)
            contents[name] = about[-1]
    return merged


def _held(source: Any, target: Any, number: int) -> tuple[dict[str, Array], dict[str, Words]]:
    """The cells of a batch, of clusters that are new to the target, with its numbers of labels and groups; and ids."""
    cells = fetched(source, f"SELECT day, grp, high, low, label, given, cluster FROM cells WHERE batch = {number}")
    cluster = cells.pop("cluster")
    if np.ma.count(cluster):
        known = fetched(target, "SELECT cluster FROM cells")["cluster"]
        new = ~np.isin(cluster, known)
        cells = {name: column[new] for name, column in {**cells, "cluster": np.asarray(cluster, np.uint64)}.items()}
    lines = source.execute("SELECT what, code, canonical, shown FROM names").fetchall()
    names = {(what, code): told for what, code, *told in lines}
    for what, column in (("labels", "label"), ("groups", "grp")):
        used, place = np.unique(cells[column], return_inverse=True)
        told = [names[what, code] for code in used.tolist()]
        cells[column] = codes(target, what, Names(*([line[j] for line in told] for j in (0, 1))))[place]
    ids = fetched(source, f"SELECT name, word FROM ids WHERE batch = {number}")
    return cells, {name: ids["word"][ids["name"] == name] for name in dict.fromkeys(ids["name"].tolist())}
