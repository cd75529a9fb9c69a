"""Rows into the store, in one transaction: counted by day, group, explanation and label, and paired."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from faithscope.discretizers import Original, to_discretizer
from faithscope.errors import BadInput, Incompatible
from faithscope.explanations.base import Explanations, several
from faithscope.explanations.rules import Rules
from faithscope.inputs.array_types import Array, Ints
from faithscope.inputs.labels import refuse_numbers
from faithscope.monitor.canonical import (
    Digests,
    Words,
    canonical,
    canonical_kind,
    explanation_digests,
    feature_names,
    mixed,
)
from faithscope.monitor.moments import to_date, to_days
from faithscope.monitor.pairing import Rows, pair, sides
from faithscope.monitor.scopes import Patterns, Scopes, held_patterns
from faithscope.monitor.store import WHOLE, Store, fetched, insert, registered, settings_of, settle
from faithscope.sample import number_labels
from faithscope.sinks.card import for_json

MOST_PAIRED = 10_000_000  # rows of a batch that take part in pairs
_MOST_GROUPS = 1000
_LONGEST = 300  # characters of a text
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
_ID = re.compile(r"(?i:(?:^|[\W_])(?:id|customer|client|patient))$|[a-z]I[dD]$")
LOOKED = 256  # ids of a batch that are kept, the first in order: whoever is among them once is so again
_ROWS_EACH = 10  # rows of a batch per id beyond which a column names something else, such as who decided
_NAMED_BY = {"n": "numbers", "s": "texts", "t": "dates"}  # clusters, by the first letter of their canonical texts
_ADVICE = {  # what is settled with the first rows, and what to do with rows of another
    "kind": "use one explainer and one discretizer",
    "discretizer": "use one discretizer",
    "features": "pass the same features in the same order",
    "clusters": "pass clusters=, on the command line --cluster, with names of one kind for all batches or for none",
}


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
        return for_json(vars(self))  # type: ignore[no-any-return]

    def lines(self) -> list[str]:
        """What became of it, then its notes."""
        rows = f"{self.rows:,} row{'s' * (self.rows != 1)} added"
        return [f"batch {self.batch}: {rows if self.counted else 'added before, so nothing was counted'}", *self.notes]

    def __str__(self) -> str:
        return "\n".join(self.lines())

    __repr__ = __str__


class Arrived(NamedTuple):
    """Rows that come, or lines that stand for so many of them (`given`), each column with a value per line.

    `groups` are the columns that give groups; `X` has what scopes speak of; `ids` are values of columns that say whose
    a row is, looked at if nobody said which rows belong together.
    """

    explanations: Explanations
    labels: Array
    days: Ints
    groups: Sequence[Array]
    given: Ints
    clusters: Array | None = None
    X: Any = None
    notes: tuple[str, ...] = ()
    ids: Mapping[str, Sequence[Any]] = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class Batch:
    """Rows counted by day, group, explanation and label.

    Attributes
    ----------
    cells : dict of (m,) arrays
        By name: the `place` of the explanation among the `distinct` ones, its digest `high` and `low`, `day`, the
        numbers of group (`grp`) and `label`, the rows (`given`), and 64 bits for the `cluster` if rows belong together.
    names : dict
        Of "labels" and "groups": what tells each apart in every process, and how it is shown, in JSON.
    settled : dict
        What the store settles with its first rows: of `_ADVICE`, and what was said of a log.
    patterns : Patterns or None
        If scopes were fixed beforehand: explanations are then patterns, and these say of what.
    ids : dict of Words
        Some of the ids that rows have, by the name of their column.
    """

    cells: dict[str, Array]
    names: dict[str, dict[str, str]]
    settled: dict[str, Any]
    distinct: Explanations
    patterns: Patterns | None = None
    notes: tuple[str, ...] = ()
    ids: Mapping[str, Words] = field(default_factory=dict)

    @classmethod
    def of(cls, rows: Arrived, discretizer: Any, scopes: Scopes | None) -> "Batch":
        """From rows; with scopes those of the same rule in the same scopes count together, as a pattern."""
        (labels, label), (groups, group) = number_labels(rows.labels), _crossed(rows.groups, len(rows.days))
        if len(groups) > _MOST_GROUPS:
            raise BadInput(f"Groups have {len(groups):,} different values, more than {_MOST_GROUPS:,}: bin them first.")
        with labels_alone():
            if (values := np.array(labels)).dtype.kind in "iuf":
                refuse_numbers(values, np.bincount(label, rows.given), "such as np.digitize(predictions, edges)")
        patterns, notes = None, rows.notes
        if scopes is None:
            place, first = rows.explanations.group()
        else:
            assert isinstance(rows.explanations, Rules)
            patterns, place, first = scopes.patterns(rows.explanations, rows.X)
            outside = ~patterns.inside[np.arange(len(first)), patterns.own]
            if missed := int(rows.given[outside[place]].sum()):
                told = several(missed, "row is not covered by its", "rows are not covered by their")
                notes = (*notes, f"{told} own explanation")
        distinct = rows.explanations.take(first)
        digests = explanation_digests(distinct) if patterns is None else patterns.digests()
        cells = {"place": place, **digests.take(place)._asdict()}
        cells |= {"day": rows.days, "grp": group, "label": label, "given": rows.given}
        kinds = set[str]()
        if rows.clusters is not None:
            clusters, number = number_labels(rows.clusters)
            texts = [*map(canonical, clusters)]
            cells["cluster"] = Digests.of_texts(texts).low[number]
            kinds = {_NAMED_BY.get(text[0], "other values") for text in texts}
        settled = {
            "kind": canonical_kind(distinct),
            "discretizer": repr(discretizer or Original()),
            "features": feature_names(distinct),
            "clusters": " and ".join(sorted(kinds)) or "none",
        }
        names = {
            what: {canonical(value): json.dumps(for_json(value)) for value in values}
            for what, values in (("labels", labels), ("groups", groups))
        }
        ids = {name: first_ids(values, int(rows.given.sum())) for name, values in rows.ids.items()}
        return cls(cells, names, settled, distinct, patterns, tuple(dict.fromkeys((*distinct.notes, *notes))), ids)

    @property
    def filed(self) -> tuple[int, int, int, str]:
        """What is kept of it, whatever counts: its rows, first and last day, and a digest of its content.

        That is of sums of two random words per row, on whatever day, so in any order.
        """
        given, day = self.cells["given"].astype(np.uint64), self.cells["day"]
        rows = int(given.sum())
        sums = np.array([*(self.row_words(word) @ given for word in ("high", "low")), rows], np.uint64)
        content = hashlib.blake2b(sums.tobytes() + self.settled["kind"].encode(), digest_size=12).hexdigest()
        return rows, int(day.min()), int(day.max()), content

    def row_words(self, word: str) -> Words:
        """A random word per cell of a word of its explanation, its label, group and cluster."""
        labels, groups = (Digests.of_texts(self.names[what]).low for what in ("labels", "groups"))
        further = 3 * labels[self.cells["label"]] + 5 * groups[self.cells["grp"]]
        if "cluster" in self.cells:
            further += 7 * self.cells["cluster"]
        return mixed(mixed(self.cells[word]) + further)


def are_ids(name: Any) -> bool:
    """Whether a column of this name says whose a row is.

    Examples
    --------
    >>> [name for name in ("id", "customer_id", "clientId", "paid", "Customer", "age") if are_ids(name)]
    ['id', 'customer_id', 'clientId', 'Customer']
    """
    return isinstance(name, str) and _ID.search(name) is not None


def first_ids(values: Sequence[Any], rows: int) -> Words:
    """The first so many different ids in order, as words; none if they are no texts or whole numbers, or too few."""
    different = set(values)
    alike = any(all(isinstance(value, kind) for value in different) for kind in (str, int))
    kept = sorted(different)[:LOOKED] if alike and len(different) >= min(LOOKED, rows / _ROWS_EACH) else []
    if kept in (list(range(len(kept))), list(range(1, len(kept) + 1))):  # rows that are numbered in each batch
        kept = []
    return Digests.of_texts([*map(canonical, kept)]).low


def _crossed(columns: Sequence[Array], rows: int) -> tuple[tuple[Any, ...], Ints]:
    """The different groups and the number of each row's: of several columns tuples; None alone if there are none."""
    if not columns:
        return (None,), np.zeros(rows, np.int64)
    if len(columns) == 1:
        return number_labels(columns[0])
    crossed = np.empty(rows, object)
    crossed[:] = list(zip(*(column.tolist() for column in columns), strict=True))
    return number_labels(crossed)


