"""The reference period beside the days after it, as far as a store still tells their explanations apart."""

import json
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np

from faithscope.explanations.base import readable
from faithscope.measures.sequential.draws import DailyDraws
from faithscope.measures.sequential.periods import TwoPeriods
from faithscope.monitor.compaction import FIRST_MONTHS
from faithscope.monitor.moments import to_date
from faithscope.monitor.queries import fetch_lines, fetch_table, fetch_value, registered
from faithscope.monitor.schema import EVER

_CELLS = """
SELECT high, low, label, coalesce(sum(given) FILTER (NOT later), 0)::BIGINT AS before,
    coalesce(sum(given) FILTER (later), 0)::BIGINT AS after
FROM cells JOIN places USING (level, period) GROUP BY ALL ORDER BY high, low, label
"""
_FRESH = """
WITH known AS (SELECT DISTINCT high, low FROM cells JOIN places USING (level, period) WHERE known)
SELECT start, sum(cells.given)::BIGINT AS rows,
    coalesce(sum(cells.given) FILTER (known.high IS NULL), 0)::BIGINT AS fresh
FROM cells JOIN places USING (level, period) LEFT JOIN known ON cells.high = known.high AND cells.low = known.low
WHERE NOT places.known GROUP BY start ORDER BY start
"""


@dataclass(frozen=True, eq=False)
class Compared:
    """Cells of two periods, how their explanations and labels read, and how frequent new explanations are.

    Attributes
    ----------
    until : date
        The last day that counts as reference: later than asked if days of its month were merged with it.
    periods : TwoPeriods
    names, labels : list of str
        By number.
    features : list of tuples of str
        The features that each explanation names.
    fresh : DailyDraws
        Rows after the first half of the reference, and those whose explanations that half did not have.
    reference : int
        How many entries of `fresh` are of the reference.
    """

    until: date
    periods: TwoPeriods
    names: list[str]
    labels: list[str]
    features: list[tuple[str, ...]]
    fresh: DailyDraws
    reference: int


def compare(connection: Any, end: int) -> Compared | None:
    """What came until a day, and what came after it; None if nothing did."""
    held = fetch_lines(connection, "SELECT DISTINCT level, period FROM cells")
    first = fetch_value(connection, "SELECT min(first_day) FROM batches")
    starts = [_start(level, period, first) for level, period in held]
    later = [start > end for start in starts]
    if not any(later) or all(later):
        return None
    before = sorted({start for start in starts if start <= end})
    half = set(before[: len(before) // 2])
    places = {
        "level": np.array([level for level, _ in held], np.int8),
        "period": np.array([period for _, period in held], np.int32),
        "start": np.array(starts, np.int64),
        "later": later,
        "known": [start in half for start in starts],
    }
    with registered(connection, "places", places):
        cells, counted = (fetch_table(connection, query) for query in (_CELLS, _FRESH))
    dates = np.array([to_date(day) for day in counted.column("start").to_pylist()], object)
    fresh = DailyDraws.known(dates, counted.column("rows").to_numpy(), counted.column("fresh").to_numpy())
    after = min(start for start in starts if start > end)
    until = fetch_value(connection, "SELECT max(day) FROM days WHERE day >= ? AND day < ?", [end, after]) or end
    return Compared(to_date(until), *_told(connection, cells), fresh, len(before) - len(half))


def _start(level: int, period: int, first: int) -> int:
    """The first day of a period; of all months that were merged into one, the first that may be among them."""
    if level != EVER:
        return period
    month = to_date(first)
    year, place = divmod(month.year * 12 + month.month - 1 + FIRST_MONTHS, 12)
    return (date(year, place + 1, 1) - date(1970, 1, 1)).days


def _told(connection: Any, cells: Any) -> tuple[TwoPeriods, list[str], list[str], list[tuple[str, ...]]]:
    """The cells with their explanations numbered, and how they, and labels, read."""
    high, low, label, before, after = (cells.column(name).to_numpy() for name in cells.column_names)
    begins = np.concatenate([[True], (high[1:] != high[:-1]) | (low[1:] != low[:-1])])
    number = np.cumsum(begins) - 1
    known = {
        (top, bottom): (name, tuple(json.loads(features)))
        for top, bottom, name, features in fetch_lines(connection, "SELECT high, low, name, features FROM names")
    }
    keys = zip(high[begins].tolist(), low[begins].tolist(), strict=True)
    told = [known.get(key) or (f"explanation {key[0]:016x}, whose text was not kept", ()) for key in keys]
    shown = fetch_lines(connection, "SELECT shown FROM labels ORDER BY code")
    labels = [readable(json.loads(text)) for (text,) in shown]
    periods = TwoPeriods.of(number, label, before, after)
    return periods, [name for name, _ in told], labels, [features for _, features in told]
