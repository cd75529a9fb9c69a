"""The reference period beside the days after it, as far as a store still tells their explanations apart."""

import json
from datetime import date
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from faithscope.explanations.base import readable, several
from faithscope.measures.scopes import agreement_of_scopes
from faithscope.monitor.estimates import PATTERNS, scope_coverage
from faithscope.monitor.moments import to_date
from faithscope.monitor.origin import FIRST_DAYS, known_until, origin, reference_end
from faithscope.monitor.periods import TwoPeriods
from faithscope.monitor.queries import fetch_lines, fetch_table, fetch_value, registered
from faithscope.monitor.schema import EVER
from faithscope.monitor.scopes import Scopes
from faithscope.monitor.sequential import DailyDraws

_CELLS = """
SELECT high, low, label, coalesce(sum(given) FILTER (NOT later), 0)::BIGINT AS before,
    coalesce(sum(given) FILTER (later), 0)::BIGINT AS after
FROM {cells} AS cells JOIN places USING (level, period) GROUP BY ALL ORDER BY high, low, label
"""
_FRESH = """
WITH known AS (SELECT DISTINCT high, low FROM {cells} AS cells JOIN places USING (level, period) WHERE known)
SELECT start, sum(cells.given)::BIGINT AS rows,
    coalesce(sum(cells.given) FILTER (known.high IS NULL), 0)::BIGINT AS fresh
FROM {cells} AS cells JOIN places USING (level, period)
LEFT JOIN known ON cells.high = known.high AND cells.low = known.low
WHERE NOT places.known GROUP BY start ORDER BY start
"""
_NAMED = "SELECT place, name, features FROM explained JOIN names USING (high, low) WHERE name <> ''"


class Compared(NamedTuple):
    """Cells of two periods, how their explanations and labels read, and how frequent new explanations are.

    Attributes
    ----------
    until : date
        The last day that counts as reference: later than asked if days of its week were merged with it.
    periods : TwoPeriods
    names, labels
        By number.
    features : list of tuples of str
        The features that each explanation names.
    fresh : DailyDraws
        Rows after the first half of the reference, and those whose explanations that half did not have.
    begin : date
        The first day after that half.
    reference : int
        How many days of the reference `fresh` has. For `fresh` the reference and its half are whole weeks, whatever was
        merged: both were fixed beforehand.
    """

    until: date
    periods: TwoPeriods
    names: "Texts"
    labels: list[str]
    features: list[tuple[str, ...]]
    fresh: DailyDraws
    begin: date
    reference: int


class Texts(dict[int, str]):
    """How explanations read, by number: of few a text was kept, the others are told by their digests."""

    high: NDArray[np.uint64]

    def __missing__(self, place: int) -> str:
        return f"explanation {self.high[place]:016x}, whose text was not kept"


def periods_of_cells(connection: Any, reference: int) -> dict[str, Any] | None:
    """Of every level and period of cells its first day, and whether that is after the reference; None if none is."""
    if (begun := origin(connection)) is None:
        return None
    lines = fetch_lines(connection, "SELECT DISTINCT level, period FROM cells")
    level, period = (np.array([line[j] for line in lines], np.int32) for j in (0, 1))
    start = np.where(level == EVER, begun + FIRST_DAYS, period).astype(np.int64)
    later = start >= begun + reference
    columns: dict[str, Any] = {"level": level, "period": period, "start": start, "later": later}
    counted = start >= begun  # what is older came late
    columns = {name: column[counted] for name, column in columns.items()}
    columns["known"] = columns["start"] <= known_until(begun, reference)
    return columns if len(np.unique(columns["later"])) == 2 else None


def compare(connection: Any, reference: int, cells: str = "cells") -> Compared | None:
    """What came in the first so many days, and what came after them; None if nothing did.

    Cells are added up in the store, so that what is read has a line per explanation and label, however many days
    there were.

    Parameters
    ----------
    cells : str
        The table of cells, or a query in parentheses.
    """
    places, begun = periods_of_cells(connection, reference), origin(connection)
    if places is None or begun is None:
        return None
    end, half = begun + reference - 1, known_until(begun, reference)
    with registered(connection, "places", places):
        counted, new = (fetch_table(connection, query.format(cells=cells)) for query in (_CELLS, _FRESH))
    dates = np.array([to_date(day) for day in new.column("start").to_pylist()], object)
    rows = new.column("rows").to_numpy()
    fresh = DailyDraws.of_pairs(dates, rows, rows, new.column("fresh").to_numpy())
    after = int(places["start"][places["later"]].min())
    merged = fetch_value(connection, "SELECT max(day) FROM days WHERE day >= ? AND day < ?", [end, after])
    high, low, label, before, since = (column.to_numpy() for column in counted.columns)
    begins = np.append(True, (high[1:] != high[:-1]) | (low[1:] != low[:-1]))
    high, low, number = high[begins], low[begins], np.cumsum(begins) - 1
    names, features = Texts(), list[tuple[str, ...]]([()] * len(high))
    names.high = high
    with registered(connection, "explained", {"place": np.arange(len(high)), "high": high, "low": low}):
        for place, name, told in fetch_lines(connection, _NAMED):
            names[place], features[place] = name, tuple(json.loads(told))
    shown = fetch_lines(connection, "SELECT shown FROM labels ORDER BY code")
    labels = [readable(json.loads(text)) for (text,) in shown]
    periods = TwoPeriods.of(number, label, before, since)
    days = reference_end(begun, reference) - half
    return Compared(to_date(merged or end), periods, names, labels, features, fresh, to_date(half + 1), days)


# Cells by rule in place of patterns, as if a rule's number were its digest.
CELLS_BY_RULE = """
(SELECT level, period, own::UBIGINT AS high, 0::UBIGINT AS low, label, sum(given)::BIGINT AS given
FROM cells JOIN patterns USING (high, low) GROUP BY ALL)
"""
_SIDE = "(SELECT * FROM cells JOIN places USING (level, period) WHERE {}later)"
_MOST = 10  # rules that are told


def scoped_changes(connection: Any, scopes: Scopes, reference: int) -> tuple[str, ...]:
    """How sufficient each rule was in the reference period, and since; the largest changes of all rows first."""
    places = periods_of_cells(connection, reference)
    if places is None:
        return ()
    rows, value = np.zeros((2, len(scopes)), np.int64), np.full((2, len(scopes)), np.nan)
    with registered(connection, "places", places):
        for side, word in enumerate(("NOT ", "")):
            answer = fetch_table(connection, PATTERNS.format(keys="", cells=_SIDE.format(word)))
            own = answer.column("own").to_numpy()
            rows[side] = np.bincount(own, answer.column("given").to_numpy(), len(scopes))
            counts = scope_coverage(connection, scopes, answer).counts
            value[side, np.unique(own)] = agreement_of_scopes(counts)["sufficiency"]
    both = np.flatnonzero(~np.isnan(value).any(axis=0))
    if not len(both):
        return ("No rule can be checked in both periods, so its sufficiency cannot be compared.",)
    weight = (rows / rows.sum(axis=1, keepdims=True)).mean(axis=0)
    order = both[np.argsort(-np.abs((value[1] - value[0]) * weight)[both], kind="stable")][:_MOST]
    return (
        "By rule, at a single look, the largest changes of all rows first; no test is made of them.",
        *(
            f"{scopes.rules.describe(int(place))}: sufficiency {value[0][place]:.3f} in the reference "
            f"({several(int(rows[0][place]), 'row', 'rows')}), {value[1][place]:.3f} since "
            f"({several(int(rows[1][place]), 'row', 'rows')})."
            for place in order
        ),
    )