@contextmanager
def labels_alone() -> Iterator[None]:
    """The advice that holds for a monitor if predictions are numbers: it compares labels."""
    try:
        yield
    except BadInput as error:
        what, refused, _ = str(error).partition(", and labels agree only if they are equal")
        if not refused:
            raise
        raise BadInput(
            f"{what}, and a monitor compares labels: add the predicted class, or bins, such as "
            "np.digitize(predictions, edges)."
        ) from None


def fixed_discretizer(given: Any, scopes: Scopes | None) -> Any:
    """The discretizer; raises if what it does depends on the rows of a batch, or would make rules no scopes."""
    if scopes is not None and given is not None:
        raise BadInput(f"Scopes are rules as they are, so discretizer={given!r} has no use: leave it away.")
    discretizer: Any = to_discretizer(given)
    if getattr(discretizer, "asks_labels", False) and discretizer._knowing_labels(()) != discretizer:
        raise BadInput(
            f"{discretizer!r} reads the labels of each batch, and a label may be missing on another day: name them, "
            "such as fs.Template(labels=['yes', 'no'])."
        )
    if getattr(discretizer, "learns", False):
        raise BadInput(
            f"{discretizer!r} learns from the rows at hand, so explanations of two days could not be compared: "
            "discretize by something that was fixed beforehand, such as fs.Codebook({...})."
        )
    return discretizer


