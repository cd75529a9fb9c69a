"""Rows into the store, in one transaction: counted by day, group, explanation and label, and paired."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from faithscope.card import for_json
from faithscope.discretizers import Original, to_discretizer
from faithscope.errors import BadInput, Incompatible
from faithscope.explanations.base import Explanations
from faithscope.inputs.array_types import Array, Ints
from faithscope.inputs.labels import refuse_numbers
from faithscope.inputs.seeds import mixed
from faithscope.monitor.canonical import (
    Digests,
    Words,
    canonical,
    described,
    explanation_digests,
)
from faithscope.monitor.moments import to_date, to_days
from faithscope.monitor.pairing import Rows, pair, sides
from faithscope.monitor.store import WHOLE, Store, fetched, insert, registered, settings_of, settle
from faithscope.sample import number_labels
from faithscope.visible import visible
from faithscope.words import several

MOST_PAIRED = 10_000_000  # rows of a batch that take part in pairs
_MOST_GROUPS = 1000
_CELLS = """
INSERT INTO cells SELECT {number}, day, grp, high, low, label, sum(given)::BIGINT, {cluster} FROM coming GROUP BY ALL
ORDER BY high, low
"""
# In an order of their own, since that of an engine differs from run to run, and draws with it.
_CAME = """
SELECT day::BIGINT AS day, high, low, label::BIGINT AS label, grp::BIGINT AS grp, sum(given)::BIGINT AS given
FROM cells WHERE batch = {number} GROUP BY ALL ORDER BY ALL
"""
# New names in the order of their texts: an engine's own order differs from run to run, and draws would with it.
_NUMBERED = """
INSERT INTO names SELECT '{what}', (SELECT count(*) FROM names WHERE what = '{what}') - 1
    + row_number() OVER (ORDER BY canonical), canonical, any_value(shown)
FROM coming ANTI JOIN (SELECT * FROM names WHERE what = '{what}') USING (canonical) GROUP BY canonical
"""
_CODES = "SELECT code FROM coming JOIN names USING (canonical) WHERE what = '{what}' ORDER BY place"
_HELD = """
SELECT code, canonical, shown FROM names WHERE what = '{what}'
    AND code IN (SELECT {column} FROM cells WHERE batch = {number}) ORDER BY code
"""
_NAMED = (("labels", "label"), ("groups", "grp"))  # what has names, and the column of cells with their numbers
_PAIRS = """
INSERT INTO pairs SELECT {number}, day, grp, sum(rows)::BIGINT, sum(openers)::BIGINT, sum(matched)::BIGINT,
    sum(agreeing)::BIGINT
