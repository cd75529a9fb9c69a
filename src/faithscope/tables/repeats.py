"""Whole rows of a log that repeat, counted where the log lives."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.inputs.repeats import LARGEST, NOTICED, odd_occurrence
from faithscope.measures.estimate import Estimate
from faithscope.sample import repeated_note
from faithscope.tables.engine.answers import fetch, fetch_line, numbers_of
from faithscope.tables.engine.expressions import Expression, Table, literal
from faithscope.tables.engine.shown_columns import column, shown
from faithscope.tables.log.rows import AuditedLog

_FEW = 50_000  # rows that are all compared; of more, a sixteenth
_FIRST = 3  # columns that are compared before all of them
_LEAST = 64  # a part smaller than one row in so many is not fair
_PROBED, _PROBED_COLUMNS = 1_000, 8  # rows and columns of numbers that are looked at to choose that sixteenth


def repeat_notes(log: AuditedLog, estimate: Estimate, total: int) -> tuple[str, ...]:
    """A note if whole rows of the log repeat, more often than chance gives.

    Nothing is told of clustered rows, nor of a log that holds explanations and predictions alone: that these repeat is
    what is measured. A column that identifies rows tells all of them apart. Nor is anything told if the log no longer
    has the `total` of rows that it had when it was measured.
    """
    repeatable = 1 - estimate.distinct / max(1, estimate.n)
    table = _comparable(log)
    if estimate.clusters is not None or table is None or repeatable < NOTICED:
        return ()
    share = _share(_part(table, estimate.n) if estimate.n > _FEW else table)
    if not share or fetch_line(table.aggregate(n=table.count()))["n"] != total:
        return ()
    return repeated_note(share, " of the log")


def _comparable(log: AuditedLog) -> Table | None:
    """All columns of the log, those that tell rows apart best first; None if some cannot be compared."""
    source, schema = log.source.table, log.source.table.schema()
    others = [name for name in log.others if name not in log.source.wide]
    if not others or len(others) < len(log.others) or any(shown(name, schema[name]) is None for name in others):
        return None
    used = [name for name in dict.fromkeys(log.used) if shown(name, schema[name]) is not None]
    named = sorted([*others, *used], key=lambda name: _rank(schema[name]))
    return source.select(**{f"c{j}": _value(source, name) for j, name in enumerate(named)})


def _rank(kind: object) -> int:
    """0 for columns whose values seldom repeat and are quickly read, more for others."""
    tests = ("is_floating", "is_decimal", "is_integer", "is_string", "is_timestamp")
    return next((place for place, test in enumerate(tests) if getattr(kind, test)()), len(tests))


def _value(source: Table, name: str) -> Expression:
    kind = source[name].type()
    plain = kind.is_numeric() or kind.is_boolean() or kind.is_string() or kind.is_temporal()
    wanted = None if plain else shown(name, kind)
    return source[name] if wanted is None else column(source, wanted)


def _part(table: Table, rows: int) -> Table:
    """About one row in 16, those with a number in some range: equal rows are all among them, or none is.

    All rows if no column of numbers has many different values: then groups are few, and quickly counted.
    """
    schema = table.schema()
    numbers = [name for name, kind in schema.items() if kind.is_floating() or kind.is_integer()][:_PROBED_COLUMNS]
    probed: Any = fetch(table.select(*numbers).limit(_PROBED)) if numbers else None
    for name in numbers:
        values = np.unique([value for value in probed.column(name).to_pylist() if value == value and value is not None])
        if len(values) > _PROBED / 2:
            low, high = (values[len(values) * place // 32].item() for place in (15, 17))
            part = table.filter(table[name].between(literal(low), literal(high)))
            held = fetch_line(part.aggregate(n=part.count()))["n"]
            if held * _LEAST >= rows:  # else the first rows are unlike the others: a counter, a date
                return part
    return table


def _share(table: Table) -> float:
    """Share of rows that repeat an earlier one as a whole; 0.0 if chance explains it."""
    if _occurrences(table, table.columns[:_FIRST])[1] < NOTICED:
        return 0.0
    times, share = _occurrences(table, table.columns)
    odd = odd_occurrence(times, int(times @ np.arange(len(times))))
    return share if share >= NOTICED and odd is not None else 0.0


def _occurrences(table: Table, columns: Sequence[str]) -> tuple[NDArray[np.int64], float]:
    """How many different rows occur 0, 1, 2, … times by some columns, and the share of rows that repeat another."""
    groups = table.group_by(list(columns)).aggregate(given=table.count())
    answer = fetch(groups.group_by("given").aggregate(times=groups.count()))
    given, times = numbers_of(answer, "given"), numbers_of(answer, "times")
    counted = np.zeros(LARGEST + 3, np.int64)
    np.add.at(counted, np.minimum(given, LARGEST + 2), times)
    return counted, float(1 - times.sum() / max(1, int(given @ times)))
