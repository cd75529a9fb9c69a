"""Faithfulness over time: one estimate per window, and whether it differs from the reference."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from faithscope.agreements import Spread
from faithscope.card import Table
from faithscope.errors import BadInput
from faithscope.inputs.frames import frame
from faithscope.measures.comparing.differences import COLUMNS, Difference, difference_frame, difference_tables
from faithscope.measures.comparing.groupings import crossed_name
from faithscope.measures.comparing.populations import (
    AMONG,
    BESIDE_REFERENCE,
    BesideDifference,
    Populations,
    difference,
)
from faithscope.measures.estimate import Estimate
from faithscope.measures.telling import Listed, estimate_table, intervals
from faithscope.tables.audited import AuditedLog
from faithscope.tables.engines import (
    DAY,
    Expression,
    floor_to,
    refuse_nested,
    refuse_no_moments,
    scan,
    seconds,
)
from faithscope.visible import visible

if TYPE_CHECKING:
    import pandas as pd

_SECONDS = {"s": 1, "min": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
_MONDAY = 4 * 86400  # the first Monday of 1970 was the fifth of January
_MOST_WINDOWS = 10_000
_MINUTE = "%Y-%m-%d %H:%M"  # how the beginning of a window is written


@dataclass(frozen=True)
class Every:
    """The length of a window: so many seconds, or so many calendar months."""

    word: str
    seconds: int = 0
    months: int = 0
    origin: int = field(default=0, repr=False)  # in seconds since 1970: weeks begin on Mondays

    @classmethod
    def of(cls, word: str) -> "Every":
        """From a word such as 1d, 6h, 30min, 1w or 1mo.

        Examples
        --------
        >>> Every.of("6h")
        Every(word='6h', seconds=21600, months=0)
        """
        parts = re.fullmatch(r"([1-9]\d{0,5})(s|min|h|d|w|mo)", word) if isinstance(word, str) else None
        if parts is None:
            raise BadInput(f"every must be a number with s, min, h, d, w or mo, such as 1d; got {word!r}.")
        number, unit = int(parts[1]), parts[2]
        if unit == "mo":
            return cls(word, months=number)
        length = number * _SECONDS[unit]
        return cls(word, length, origin=0 if length % _SECONDS["w"] else _MONDAY)

    def number(self, moment: Expression) -> Expression:
        """The number of a moment's window, as an expression."""
        import ibis

        since = seconds(moment)
        if not self.months:
            return floor_to(since - self.origin, self.seconds)
        # By the date, which has no zone: DuckDB takes the month of a moment in the zone of its session.
        date = ibis.date(1970, 1, 1) + floor_to(since, DAY).as_interval("D")
        return floor_to(date.year().cast("int64") * 12 + date.month().cast("int64") - 1, self.months)

    def start(self, number: int) -> datetime:
        """When a window begins."""
        if self.months:
            year, month = divmod(number * self.months, 12)
            return datetime(year, month + 1, 1)
        return datetime.fromtimestamp(number * self.seconds + self.origin, UTC).replace(tzinfo=None)