FROM (
    SELECT day, {whole} AS grp, given AS rows, 0 AS openers, 0 AS matched, 0 AS agreeing FROM cells
    WHERE batch = {number}
    UNION ALL SELECT day, grp, given, 0, 0, 0 FROM cells WHERE batch = {number} AND {grouped}
    UNION ALL SELECT day, "group", 0, 1, 0, 0 FROM opening
    UNION ALL SELECT day, "group", 0, 0, 1, agreeing FROM matching
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

    def __str__(self) -> str:
        rows = f"{self.rows:,} row{'s' * (self.rows != 1)} added"
        told = f"batch {self.batch}: {rows if self.counted else 'added before, so nothing was counted'}"
        return "\n".join(map(visible, (told, *self.notes)))

    __repr__ = __str__


@dataclass(frozen=True, eq=False)
class Batch:
    """Rows counted by day, group, explanation and label.

    Attributes
    ----------
    cells : dict of (m,) arrays
        By name: the digest of the explanation, `high` and `low`, the `day`, the numbers of group (`grp`) and `label`,
        the rows (`given`), and 64 bits for the `cluster` if rows belong together.
    names : dict
        Of "labels" and "groups": what tells each apart in every process (`canonical`), and how it is `shown`, in JSON.
    settled : dict
        What the store settles with its first rows: of `_ADVICE`, and what was said of a log.
    ids : dict of Words
        Some of the ids that rows have, by the name of their column.
    """

    cells: dict[str, Array]
    names: dict[str, dict[str, Any]]
    settled: dict[str, Any]
    ids: Mapping[str, Words]
    notes: tuple[str, ...]

    @classmethod
    def of(
        cls,
        explanations: Explanations,
        labels: Array,
        days: Ints,
        groups: Array | None,
        given: Ints,
        *,
        discretizer: Any,
        clusters: Array | None,
        ids: Mapping[str, Sequence[Any]],
        notes: Sequence[str],
    ) -> "Batch":
        """From rows, or lines that stand for so many of them (`given`), each column with a value per line.

        `ids` are values of columns that say whose a row is, looked at if nobody said which rows belong together.
        """
        values, label = number_labels(labels)
        members, group = ((None,), np.zeros_like(days)) if groups is None else number_labels(groups)
        if len(members) > _MOST_GROUPS:
            raise BadInput(
                f"Groups have {len(members):,} different values, more than {_MOST_GROUPS:,}: bin them first."
            )
        if (numbers := np.array(values)).dtype.kind in "iuf":
            refuse_numbers(numbers, np.bincount(label, given), "such as np.digitize(predictions, edges)")
        codes, first = explanations.group()
        distinct = explanations.take(first)
        cells = explanation_digests(distinct).take(codes)._asdict()
        cells |= {"day": days, "grp": group, "label": label, "given": given}
        kinds = set[str]()
        if clusters is not None:
            named, number = number_labels(clusters)
            whose = [*map(canonical, named)]
            cells["cluster"] = Digests.of_texts(whose).low[number]
            kinds = {_NAMED_BY.get(text[0], "other values") for text in whose}
        settled = {
            **described(distinct),
            "discretizer": repr(discretizer or Original()),
            "clusters": " and ".join(sorted(kinds)) or "none",
        }
        texts = {"labels": values, "groups": tuple(map(for_json, members))}
        names = {
            what: {"canonical": [*map(canonical, each)], "shown": [json.dumps(for_json(value)) for value in each]}
            for what, each in texts.items()
        }
        kept = {name: first_ids(each, int(given.sum())) for name, each in ids.items()}
        return cls(cells, names, settled, kept, tuple(dict.fromkeys((*explanations.notes, *notes))))

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
        labels, groups = (Digests.of_texts(self.names[what]["canonical"]).low for what in ("labels", "groups"))
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


def fixed_discretizer(given: Any) -> Any:
    """The discretizer; raises if what it does depends on the rows of a batch."""
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


def add_batch(store: Store, batch: Batch, name: str | None) -> Added:
    """Count a batch, unless one with its id was counted before; all of it or, if anything fails, nothing."""
    rows, first, last, content = batch.filed
    asked: tuple[str, list[Any]] = ("id = ?", [name])
    if name is None:  # the same rows of the same days may have been added under a name
        asked = "content = ? AND first_day = ? AND last_day = ?", [content, first, last]
        name = hashlib.blake2b(f"{content} {first} {last}".encode(), digest_size=12).hexdigest()
    with store.transaction(write=True) as connection:
        settings = settings_of(connection, store.name)
        said = {what: value for what, value in batch.settled.items() if value is not None}
        settle(connection, {what: value for what, value in said.items() if what not in settings})
        for what, value in said.items():
            if what in _ADVICE and settings.get(what, value) != value:
                raise BadInput(
                    f"{store.name!r} was begun with {what} {settings[what]}, and these rows have {what} {value}: "
                    f"{_ADVICE[what]}, or begin another state."
                )
        query = f"SELECT id, rows, content FROM batches WHERE {asked[0]}"
        for known, many, before in connection.execute(query, asked[1]).fetchall():
            if before != content:
                raise BadInput(
                    f"Batch {known!r} was added before with other rows ({many:,} then, {rows:,} now), so nothing was "
                    "counted: give each batch a name of its own."
                )
            return Added(known, rows, False, batch.notes)
        notes, begun = list(batch.notes), origin(connection)
        if begun is not None and first < begun:
            notes.append(
                f"rows of {to_date(first)} are older than the first batch, which began on {to_date(begun)}: they count "
                "for limits, but neither for the reference nor for alarms"
            )
        if last > int(to_days(None, 1)[0]) + 1:
            notes.append(f"rows of {to_date(last)} lie in the future: is that the right clock?")
        if "cluster" in batch.cells:
            batch = replace(batch, cells=_one_row_each(connection, batch, settings["seed"]))
        counted = _insert(connection, name, (rows, first, last, content), batch, settings)
    if "cluster" in batch.cells:
        heard = several(counted, "cluster came", "clusters came")
        notes.append(f"{heard} for the first time, and each of them counts by one row")
    return Added(name, rows, True, tuple(notes))


def origin(connection: Any) -> int | None:
    """The first day of the first batch, from which the reference and all windows are counted; None without rows."""
    days = connection.execute("SELECT first_day FROM batches ORDER BY number LIMIT 1").fetchall()
    return days[0][0] if days else None


def _insert(connection: Any, name: str, filed: tuple[Any, ...], batch: Batch, settings: Mapping[str, Any]) -> int:
    """The cells of a batch and its pairs, filed under its name; the number of rows that count.

    Labels and groups have the numbers of the store, which gives new ones to those it did not know.
    """
    cells = dict(batch.cells)
    for what, column in _NAMED:
        names = batch.names[what]
        with registered(connection, "coming", {**names, "place": range(len(names["shown"]))}):
            connection.execute(_NUMBERED.format(what=what))
            codes = fetched(connection, _CODES.format(what=what))["code"]
        cells[column] = codes.astype(np.int64)[cells[column]]
    ((number,),) = connection.execute("SELECT coalesce(max(number), 0) + 1 FROM batches").fetchall()
    connection.execute("INSERT INTO batches VALUES (?, ?, ?, ?, ?, ?)", [number, name, *filed])
    for column, words in batch.ids.items():
        insert(connection, "ids", {"name": [column] * len(words), "word": words, "batch": [number] * len(words)})
    with registered(connection, "coming", cells):
        connection.execute(_CELLS.format(number=number, cluster="cluster" if "cluster" in cells else "NULL"))
    # Randomness of the monitor's seed and the batch alone, so that a batch added again draws the same.
    drawn = hashlib.blake2b(f"{settings['seed']} {name}".encode(), digest_size=16).digest()
    rng = np.random.default_rng(int.from_bytes(drawn, "little"))
    return _pair(connection, number, rng, grouped=bool(settings["by"]))


def _one_row_each(connection: Any, batch: Batch, seed: int) -> dict[str, Array]:
    """Of each cluster that never came before a row of its first day here, as a cell of its own.

    Which one depends on the monitor's seed and on the name of the cluster, neither on the order of rows nor on what
    they hold: each of these rows has the same chance.
    """
    words, days = batch.cells["cluster"], batch.cells["day"]
    with registered(connection, "coming", {"place": np.arange(len(words)), "cluster": words}):
        new = fetched(connection, "SELECT place FROM coming ANTI JOIN cells USING (cluster)")["place"]
    rows = np.repeat(new, batch.cells["given"][new])
    rows = rows[np.lexsort((batch.row_words("high")[rows], days[rows], words[rows]))]
    word, first, number = np.unique(words[rows], return_index=True, return_inverse=True)
    many = np.bincount(number[days[rows] == days[rows[first]][number]], minlength=len(word))
    chance = (mixed(word ^ mixed(np.array([seed % 2**64], np.uint64))) >> np.uint64(11)) * 2.0**-53
    chosen = rows[first + (chance * many).astype(np.int64)]
    cells = {name: column[chosen] for name, column in batch.cells.items()}
    return {**cells, "given": np.ones(len(chosen), np.int64)}


def _pair(connection: Any, number: int, rng: np.random.Generator, *, grouped: bool) -> int:
    """Pair the rows of a batch, and those that wait, once as a whole and once more within their groups; its rows.

    A pair of the whole may be of two groups, and groups change nothing of the whole.
    """
    came = fetched(connection, _CAME.format(number=number))
    given, n = came["given"], int(came["given"].sum())
    if n > MOST_PAIRED:
        given = rng.binomial(given, MOST_PAIRED / n)
    cell, closing = sides(given, rng)
    high, low, label, day, group = (came[name][cell] for name in ("high", "low", "label", "day", "grp"))
    rows = Rows(np.full(len(cell), WHOLE), high, low, label, day, closing)
    if grouped:
        rows = Rows.joined([rows, rows._replace(group=group)])
    with registered(connection, "arriving", {"grp": rows.group, "high": rows.high, "low": rows.low}):
        waiting = fetched(connection, "SELECT * FROM waiting SEMI JOIN arriving USING (grp, high, low) ORDER BY ALL")
        connection.execute("DELETE FROM waiting WHERE (grp, high, low) IN (SELECT (grp, high, low) FROM arriving)")
    pairs = pair(rows, Rows(*waiting.values()), rng)
    insert(connection, "waiting", pairs.waiting._asdict())
    matching = {**pairs.openers._asdict(), "agreeing": pairs.agreeing}
    opening = rows.take(~rows.closing)._asdict()
    with registered(connection, "opening", opening), registered(connection, "matching", matching):
        connection.execute(_PAIRS.format(number=number, whole=WHOLE, grouped=grouped))
    return n


def replayed(stores: tuple[Store, Store]) -> Store:
    """A store in memory to which the batches of both were added, by day, number and name; one of both counts once.

    It holds what a monitor holds to which all of them were added.
    """
    one, other = (store.settings() for store in stores)
    for name in ("by", "reference", *_ADVICE):
        unsaid = name in _ADVICE and not {"kind"} <= one.keys() & other.keys()
        if one.get(name) != other.get(name) and not unsaid:
            raise Incompatible(f"These monitors have different {name}: merge monitors of the same {name}.")
    settings = {**other, **one}
    merged, filed = Store(None, settings), list[tuple[Any, ...]]()
    with merged.transaction(write=True) as target:
        for turn, store in enumerate(stores):
            columns = f"first_day, number, id, {turn}, rows, first_day, last_day, content"
            with store.transaction() as source:
                filed += source.execute(f"SELECT {columns} FROM batches").fetchall()
        contents: dict[str, str] = {}
        for _, number, name, turn, *about in sorted(filed):
            if contents.get(name, about[-1]) != about[-1]:
                raise Incompatible(
                    f"Both monitors have a batch {name!r}, of different rows: give batches different names."
                )
            if name not in contents:
                with stores[turn].transaction() as source:
                    batch = _held(source, target, number)
                _insert(target, name, tuple(about), batch, settings)
            contents[name] = about[-1]
    return merged


def _held(source: Any, target: Any, number: int) -> Batch:
    """What is held of a batch, with the cells of clusters that are new to the target."""
    cells = fetched(source, f"SELECT day, grp, high, low, label, given, cluster FROM cells WHERE batch = {number}")
    cluster = cells.pop("cluster")
    if np.ma.count(cluster):
        new = ~np.isin(cluster, fetched(target, "SELECT cluster FROM cells")["cluster"])
        cells = {name: column[new] for name, column in {**cells, "cluster": np.asarray(cluster, np.uint64)}.items()}
    names = {}
    for what, column in _NAMED:
        names[what] = fetched(source, _HELD.format(what=what, column=column, number=number))
        cells[column] = np.searchsorted(names[what].pop("code"), cells[column])
    named, word = fetched(source, f"SELECT name, word FROM ids WHERE batch = {number}").values()
    return Batch(cells, names, {}, {each: word[named == each] for each in np.unique(named)}, ())