def add_batch(store: Store, batch: Batch, name: str | None, scopes: Scopes | None) -> Added:
    """Count a batch, unless one with its id was counted before; all of it or, if anything fails, nothing."""
    rows, first, last, content = batch.filed
    asked: tuple[str, list[Any]] = ("id = ?", [name])
    if name is None:  # the same rows of the same days may have been added under a name
        asked = "content = ? AND first_day = ? AND last_day = ?", [content, first, last]
        name = hashlib.blake2b(f"{content} {first} {last}".encode(), digest_size=12).hexdigest()
    with store.transaction(write=True) as connection:
        settings = settings_of(connection, store.name)
        _settle_kind(connection, settings, batch.settled, store.name)
        query = f"SELECT id, rows, content FROM batches WHERE {asked[0]}"
        for known, many, before in connection.execute(query, asked[1]).fetchall():
            if before != content:
                raise BadInput(
                    f"Batch {known!r} was added before with other rows ({many:,} then, {rows:,} now), so nothing was "
                    "counted: give each batch a name of its own."
                )
            return Added(known, rows, False, batch.notes)
        notes = [*batch.notes, *_odd_days(origin(connection), first, last)]
        counted = _insert(connection, name, batch, settings, scopes)
    if "cluster" in batch.cells:
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


def _settle_kind(connection: Any, settings: Mapping[str, Any], told: Mapping[str, Any], where: str) -> None:
    """Keep what explanations and clusters are with the first rows, and refuse others."""
    settle(connection, {name: value for name, value in told.items() if value is not None and name not in settings})
    for name, advice in _ADVICE.items():
        held, given = settings.get(name), told[name]
        if held is not None and given is not None and held != given:
            raise BadInput(
                f"{where!r} was begun with {name} {held}, and these rows have {name} {given}: {advice}, or begin "
                "another state."
            )


