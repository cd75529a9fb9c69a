"""Old days made small: their measures are kept for good, their cells merged into weeks or months, then into one."""

from typing import Any

from faithscope.monitor.estimates import measures, open_days
from faithscope.monitor.moments import to_days
from faithscope.monitor.origin import FIRST_DAYS, block_start, months, origin
from faithscope.monitor.queries import fetch_lines, fetch_value, insert, registered, setting, settle
from faithscope.monitor.schema import EVER, MONTH
from faithscope.monitor.store import Store

OPEN_DAYS = 7  # days before the latest whose cells stay as they came, so that late rows join their day
OPEN_MONTHS = 12  # months before the latest that stay apart
MOST_CELLS = 20_000_000  # kept in all; beyond, explanations that came once long ago are forgotten
_FEW = 1_000_000  # cells of closed days that may wait to be merged
_FEW_WAITING = 200_000  # lines of those who wait that may be added before they are added up
_MOST_NAMES = 20_000

_MERGED = """
CREATE OR REPLACE TABLE cells AS
SELECT CASE WHEN place.level = 0 THEN cells.batch ELSE 0 END AS batch, place.level::TINYINT AS level,
    place.period::INTEGER AS period, grp, high, low, label, sum(given)::BIGINT AS given
FROM cells JOIN places AS place ON cells.period = place.old AND cells.level = place.old_level
GROUP BY ALL ORDER BY level, period, high, low
"""
_WAITING = """
CREATE OR REPLACE TABLE waiting AS
SELECT grp, high, low, label, day, closing, sum(rows)::BIGINT AS rows FROM waiting
GROUP BY ALL HAVING sum(rows) <> 0 ORDER BY high, low
"""
_NAMES = f"""
CREATE OR REPLACE TABLE names AS WITH labelled AS (
    SELECT high, low, label, sum(given) AS given FROM cells SEMI JOIN names USING (high, low) GROUP BY ALL
), explained AS (SELECT high, low, sum(given) AS n, sum(given) - max(given) AS odd FROM labelled GROUP BY ALL)
SELECT names.* FROM names JOIN explained USING (high, low) ORDER BY odd DESC, n DESC, high, low
LIMIT {_MOST_NAMES // 2}
"""
_LONE = f"""
CREATE TEMP TABLE lone AS
SELECT high, low, any_value(grp) AS grp, any_value(label) AS label FROM cells
GROUP BY high, low HAVING sum(given) = 1 AND min(level) = {EVER}
"""


def compact(store: Store, confidence: float, *, anyway: bool = False) -> bool:
    """Merge the cells of days that are closed, if they are many; whether anything was merged."""
    with store.transaction(write=True) as connection:
        _add_up_waiting(connection)
        last = fetch_value(connection, "SELECT max(last_day) FROM batches")
        if last is None:
            return False
        latest = min(last, int(to_days(None, 1)[0]))  # a clock that is wrong once closes no day
        # Only if the cells of closed days are as many as half of those that were merged before, or more.
        closed = f"level = 0 AND period < {latest - OPEN_DAYS}"
        query = f"SELECT count(*) FILTER ({closed}), count(*) FILTER (level > 0) FROM cells"
        many, merged = fetch_lines(connection, query)[0]
        if not anyway and many <= max(_FEW, merged // 2):
            return False
        grouped = setting(connection, "by") != "[]"
        days = open_days(connection, confidence, grouped=grouped, before=latest - OPEN_DAYS)
        lines = [(day, code, *measures(told), confidence) for (day, code), told in days]
        if not lines:
            return False
        _merge(connection, latest, lines)
        _forget(connection)
        _keep_few_names(connection)
    return True


def _merge(connection: Any, latest: int, lines: list[tuple[Any, ...]]) -> None:
    """Keep the measures of closed days, and merge their cells into those of months."""
    names = ("day", "grp", "n", "agreeing", "unverifiable", "explanations", "low", "high", "confidence")
    columns = {name: [line[j] for line in lines] for j, name in enumerate(names)}
    insert(connection, "INSERT INTO days SELECT * FROM telling", columns)
    held = fetch_lines(connection, "SELECT DISTINCT level, period FROM cells")
    begun = origin(connection)
    assert begun is not None
    moved = [(level, period, *_place(level, period, begun, latest)) for level, period in held]
    places = {name: [line[j] for line in moved] for j, name in enumerate(("old_level", "old", "level", "period"))}
    with registered(connection, "places", places):
        connection.execute(_MERGED)


def _place(level: int, period: int, begun: int, latest: int) -> tuple[int, int]:
    """Where cells of a level and period belong: they stay, or are merged with those of their week, month, or of all."""
    if level == EVER or (level == 0 and period >= latest - OPEN_DAYS):
        return level, period
    if months(period, latest) > OPEN_MONTHS and period >= begun + FIRST_DAYS:
        return EVER, 0
    return MONTH, block_start(period, begun)


def _forget(connection: Any) -> None:
    """Forget explanations that came once, more than a year ago, if all do not fit: they count as unverifiable.

    Rows under scopes are never forgotten: they are few patterns, and each counts for every scope that it lies in.
    """
    few = fetch_value(connection, "SELECT count(*) FROM cells") <= MOST_CELLS
    if few or setting(connection, "scopes") is not None:
        return
    connection.execute(_LONE)
    connection.execute("INSERT INTO forgotten SELECT grp, label, count(*) FROM lone GROUP BY ALL")
    for table in ("cells", "waiting"):
        connection.execute(f"DELETE FROM {table} WHERE (high, low) IN (SELECT (high, low) FROM lone)")
    connection.execute("DROP TABLE lone")


def _add_up_waiting(connection: Any) -> None:
    """Add up the lines of those who wait, once they are more than twice those of the last time: each add reads them."""
    many, held = "SELECT count(*) FROM waiting", int(setting(connection, "waiting") or 0)
    if fetch_value(connection, many) > 2 * held + _FEW_WAITING:
        connection.execute(_WAITING)
        settle(connection, "waiting", str(fetch_value(connection, many)))


def _keep_few_names(connection: Any) -> None:
    """Keep the names of explanations that disagree most or are the most frequent."""
    if fetch_value(connection, "SELECT count(*) FROM names") > _MOST_NAMES:
        connection.execute(_NAMES)
