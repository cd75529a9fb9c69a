"""Faithfulness over time: an estimate a window, and whether it differs from the reference."""

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from faithscope.errors import BadInput
from faithscope.inputs.frames import frame
from faithscope.measures.estimate import Estimate
from faithscope.measures.populations import Difference, difference
from faithscope.tables.engine.missing import is_missing, refuse_missing, scan
from faithscope.tables.engine.moments import DAY, floor_to, refuse_far, seconds
from faithscope.tables.measuring import Measured
from faithscope.visible import visible

if TYPE_CHECKING:
    import pandas as pd

_SECONDS = {"s": 1, "min": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
_MONDAY = 4 * 86400  # the first Monday of 1970 was the fifth of January
_MOST_WINDOWS = 10_000


@dataclass(frozen=True)
class Every:
    """How long a window is: so many seconds, or so many calendar months."""

    word: str
    seconds: int = 0
    months: int = 0

    @classmethod
    def of(cls, word: str) -> "Every":
        """From a word such as 1d, 6h, 30min, 1w or 1mo."""
        found = re.fullmatch(r"([1-9]\d{0,5})(s|min|h|d|w|mo)", word) if isinstance(word, str) else None
        if found is None:
            raise BadInput(f"every must be a number with s, min, h, d, w or mo, such as 1d; got {word!r}.")
        several, unit = int(found[1]), found[2]
        return cls(word, months=several) if unit == "mo" else cls(word, seconds=several * _SECONDS[unit])

    def number(self, moment: Any) -> Any:
        """The number of a moment's window, as an expression."""
        import ibis

        since = seconds(moment)
        if not self.months:
            return floor_to(since - self._origin, self.seconds)
        # By the date, which has no zone: an engine takes the month of a moment in the zone of its session.
        date = ibis.date(1970, 1, 1) + floor_to(since, DAY).as_interval("D")
        return floor_to(date.year().cast("int64") * 12 + date.month().cast("int64") - 1, self.months)

    def start(self, number: int) -> datetime:
        """When a window begins."""
        if self.months:
            year, month = divmod(number * self.months, 12)
            return datetime(year, month + 1, 1)
        return datetime.fromtimestamp(number * self.seconds + self._origin, UTC).replace(tzinfo=None)

    @property
    def _origin(self) -> int:
        return _MONDAY if self.seconds % _SECONDS["w"] == 0 else 0


@dataclass(frozen=True)
class Windows:
    """An estimate for each window of time, and what it is compared with.

    Attributes
    ----------
    estimates : dict of datetime to Estimate
        By the beginning of the window, in order; windows without rows are left out.
    reference : Estimate
        The first window, or another log.
    against : str
        What the reference is called.
    """

    every: str
    estimates: dict[datetime, Estimate]
    reference: Estimate
    against: str

    @property
    def differences(self) -> dict[datetime, Difference]:
        """Each window less the reference, with an interval that carries silence; the reference itself is left out."""
        return {
            start: difference(found, self.reference, (start, self.against))
            for start, found in self.estimates.items()
            if found is not self.reference
        }

    @property
    def changes(self) -> list[datetime]:
        """Windows whose difference from the reference has an interval without zero."""
        return [start for start, found in self.differences.items() if found.differ]

    @property
    def table(self) -> "pd.DataFrame":
        """One line a window; `difference` with its limits is from the reference."""
        names = ("n", "value", "low", "high", "unverifiable", "verified", "chance")
        columns: dict[str, Any] = {"window": list(self.estimates)}
        columns |= {name: [getattr(found, name) for found in self.estimates.values()] for name in names}
        apart = self.differences
        for name, attribute in (("difference", "value"), ("difference_low", "low"), ("difference_high", "high")):
            columns[name] = [getattr(apart[w], attribute) if w in apart else None for w in self.estimates]
        columns["changed"] = [w in apart and apart[w].differ for w in self.estimates]
        return frame(columns)

    def to_dict(self) -> dict[str, Any]:
        """All numbers by window, ready for JSON."""
        apart = self.differences
        lines = [
            {"window": start.isoformat(), **found.to_dict(), "difference": _limits(apart.get(start))}
            for start, found in self.estimates.items()
        ]
        reference = {"name": self.against, **self.reference.to_dict()}
        return {"every": self.every, "reference": reference, "windows": lines}

    def __str__(self) -> str:
        changed = set(self.changes)
        lines = [
            f"{start:%Y-%m-%d %H:%M}  {found}{'  CHANGED from ' + visible(self.against) if start in changed else ''}"
            for start, found in self.estimates.items()
        ]
        return "\n".join(lines)


def _limits(found: Difference | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {"value": found.value, "low": found.low, "high": found.high, "differ": found.differ}


def over_time(measured: Measured, column: str, every: str, reference: Measured | None = None) -> Windows:
    """Consistency in each window of time.

    Parameters
    ----------
    column : str
        Of dates or moments; without a time zone they are taken as they stand, with one as UTC.
    every : str
        How long a window is: 1d, 6h, 30min, 1w (from Monday), 1mo.
    reference : Measured, optional
        Another log to compare with; the first window without one.
    """
    width, source = Every.of(every), measured.log.source
    kind = source.table.schema()[column]
    if not (kind.is_timestamp() or kind.is_date()):
        raise BadInput(f"Column {column!r} holds {kind}, not dates or moments: convert it to a timestamp.")
    seen = scan(source.table, [column])
    refuse_missing(seen, "error" if measured.log.nulls == "error" else "drop")
    refuse_far(source.table, column)
    rows = measured.log.rows({"moment": column})
    table = rows.table.filter(~is_missing(rows.table["moment"]))
    table = table.mutate(window=width.number(table["moment"]))
    found = measured.parts(replace(rows, table=table), ("window",), seen.missing.get(column, 0))
    if len(found) > _MOST_WINDOWS:
        raise BadInput(f"every={every!r} gives {len(found):,} windows: choose a longer one.")
    estimates = {width.start(number): measured.estimate(counts) for number, counts in found.items()}
    first = next(iter(estimates))
    if reference is None:
        return Windows(every, estimates, estimates[first], f"the window of {first:%Y-%m-%d %H:%M}")
    return Windows(every, estimates, reference.consistency, reference.log.source.name)