@dataclass(frozen=True, repr=False)
class Windows(Listed):
    """An estimate for each window of time beside the reference, and what it is compared with.

    Beside the reference, rows of a window ask and rows of the reference answer: does a row get the prediction that rows
    with its explanation got then? Differences are those of rows that can be checked, whose explanation the reference
    has. `among` compares rows of a window with each other.

    Attributes
    ----------
    every : str
        The length of a window.
    estimates : dict of datetime to Estimate
        By the beginning of the window, in order; windows without rows are left out.
    reference : Estimate
        The first window, the first few windows together, or another log.
    against : str
        What the reference is called.
    first : int
        How many windows at the beginning are the reference; 0 if it is another log.
    among : Windows or None
        The same windows among themselves. None if these are such, or if `estimates` are.
    by : Populations or None
        Every population in each window, beside everybody, if the audit was asked for populations too.

    Examples
    --------
    >>> import pandas as pd, faithscope as fs
    >>> log = pd.DataFrame({"leaf": [1, 1, 1, 1], "yhat": ["a", "a", "a", "b"]})
    >>> log["day"] = pd.to_datetime(["2026-03-01", "2026-03-01", "2026-03-02", "2026-03-02"])
    >>> windows = fs.audit(log, prediction="yhat", explanation="leaf", time="day").windows
    >>> windows.table()[["n", "value", "difference"]].values.tolist()
    [[2.0, 1.0, nan], [2.0, 0.5, -0.5]]
    """

    every: str
    estimates: dict[datetime, Estimate]
    reference: Estimate
    against: str
    first: int = 0
    among: "Windows | None" = None
    by: Populations | None = None
    _apart: BesideDifference | None = field(default=None, compare=False)

    @cached_property
    def compared(self) -> dict[datetime, Difference]:
        """Each window less the reference, with an interval that carries silence; the reference itself is left out."""
        later = list(enumerate(self.estimates.items()))[self.first :]
        if self._apart is None:
            return {start: difference(each, self.reference, (start, self.against)) for _, (start, each) in later}
        reference = range(self.first) if self.first else [len(self.estimates)]
        return {start: self._apart([number], reference, (start, self.against)) for number, (start, _) in later}

    @property
    def whom(self) -> str:
        """With whom rows of a window are compared."""
        return AMONG if self._apart is None else BESIDE_REFERENCE

    @property
    def changes(self) -> list[datetime]:
        """Windows whose difference from the reference has an interval without zero."""
        return [start for start, change in self.compared.items() if change.differ]

    def table(self) -> "pd.DataFrame":
        """One line per window; `difference` with its limits is from the reference, `differ` if they exclude zero."""
        columns: dict[str, Any] = {"window": list(self.estimates)}
        for name in ("n", "value", "low", "high", "unverifiable", "verified", "chance"):
            columns[name] = [getattr(estimate, name) for estimate in self.estimates.values()]
        changes = [self.compared.get(start) for start in self.estimates]
        for name, attribute in (("difference", "value"), ("difference_low", "low"), ("difference_high", "high")):
            columns[name] = [None if change is None else getattr(change, attribute) for change in changes]
        columns["differ"] = [change is not None and change.differ for change in changes]
        return frame(columns)

    def differences(self, simultaneous: bool = False) -> "pd.DataFrame":
        """One line per window other than the reference: window a less reference b, with its interval.

        Parameters
        ----------
        simultaneous : bool
            By default each interval has the stated confidence by itself: among many windows some will differ by chance,
            and many at once if the reference is odd. If True, all intervals hold together with that confidence
            (Bonferroni), and are wider.
        """
        return difference_frame(list(self.compared.values()), COLUMNS[:-1], simultaneous)  # without `n`

    def to_dict(self) -> dict[str, Any]:
        """All numbers by window, ready for JSON."""
        changes = {start: change.to_dict() for start, change in self.compared.items()}
        lines = [
            {"window": start.isoformat(), **estimate.to_dict(), "difference": changes.get(start)}
            for start, estimate in self.estimates.items()
        ]
        reference = {"name": self.against, **self.reference.to_dict()}
        among = {} if self.among is None else {"among": self.among.to_dict()}
        by = {} if self.by is None else {"by": self.by.to_dict()}
        return {"every": self.every, "reference": reference, "windows": lines, **among, **by}

    def _by_name(self) -> Sequence[tuple[str, Estimate]]:
        return [(f"{start:{_MINUTE}}", estimate) for start, estimate in self.estimates.items()]

    @property
    def _title(self) -> str:
        return f"{self.reference.measure} in windows of {self.every}"

    def _sentences(self) -> Iterable[str]:
        changed = ", ".join(f"{start:{_MINUTE}}" for start in self.changes) or "no window"
        return [f"Changed from {visible(self.against)}: {changed}.", *self._also()]

    def _also(self) -> list[str]:
        """Which windows changed among themselves alone, in a sentence; none if there are none."""
        also = [] if self.among is None else [start for start in self.among.changes if start not in self.changes]
        told = ", ".join(f"{start:{_MINUTE}}" for start in also)
        return [f"Changed {AMONG} alone: {told}."] if also else []

    def __str__(self) -> str:
        return "\n".join([super().__str__(), *self._also()])

    def _tables(self) -> Iterable[Table]:
        lines = [((window, f"{estimate.n:,}"), estimate) for window, estimate in self._by_name()]
        changes = [replace(change, a=f"{start:{_MINUTE}}") for start, change in self.compared.items()]
        table = estimate_table(("window", "rows"), lines, self.whom.capitalize(), below=intervals(self.reference))
        return [table, *difference_tables(changes), *(() if self.among is None else self.among._tables())]

    def _lines(self) -> Sequence[tuple[str, str]]:
        against = dict.fromkeys(self.changes, f"  CHANGED from {visible(self.against)}")
        named = zip(self.estimates, self._by_name(), strict=True)
        return [(name, f"{name}  {each.line}{against.get(start, '')}") for start, (name, each) in named]