def _insert(connection: Any, name: str, batch: Batch, settings: Mapping[str, Any], scopes: Scopes | None) -> int:
    """Everything that a batch adds, which is filed under its name; the number of rows that count."""
    cells = _one_row_each(connection, batch, settings["seed"]) if "cluster" in batch.cells else batch.cells
    cells = numbered(connection, cells, batch.names)
    if batch.patterns is None:
        with registered(connection, "coming", cells):
            places, high, low = fetched(connection, _WORTH_NAMING).values()  # few: most came before
        texts = [batch.distinct.describe(place)[:_LONGEST] for place in places.tolist()]
        texts = [text.encode("utf-8", "replace").decode() for text in texts]
        insert(connection, "texts", {"high": high, "low": low, "name": texts})
    else:
        told = {"own": batch.patterns.own, "inside": batch.patterns.inside.tolist()}
        insert(connection, "patterns", {**batch.patterns.digests()._asdict(), **told}, new_by="high, low")
    return _file(connection, name, batch.filed, cells, batch.ids, settings, scopes)


def numbered(connection: Any, cells: Mapping[str, Array], names: Mapping[str, Mapping[str, str]]) -> dict[str, Array]:
    """Cells with the numbers that labels and groups have in the store, which gives new ones to those it did not know.

    New ones in the order of their texts: an engine's own order differs from run to run, and draws would with it.
    """
    numbers = dict(cells)
    for what, column in (("labels", "label"), ("groups", "grp")):
        known = dict(connection.execute("SELECT canonical, code FROM names WHERE what = ?", [what]).fetchall())
        for text in sorted(names[what].keys() - known.keys()):
            known[text] = len(known)
            connection.execute("INSERT INTO names VALUES (?, ?, ?, ?)", [what, known[text], text, names[what][text]])
        numbers[column] = np.array([known[text] for text in names[what]], np.int64)[cells[column]]
    return numbers


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
    openers, matched = rows.take(~rows.closing), np.repeat([0, 1], [int((~rows.closing).sum()), len(pairs.agreeing)])
    told = {
        "day": np.concatenate([openers.day, pairs.openers.day]),
        "grp": np.concatenate([openers.group, pairs.openers.group]),
        "openers": 1 - matched,
        "matched": matched,
        "agreeing": np.concatenate([np.zeros(len(openers.day), np.int64), pairs.agreeing]),
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
                    held = source.sql(f"SELECT * FROM {table}").to_arrow_table()
                    insert(target, table, held, new_by="high, low")
        contents: dict[str, str] = {}
        for _, turn, number, name, about in sorted(filed):
            if contents.get(name, about[-1]) != about[-1]:
                raise Incompatible(
                    f"Both monitors have a batch {name!r}, of different rows: give batches different names."
                )
            if name not in contents:
                with stores[turn].transaction() as source:
                    cells, held = _held(source, target, number), f"SELECT name, word FROM ids WHERE batch = {number}"
                    column, word = fetched(source, held).values()
                ids = {each: word[column == each] for each in np.unique(column)}
                _file(target, name, about, cells, ids, settings, scopes)
            contents[name] = about[-1]
    return merged


def _held(source: Any, target: Any, number: int) -> dict[str, Array]:
    """The cells of a batch, of clusters that are new to the target, with its numbers of labels and groups."""
    cells = fetched(source, f"SELECT day, grp, high, low, label, given, cluster FROM cells WHERE batch = {number}")
    cluster = cells.pop("cluster")
    if np.ma.count(cluster):
        new = ~np.isin(cluster, fetched(target, "SELECT cluster FROM cells")["cluster"])
        cells = {name: column[new] for name, column in {**cells, "cluster": np.asarray(cluster, np.uint64)}.items()}
    lines = source.execute("SELECT what, code, canonical, shown FROM names").fetchall()
    told, names = {(what, code): shown for what, code, *shown in lines}, dict[str, dict[str, str]]()
    for what, column in (("labels", "label"), ("groups", "grp")):
        used, cells[column] = np.unique(cells[column], return_inverse=True)
        names[what] = dict(told[what, code] for code in used.tolist())
    return numbered(target, cells, names)
