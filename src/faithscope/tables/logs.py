"""Log: where a log of predictions and explanations is, and what its columns mean, said once."""

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, fields, replace
from functools import cached_property
from typing import Any, TypedDict

from faithscope.agreements import to_agreement
from faithscope.discretizers import Original, to_discretizer
from faithscope.errors import BadInput, NotProven, WrongType
from faithscope.inputs.arrays import query_kind
from faithscope.inputs.checks import check_word
from faithscope.inputs.repeats import repeated_share
from faithscope.measures.consistency import consistency
from faithscope.measures.estimate import noted, to_interval
from faithscope.measures.intervals.margins import check_confidence
from faithscope.sample import Sample, repeated_note
from faithscope.tables.audited import AuditOptions
from faithscope.tables.columns import KINDS
from faithscope.tables.conditions import only_rows, to_moment
from faithscope.tables.engines import NULLS, Nulls, dropped_note, refuse_nested, scan
from faithscope.tables.layout import countable, known_to_engines, open_log
from faithscope.tables.scopes import LogRows, in_groups, read_rows
from faithscope.tables.source import LogSource, Names, open_source
from faithscope.words import hint

_SAID = {"predictions": "prediction", "X": "inputs", "weights": "weights", "clusters": "clusters"}
# With which consistency is counted where the rows are; all else is measured in memory.
_COUNTED = {"discretizer", "confidence", "interval", "agreement", "by"}


class LogColumns(TypedDict, total=False):
    """What `Log` takes besides the table, as functions that make one take it."""

    prediction: Names | None
    explanation: Names | None
    kind: str | None
    inputs: Names | None
    id: Names | None
    clusters: str | None
    weights: str | None
    time: str | None
    nulls: Nulls | None
    connect: str | None
    where: str | None
    since: Any


