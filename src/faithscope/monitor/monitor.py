"""Monitor: counts that add up over time, with limits that may be looked at as often as one likes."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import MAXYEAR
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from faithscope.card import Card
from faithscope.errors import BadInput, WrongType
from faithscope.inputs.alignment import index_of, same_rows
from faithscope.inputs.arrays import to_vector
from faithscope.inputs.checks import check_share, check_whole, same_length
from faithscope.inputs.columns import hold_dates
from faithscope.inputs.frames import frame
from faithscope.inputs.labels import to_labels
from faithscope.measures.estimate import Estimate
from faithscope.measures.intervals.margins import check_confidence
from faithscope.monitor.adding import Added, Batch, add_batch, are_ids, fixed_discretizer, replayed
from faithscope.monitor.beside import Beside
from faithscope.monitor.log_batch import log_batch, remembered
from faithscope.monitor.look import Limits, Look
from faithscope.monitor.moments import times_unsaid, to_days
from faithscope.monitor.sequential import Alarm
from faithscope.monitor.store import Store
from faithscope.monitor.telling import page, told_card, told_dict, told_lines
from faithscope.runtime.files import to_path
from faithscope.runtime.memory import FEWER_ROWS, in_memory
from faithscope.runtime.messages import warn
from faithscope.sample import Sample
from faithscope.shareable import Shareable
from faithscope.tables.logs import Log, LogColumns

if TYPE_CHECKING:
    import pandas as pd

_LONGEST_ID = 200


class Monitor(Shareable):
    """Counts of explanations and predictions that add up over time, and limits that hold at all looks together.

    Parameters
    ----------
    store : path, optional
        The file that keeps the counts, made if there is none; by default memory. Every `add` is whole or not at all,
        also if the process is killed, and processes that add at the same time wait for each other.
    at_least : float, optional
        The level of the measure that was promised: an alarm means that it is below, with the stated confidence.
    confidence : float
        Of the limits.
    by : str, optional
        What groups are called, such as "region"; each `add` then says the group of each row. Settled when the store
        begins.
    seed : int
        Of the coins by which rows become pairs; settled when the store begins.
    reference : int, optional
        The first so many days are the reference, settled when the store begins: alarms compare later days with it, and
        the rows of later days are also judged beside its rows, by `beside`.

    Examples
    --------
    >>> import faithscope as fs
    >>> monitor = fs.Monitor(at_least=0.9)
    >>> print(monitor.add(["a", "a", "b", "b"], [1, 1, 0, 1], when="2026-03-01", batch="first"))
    batch first: 4 rows added
    >>> print(monitor.add(["a", "a", "b", "b"], [1, 1, 0, 1], when="2026-03-01", batch="first").counted)
    False
    >>> monitor.single_look().value, monitor.table()["n"].tolist()
    (0.5, [4])
    """

    def __init__(
        self,
        store: str | os.PathLike[str] | None = None,
        *,
        at_least: float | None = None,
        confidence: float = 0.95,
        by: str | None = None,
        seed: int = 0,
        reference: int | None = None,
    ) -> None:
        self.at_least = None if at_least is None else check_share(at_least, "at_least")
        check_confidence(confidence)
        self.confidence = confidence
        if by is not None and not (isinstance(by, str) and by):
            raise WrongType(
                f"by names the column that gives groups, such as 'region'; got {by!r}: join several into one."
            )
        said: dict[str, Any] = {"by": [] if by is None else [by], "seed": check_whole(seed, "seed", 0)}
        if reference is not None:
            said["reference"] = check_whole(reference, "reference, a number of days,", 1, MAXYEAR * 366)
        self._use(Store(store, said))
        for option in ("by", "reference"):
            given, held = said.get(option), self._settings.get(option)
            if given and given != held:
                there = f"with other {option} ({option}={held!r}, here {given!r})" if held else f"without {option}"
                raise BadInput(f"{self._store.name!r} was begun {there}: leave {option} away, or begin another state.")

    def _use(self, store: Store) -> None:
        self._store, self._settings = store, store.settings()
        self.by: tuple[str, ...] = tuple(self._settings["by"])
        self.reference: int | None = self._settings.get("reference")

    @in_memory(FEWER_ROWS)
    def add(
        self,
        explanations: Any,
        predictions: Any = None,
        *,
        discretizer: Any = None,
        when: Any = None,
        by: Any = None,
        clusters: Any = None,
        batch: str | None = None,
    ) -> Added:
        """Add rows; a batch that was added before is not counted again, and the answer says so.

        Parameters
        ----------
        explanations, predictions, discretizer
            As for `consistency`; the same explainer and discretizer for all batches. A `Log`, or the path of one, in
            place of both is added by `add_log`.
        when : date, datetime, str or array-like (n,), optional
            When the rows happened, for all of them or one per row; by default now, unless what is handed over has dates
            or moments in its row labels. Days are those of UTC.
        by : array-like (n,), optional
            The group of each row.
        clusters : array-like (n,), optional
            Which rows belong together, such as a customer's number, for all batches or for none. A cluster counts once,
            however often it comes back: by one of its rows, at random, of the first day on which it came.
        batch : str, optional
            What the batch is called. By default a digest of its counts and days, so that the same rows of the same day
            count once; name batches if different rows may be counted alike, as a few rows per batch are.

        Returns
        -------
        Added
        """
        if isinstance(explanations, Log) or (predictions is None and isinstance(explanations, str | os.PathLike)):
            for option, value in {"predictions": predictions, "clusters": clusters}.items():
                if value is not None:
                    raise BadInput(f"The monitor got a log and {option}=, which are columns of the log: leave it out.")
            return self.add_log(explanations, discretizer=discretizer, when=when, by=by, batch=batch)
        name, chosen = _batch_name(batch), fixed_discretizer(discretizer)
        sample = Sample.of(explanations, predictions, None)
        handed = {"explanations": explanations, "predictions": predictions, "clusters": clusters, "by": by}
        notes = (*sample.notes, *same_rows(**handed, when=when))
        if (by is None) == bool(self.by):
            raise BadInput(
                f"This monitor has groups by {self.by[0]}: pass by= with the group of each row."
                if self.by
                else "This monitor was begun without groups: begin another store with by='region'."
            )
        groups = None if by is None else to_labels(by, f"Groups by {self.by[0]!r}")
        belong = None if clusters is None else to_labels(clusters, "Clusters")
        columns = {"groups": groups, "clusters": belong}
        same_length(explanations=sample.n, **{each: len(of) for each, of in columns.items() if of is not None})
        indices = {f"{name}.index": index for name, thing in handed.items() if (index := index_of(thing)) is not None}
        for words, index in indices.items():
            if when is None and hold_dates(to_vector(index, words)):
                raise times_unsaid(words, words)
        named = indices.values() if clusters is None else ()
        rows = Batch.of(
            sample.discretized(chosen).explanations,
            sample.labels,
            to_days(when, sample.n),
            groups,
            np.ones(sample.n, np.int64),
            discretizer=chosen,
            clusters=belong,
            ids={index.name: index.tolist() for index in named if are_ids(index.name)},
            notes=notes,
        )
        return self._added(rows, name)

    @in_memory("add a part of the log at a time")
    def add_log(
        self,
        table: Any,
        *,
        discretizer: Any = None,
        when: Any = None,
        by: Any = None,
        batch: str | None = None,
        **columns: Unpack[LogColumns],
    ) -> Added:
        """Add the rows of a log, counted where it lives; nothing is ever written there.

        The state remembers with its first rows from a log what was said of it, so that later ones need only be named:
        ``monitor.add("log.parquet", batch="2026-03-02")``. What is said again must be the same.

        Parameters
        ----------
        table : Log, or what `Log` takes
            Files, frames, DuckDB, Postgres, Spark. Hand over new rows only, by files of their own, or with
            ``Log.only``.
        discretizer
            As for `add`.
        when : str, date or datetime, optional
            The column of moments, or a moment for all rows; by default the column `time` of a `Log`, and now if neither
            it nor the log has one.
        by : str, optional
            The column of groups; by default the one of the monitor's name of groups.
        batch : str, optional
            As for `add`.
        **columns
            What `Log` takes besides the table, if that is no `Log`: prediction, explanation, kind, inputs, clusters,
            nulls, connect; and where and since, as of ``Log.only``.

        Returns
        -------
        Added
        """
        name, log = _batch_name(batch), Log._of(table, columns, "Monitor.add_log")
        how = {"when": when, "by": by, "discretizer": discretizer}
        log, how, options = remembered(log, self._store.settings().get("log", {}), self._store.name, **how)
        counted = log_batch(log, names=self.by, **how)
        counted.settled["log"] = options or None
        return self._added(counted, name)

    def _added(self, batch: Batch, name: str | None) -> Added:
        added = add_batch(self._store, batch, name)
        if not added.counted and name is None:
            warn(
                f"These {added.rows:,} rows of these days were added before, as batch {added.batch}, so nothing was "
                "counted: if they are other rows that count alike, name them with batch=."
            )
        return added

    @contextmanager
    def _look(self) -> Iterator[Look]:
        """What the store holds now, all of it in one state."""
        with self._store.transaction() as connection:
            yield Look(connection, self._store.name, self.confidence, self.at_least)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know."""
        with self._look() as look:
            return look.notes

    @property
    def groups(self) -> list[Any]:
        """The groups that came up, in the order in which they did."""
        with self._look() as look:
            return look.groups

    def limits(self, group: Any = None) -> Limits:
        """Limits of consistency that hold at all looks together, of all rows or of a group.

        Those of groups hold for all groups together, also for groups that come later, so they are wider.
        """
        with self._look() as look:
            return look.limits[look.name(group)]

    def alarms(self) -> dict[Any, tuple[Alarm, ...]]:
        """Alarms of all rows (None) and of groups, false with probability at most 1 - `confidence` over all looks ever.

        The measure is compared with the level that was promised with `at_least`, and with that of the reference, if
        there are such. Days are those of the calendar, from the first day of the first batch on: rows of earlier days
        that come later count for limits, not for alarms.
        """
        with self._look() as look:
            return look.alarms

    def beside(self, group: Any = None) -> Beside:
        """How rows since the reference agree with its rows that have their explanations, of all rows or of a group.

        A day or a group is compared with all rows of the reference, not within itself, so that few rows tell much. Each
        row of the reference is an opener or a closer by a coin; the share of closers with the explanation of a later
        row that have its prediction is a draw, and so is that of an opener. Limits hold at all looks together; those of
        groups for all groups together.
        """
        with self._look() as look:
            name, told = look.name(group), look.beside
        if not told:
            raise BadInput(
                "Rows are compared with those of a reference if it was settled when the state began: begin another "
                "state with reference=30, on the command line --reference 30, and add all batches."
            )
        return told[name]

    def single_look(self, group: Any = None) -> Estimate:
        """The estimate and interval of all rows as if this were the only look; too narrow if it is not."""
        with self._look() as look:
            estimate = look.single_look(look.name(group))
        if estimate is None:
            raise BadInput("No rows were added yet, so nothing can be measured: add some first.")
        return estimate

    def table(self) -> "pd.DataFrame":
        """One line per day and group (None for all rows), with the measures of its rows."""
        with self._look() as look:
            lines = look.days()
        names = ("day", "group", "n", "value", "low", "high", "unverifiable", "explanations")
        return frame({name: [line[name] for line in lines] for name in names})

    def to_dict(self) -> dict[str, Any]:
        """All numbers, ready for JSON."""
        with self._look() as look:
            return told_dict(look)

    def _card(self) -> Card:
        with self._look() as look:
            return told_card(look)

    def _card_and_page(self) -> tuple[Card, str]:
        with self._look() as look:
            return told_card(look), page(look)

    def __add__(self, other: "Monitor") -> "Monitor":
        if not isinstance(other, Monitor):
            return NotImplemented
        merged = Monitor(at_least=self.at_least, confidence=self.confidence)
        merged._use(replayed((self._store, other._store)))
        return merged

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all of it to a new file, such as that of two monitors added up."""
        if not self._store.save(path):
            raise BadInput(f"{str(to_path(path))!r} exists already: name another file.")

    def __str__(self) -> str:
        with self._look() as look:
            return "\n".join(told_lines(look))

    __repr__ = __str__


def _batch_name(batch: Any) -> str | None:
    if batch is None:
        return None
    batch = str(batch) if isinstance(batch, np.integer | int) else batch
    if not isinstance(batch, str) or not 0 < len(batch) <= _LONGEST_ID:
        raise WrongType(f"batch is a text of 1 to {_LONGEST_ID} characters, such as '2026-03-01'; got {batch!r}.")
    try:
        batch.encode()
    except UnicodeEncodeError:
        raise BadInput(f"batch must be a text that can be written to a file; got {batch!r}.") from None
    return batch