def over_time(
    measured: AuditedLog, column: str, width: Every, reference: AuditedLog | int = 1, by: Sequence[str] = ()
) -> Windows:
    """Consistency in each window of time.

    Parameters
    ----------
    column : str
        A column of dates or moments; without a time zone they are taken as they stand, with one as UTC.
    width : Every
        The length of a window.
    reference : AuditedLog or int
        Another log to compare with, or the number of windows at the beginning that are the reference.
    by : sequence of str
        Columns of populations, which are measured in each window too.
    """
    every, source = width.word, measured.source
    refuse_nested(source.table.schema(), [column], "a moment is one value")
    refuse_no_moments(source.table, column)
    scan(source.table, [column], "error" if measured.options.nulls == "error" else "drop")

    def windowed(further: Mapping[str, str] = MappingProxyType({})) -> Any:
        rows = measured.rows({"moment": column, **further}).drop_null("moment")
        return rows.mutate(window=width.number(rows["moment"])).drop("moment")

    cells = measured.fetched(windowed(), ("window",))
    numbers = cells.populations
    if len(numbers) > _MOST_WINDOWS:
        raise BadInput(f"every={every!r} gives {len(numbers):,} windows: choose a longer one.")
    among = measured.among(cells)
    estimates = dict(zip(map(width.start, numbers), among, strict=True))
    starts, first, other = list(estimates), 1, None
    if isinstance(reference, AuditedLog):
        other, first, base, against = reference, 0, reference.consistency, reference.source.name
    elif reference == 1 or len(starts) == 1:
        base, against = among[0], f"the window of {starts[0]:{_MINUTE}}"
    elif reference >= len(starts):
        raise BadInput(f"against={reference} takes all {len(starts)} windows: pass a smaller number of windows.")
    else:
        first, against = reference, f"the first {reference} windows, up to that of {starts[reference - 1]:{_MINUTE}}"
        group = np.maximum(cells.group - (reference - 1), 0)
        base = measured.among(replace(cells, populations=numbers[reference - 1 :], group=group))[0]
    found = Windows(every, estimates, base, against, first)
    beside = None
    if other is not None:
        beside = measured.beside_reference(cells, other)
    elif not isinstance(measured.options.agreement, Spread):  # whose variance is that of all windows
        beside = measured.beside(cells)
    if beside is not None:
        answered = beside.answered_by(range(first) if first else [len(numbers)])
        asking = {start: answered.estimate(number) for number, start in enumerate(estimates)}
        found = replace(found, estimates=asking, among=found, _apart=partial(answered.difference, checked=True))
    if not by:
        return found
    names = {f"p{j}": name for j, name in enumerate(by)}
    measured.refuse_populations(by)
    title = crossed_name([*by, f"windows of {every}"])
    crossed = measured.populations(
        windowed(names), (*names, "window"), title, lambda group: (*group[:-1], width.start(group[-1]))
    )
    return replace(found, by=crossed)