@dataclass(frozen=True, eq=False, repr=False)
class Log:
    """A log of predictions and explanations: where it is, and what its columns mean, said once.

    Nothing is read until it is asked: by `consistency`, `sufficiency`, `necessity`, `encoding`, `leakage`, `certify` or
    `plan`, which take a log in place of explanations, predictions and rows; by `audit`, which asks all of it and makes
    a report; and by `Monitor.add`. Rows are counted where they are; what no database can count (weights, functions of
    your own, relations) is measured in memory, as many rows as fit. Nothing is ever written to the log.

    Parameters
    ----------
    table : path, glob, list of paths, pandas, polars or Arrow table, Ibis table, query, or a database's table by name
        One row per prediction. Parquet, CSV and JSON lines are read in place by DuckDB. The rows of a query (a polars
        LazyFrame, a DuckDB relation, an Arrow dataset or reader) are read once, in batches.
    prediction : str or list of str, optional
        The column of predictions; known if faithscope wrote the log. Several columns, such as probabilities, only with
        ``agreement=fs.Spread()``, which adds them up.
    explanation : str or list of str, optional
        The columns of the explanation by name or glob, such as ``"phi_*"``; known if faithscope wrote the log.
    kind : str, optional
        importances, keys, reasons, codes, rules, words, prototypes or counterfactuals; by default what names and types
        say, and "reasons" (in words) for a discretizer of these. Codes are read as sets, from several columns, lists or
        joined texts: see `Codes`.
    inputs : str or list of str, optional
        The column of the texts that reasons in words are about, or several, which ``Template()`` blanks; known if
        faithscope wrote the log. Rules and importances find the columns that they name.
    id : str or list of str, optional
        Columns that identify rows, which have no numbers in a log: they stand first when rows are shown, and are
        never part of an explanation or of a measure.
    clusters : str, optional
        A column that says which rows belong together, such as a customer's number: a row is then compared with rows of
        other clusters only, and the interval leaves out whole clusters. Rows without a value are one cluster with
        ``nulls="key"``, left out with ``"drop"``. Without it, rows must be independent: repeated ones vouch for each
        other, and the estimate is too high.
    weights : str, optional
        A column of numbers that say how much each row counts in the population you ask about; measured in memory.
    time : str, optional
        The column of moments, for ``only(since=...)``, for windows of `audit` and for days of a `Monitor`.
    nulls : {"error", "drop", "key"}, optional
        What to do with rows in which a used column is missing: refuse, which is the default, leave out, or let missing
        be a value.
    connect : str, optional
        A database, such as ``postgres://user@host/database`` or ``spark``, in which `table` is a name.
    where, since : str, date or datetime, optional
        Set by `only`.

    Examples
    --------
    >>> import pandas as pd, faithscope as fs
    >>> table = pd.DataFrame({"leaf": [1, 1, 1, 2, 2, 2], "yhat": ["yes", "yes", "no", "no", "no", "no"]})
    >>> log = fs.Log(table, prediction="yhat", explanation="leaf")
    >>> fs.consistency(log).value == fs.consistency(table["leaf"], table["yhat"]).value
    True
    >>> fs.consistency(log.only("leaf = 2")).n
    3
    """

    table: Any
    _: KW_ONLY
    prediction: Names | None = None
    explanation: Names | None = None
    kind: str | None = None
    inputs: Names | None = None
    id: Names | None = None
    clusters: str | None = None
    weights: str | None = None
    time: str | None = None
    nulls: Nulls | None = None
    connect: str | None = None
    where: str | None = None
    since: Any = None

    def __post_init__(self) -> None:
        if isinstance(self.table, Log):
            raise WrongType("A Log was made of a Log: pass the table, or take rows of the log by .only(...).")
        check_word(self.nulls, "nulls", NULLS, optional=True)
        check_word(self.kind, "kind", KINDS, optional=True)
        if self.since is not None:
            to_moment(self.since)

    @classmethod
    def _of(cls, table: Any, columns: LogColumns, what: str) -> "Log":
        """The log that a function was handed, or that these options make of a table."""
        if isinstance(table, Log):
            for name in columns:
                raise BadInput(f"{what} got a Log and {name}=: say it in the log, fs.Log(..., {name}=...).")
            return table
        known = list(LogColumns.__annotations__)
        for name in (name for name in columns if name not in known):
            raise WrongType(f"{what} has no option {name!r}. {hint(name, known)}")
        return cls(table, **columns)

    def __repr__(self) -> str:
        table = repr(self.table) if isinstance(self.table, str) else f"<{type(self.table).__name__}>"
        said = {field.name: getattr(self, field.name) for field in fields(self)[1:]}
        told = [f"{name}={value!r}" for name, value in said.items() if value is not None]
        return f"Log({', '.join([table, *told])})"

    def only(self, where: str | None = None, *, since: Any = None) -> "Log":
        """The same log without some of its rows; of what is said twice, both hold.

        Parameters
        ----------
        where : str, optional
            A condition of SQL on the log's columns, such as ``"region = 'EU' and age >= 18"``. It is read here, and no
            engine sees its text.
        since : date, datetime or str, optional
            Leave out rows before this moment, by the column `time`, or by the log's only column of dates or moments.
        """
        both = where if self.where is None else self.where if where is None else f"({self.where}) and ({where})"
        moments = [moment for moment in (self.since, since) if moment is not None]
        return replace(self, where=both, since=max(moments, key=to_moment, default=None))

    def read(self) -> LogRows:
        """The rows in memory, as many as fit, for any other question: explanations, predictions, X and the rest.

        Examples
        --------
        >>> import pandas as pd, faithscope as fs
        >>> table = pd.DataFrame({"phi_a": [0.5, 0.1, -1.0], "phi_b": [0.0, 0.1, 0.2], "yhat": [1, 1, 0]})
        >>> rows = fs.Log(table, prediction="yhat", explanation="phi_*").read()
        >>> fs.within(rows.explanations, rows.predictions, 0.5).value
        0.6666666666666666
        """
        with self._opened() as rows:
            return self._read(rows, None)

    @contextmanager
    def _opened(
        self,
        source: LogSource | None = None,
        options: AuditOptions | None = None,
        further: Sequence[str] = (),
        *,
        shows: bool = False,
    ) -> Iterator[LogSource]:
        """The rows that are asked about, all in one state.

        With options, for consistency alone, by further columns: an engine counts them, unless the log has columns that
        it `shows`.
        """
        source = self._source() if source is None else source
        with source.one_state():
            chosen = self.where is not None or self.since is not None
            rows = only_rows(source, self.where, self.since, self.time) if chosen else source
            if not rows.embedded:
                columns = None if options is None else countable(rows, options, further, shows=shows)
                rows = rows.copied(columns)
            yield rows

    def _source(self) -> LogSource:
        """The log as it is now; the rows of a query, which can be read once, as they were then."""
        return self._read_once if query_kind(self.table) else open_source(self.table, self.connect)

    @cached_property
    def _read_once(self) -> LogSource:
        return open_source(self.table)

    def _options(self, **measured: Any) -> AuditOptions:
        """How its rows are read; and measured, by what a verb was given."""
        method, unseen = to_interval(measured.get("interval"), measured.get("unseen", False))
        confidence = measured.get("confidence", 0.95)
        check_confidence(confidence)
        return AuditOptions(
            self,
            to_discretizer(measured.get("discretizer")) or Original(),  # type: ignore[arg-type]
            confidence,
            method,
            to_agreement(measured.get("agreement")),
            self.nulls or "error",
            unseen=unseen,
        )

    def _answer(self, verb: Callable[..., Any], options: dict[str, Any]) -> Any:
        """What a verb of memory says of this log."""
        name = verb.__name__
        for option in (option for option in _SAID if options.get(option) is not None):
            raise BadInput(
                f"fs.{name} got a log and {option}=: name the column in the log, fs.Log(..., {_SAID[option]}=...)."
            )
        if options.get("askers") is not None:
            raise BadInput(f"fs.{name} got a log and askers=, which are rows in memory: pass by=, a column of the log.")
        if name == "plan":
            return verb(consistency(self), **options)
        asked = {option: value for option, value in options.items() if value is not None}
        settings = self._options(**asked) if name == "consistency" and asked.keys() <= _COUNTED else None
        if settings is None or not known_to_engines(settings.discretizer):
            with self._opened() as rows:
                return self._in_memory(verb, rows, options)
        source, by = self._source(), asked.get("by")
        columns = () if by is None else source.named(by, "by")
        with self._opened(source, settings, columns) as rows:
            measured = open_log(rows, settings)
            return noted(measured.consistency, measured.source.notes) if by is None else measured.by(columns)

    def _in_memory(self, verb: Callable[..., Any], rows: LogSource, options: dict[str, Any]) -> Any:
        """What a verb says of the rows, once they are here."""
        takes, by = inspect.signature(verb).parameters, options.pop("by", None)
        if self.weights is not None and "weights" not in takes:
            raise NotProven(f"fs.{verb.__name__} takes rows that count alike, and the log has weights: leave them out.")
        known = self._read(rows, by, options.get("agreement"))
        given = {"weights": known.weights, "clusters": known.clusters}
        options |= {name: value for name, value in given.items() if value is not None}
        handed: tuple[Any, ...] = (known.explanations, known.predictions)
        if "X" in takes:
            handed = (*handed, known.X)
        elif known.clusters is None:  # what is told of rows that repeat is told without X too
            sample = Sample(known.explanations, known.predictions, known.X)
            repeated = repeated_note(repeated_share(known.X, sample._said_of))
            handed = (known.explanations._with(remarks=(*known.explanations.remarks, *repeated)), handed[1])
        if not known.by:
            return verb(*handed, **options)
        return in_groups(known.by, lambda groups: verb(*handed, **options, by=groups))

    def _read(self, rows: LogSource, by: Names | None, agreement: Any = None) -> LogRows:
        groups = () if by is None else rows.named(by, "by")
        log = open_log(rows, replace(self._options(agreement=agreement), raw=True))
        refuse_nested(log.source.table.schema(), groups, "a group is one value per row")
        scan(log.source.table, groups, log.options.nulls)
        found = read_rows(log, groups)
        given = found.explanations
        told = (*given.remarks, *log.source.notes, *dropped_note(log.total - len(given)))
        return found._replace(explanations=given._with(remarks=tuple(dict.fromkeys(told))))
