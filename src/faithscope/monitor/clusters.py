"""Clusters: rows that belong together, such as a customer's, are one draw, however often the customer comes back.

A cluster counts once, by a row of the first day on which it came, drawn at random. Clusters are independent of each
other, so these rows are, and all that a monitor says of rows holds for them (`docs/proofs.md`). If nobody says which
rows belong together, but rows have ids, some ids of each batch are kept: those of later batches tell who comes back.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from faithscope.errors import BadInput
from faithscope.inputs.checks import same_length
from faithscope.inputs.labels import to_labels
from faithscope.monitor.batch import Batch, Clusters
from faithscope.monitor.canonical import Words, mixed
from faithscope.monitor.queries import (
    create,
    fetch_lines,
    fetch_table,
    fetch_value,
    insert,
    registered,
    setting,
    settle,
)
from faithscope.monitor.schema import FURTHER
from faithscope.sample import number_labels

_KINDS = {"n": "numbers", "s": "texts", "t": "dates"}  # by the first letter of their canonical texts


def row_clusters(given: Any, rows: int) -> Clusters | None:
    """The cluster of each row, none missing; None if rows are independent."""
    if given is None:
        return None
    column = to_labels(given, "Clusters")
    same_length(explanations=rows, clusters=len(column))
    return Clusters.of(*number_labels(column))


def settle_clusters(connection: Any, batch: Batch, where: str) -> None:
    """Keep with the first rows whether there are clusters and what names them, and refuse what does not fit."""
    held = setting(connection, "clusters")
    given = None if batch.clusters is None else batch.clusters.kinds
    if not fetch_value(connection, "SELECT coalesce(sum(rows), 0) FROM batches"):
        connection.execute("DELETE FROM settings WHERE name = 'clusters'")
        if given is not None:
            settle(connection, "clusters", given)
            create(connection, FURTHER["clusters"])
    elif held is None and given is not None:
        raise BadInput(
            f"{where!r} was begun without clusters, so whose its rows are is not known: leave clusters away, or begin "
            "another state."
        )
    elif held is not None and given is None:
        raise BadInput(
            f"{where!r} was begun with clusters, of which each counts once: pass clusters= with one value per row, on "
            "the command line --cluster."
        )
    elif held is not None and not set(given or "") <= set(held):
        old, new = (
            " and ".join(_KINDS.get(letter, "other values") for letter in kinds) for kinds in (held, given or "")
        )
        raise BadInput(
            f"The clusters in {where!r} are named by {old}, these by {new}, so that none would be known again: convert "
            "them."
        )


def one_row_each(connection: Any, batch: Batch) -> Batch:
    """Of each cluster that never came before a row of its first day here, as a cell of its own.

    Which one depends on the monitor's seed and on the name of the cluster, neither on the order of rows nor on what
    they hold: each of these rows has the same chance.
    """
    assert batch.clusters is not None
    words, seed = batch.clusters.words, int(setting(connection, "seed") or 0)
    with registered(connection, "coming", {"place": np.arange(len(words)), "word": words}):
        answer = fetch_table(connection, "SELECT place FROM coming ANTI JOIN clusters USING (word)")
    new = answer.column("place").to_numpy()
    order = new[np.lexsort((batch.row_words(batch.digests.high)[new], batch.day[new], words[new]))]
    word, first, number = np.unique(words[order], return_index=True, return_inverse=True)
    day = batch.day[order]
    rows = np.where(day == day[first][number], batch.given[order], 0)
    until = np.cumsum(rows)
    chance = (mixed(word ^ mixed(np.array([seed % 2**64], np.uint64))) >> np.uint64(11)) * 2.0**-53
    drawn = (until - rows)[first] + (chance * np.bincount(number, rows, len(word))).astype(np.int64)
    chosen = order[np.searchsorted(until, drawn, side="right")]
    columns: dict[str, Any] = {name: getattr(batch, name)[chosen] for name in ("explanation", "day", "group", "label")}
    clusters = batch.clusters._replace(words=word)
    return replace(batch, **columns, given=np.ones(len(chosen), np.int64), clusters=clusters)


_ID = re.compile(r"(?i:(?:^|[\W_])(?:id|customer|client|patient))$|[a-z]I[dD]$")
LOOKED = 256  # ids of a batch that are kept, the first in order: whoever is among them once is so again
_AGAIN = """
SELECT name, sum(times)::BIGINT, sum(times - 1)::BIGINT
FROM (SELECT name, word, count(*) AS times FROM ids GROUP BY ALL) GROUP BY name ORDER BY name
"""
_ROWS_EACH = 10  # rows of a batch per id beyond which a column names something else, such as who decided
_MANY = 0.05  # the share of ids that came before above which rows are no independent draws


def are_ids(name: Any) -> bool:
    """Whether a column of this name says whose a row is.

    Examples
    --------
    >>> [name for name in ("id", "customer_id", "clientId", "paid", "Customer", "age") if are_ids(name)]
    ['id', 'customer_id', 'clientId', 'Customer']
    """
    return isinstance(name, str) and _ID.search(name) is not None


def first_ids(values: Iterable[Any], rows: int) -> Words:
    """The first so many different ids in order, as words; none if they are no texts or whole numbers, or too few."""
    different = set(values)
    alike = any(all(isinstance(value, kind) for value in different) for kind in (str, int))
    if not alike or len(different) < min(LOOKED, rows / _ROWS_EACH):
        return np.empty(0, np.uint64)
    kept = sorted(different)[:LOOKED]
    if kept in (list(range(len(kept))), list(range(1, len(kept) + 1))):  # rows that are numbered in each batch
        return np.empty(0, np.uint64)
    return Clusters.of(kept, np.arange(len(kept))).words


def insert_ids(connection: Any, number: int, batch: Batch) -> None:
    """Some of the ids that rows of a batch have."""
    for name, words in batch.ids.items():
        create(connection, FURTHER["ids"])
        settle(connection, "ids", "kept")
        insert(connection, f"INSERT INTO ids SELECT ?, word, {number} FROM telling", {"word": words}, [name])


def ids_again(connection: Any) -> tuple[str, int, int] | None:
    """A column of ids of which many came in an earlier batch, how many did, and of how many; None if there is none."""
    if setting(connection, "ids") is None:
        return None
    lines = fetch_lines(connection, _AGAIN)
    return next(((name, again, looked) for name, looked, again in lines if again > _MANY * looked), None)


_HEARD = """
WITH latest AS (SELECT number, rows FROM batches WHERE last_day > (SELECT max(last_day) FROM batches) - 7)
SELECT (SELECT sum(rows) FROM batches), (SELECT count(*) FROM clusters), (SELECT sum(rows) FROM latest),
    (SELECT count(*) FROM clusters SEMI JOIN latest ON clusters.batch = latest.number)
"""
_FEW = 0.1  # the share of rows that count below which a change would hardly be seen


def cluster_notes(connection: Any) -> tuple[str, ...]:
    """How many rows are of how many clusters, and whether those of the last days still count; none without clusters."""
    if setting(connection, "clusters") is None:
        return ()
    rows, heard, recent, new = (int(number or 0) for number in fetch_lines(connection, _HEARD)[0])
    once = (
        f"{rows:,} rows are of {heard:,} clusters, and each counts once, by a row of the first day on which it came: "
        "limits and alarms speak of such rows"
    )
    blind = (
        f"of {recent:,} rows of the last seven days {new:,} count, so a change for clusters that came before is hardly "
        "seen: begin another state, in which each counts again"
    )
    return (once, *((blind,) if new < _FEW * recent else ())) if rows else ()
