"""The summary of a run: how many printed numbers are met, line by line and table by table."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from faithscope.reproduce.records import SETTINGS, Claim, Record, Setting
from faithscope.reproduce.running import Part

NEAR, FAR = 0.02, 0.05
_ROUNDING = 0.005  # printed numbers have two digits


@dataclass(frozen=True)
class Match:
    """How many of a table's printed numbers are met under one setting.

    Attributes
    ----------
    near, far, off : int
        Within 0.02 of the printed number, beyond that but within 0.05, farther.
    missing : int
        Printed, but not measured.
    inside : int
        Printed numbers that lie in our interval for the true measure, among those `with_interval`.
    error : float or None
        The mean absolute difference of shares; counts have none.
    """

    table: str
    setting: Setting
    near: int
    far: int
    off: int
    missing: int
    inside: int
    with_interval: int
    error: float | None

    @property
    def printed(self) -> int:
        """Printed numbers in all."""
        return self.near + self.far + self.off + self.missing


def matches(parts: Iterable[Part]) -> list[Match]:
    """One line a table and setting that has printed numbers, and one for all tables together."""
    records = [one for part in parts for one in part.outcome.records if one.printed is not None]
    tables = list(dict.fromkeys(one.table for one in records))
    every = [_match(table, setting, records) for table in [*tables, "all"] for setting in SETTINGS]
    return [one for one in every if one.printed]


def _match(table: str, setting: Setting, records: Sequence[Record]) -> Match:
    some = [one for one in records if one.setting == setting and table in (one.table, "all")]
    # A difference of 0.02 is within 0.02, however doubles round it.
    off = [max(0.0, one.off - 1e-9) for one in some if one.off is not None]
    near = sum(one <= NEAR for one in off)
    far = sum(NEAR < one <= FAR for one in off)
    sure = [one for one in some if one.low is not None and one.high is not None]
    inside = sum(_inside(one) for one in sure)
    shares = [one.off for one in some if one.off is not None and (one.printed or 0.0) <= 1]
    error = sum(shares) / len(shares) if shares else None
    return Match(table, setting, near, far, len(off) - near - far, len(some) - len(off), inside, len(sure), error)


def _inside(one: Record) -> bool:
    low, high, known = one.low or 0.0, one.high or 0.0, one.printed or 0.0
    return low - _ROUNDING <= known <= high + _ROUNDING


@dataclass(frozen=True)
class Line:
    """One number of the paper under both settings, side by side."""

    case: str
    measure: str
    printed: float | None
    defined: Record | None
    run: Record | None

    @property
    def notes(self) -> list[str]:
        """What is said about either number."""
        return list(dict.fromkeys(one.note for one in (self.defined, self.run) if one is not None and one.note))


def lines(records: Iterable[Record]) -> list[Line]:
    """Records side by side, in the order in which each number first appears."""
    pairs: dict[tuple[str, str], dict[Setting, Record]] = {}
    for one in records:
        pairs.setdefault((one.case, one.measure), {})[one.setting] = one
    return [_line(case, measure, both) for (case, measure), both in pairs.items()]


def _line(case: str, measure: str, both: dict[Setting, Record]) -> Line:
    printed = next((one.printed for one in both.values() if one.printed is not None), None)
    return Line(case, measure, printed, both.get("as_defined"), both.get("as_run"))


COLUMNS = (
    "case",
    "measure",
    "printed",
    "as run",
    "± std",
    "n",
    "as defined",
    "95% interval",
    "unverifiable",
    "chance",
    "n ",
)


def cells(line: Line) -> tuple[str, ...]:
    """A line as texts, under `COLUMNS`."""
    run, defined = line.run, line.defined
    spread = "" if run is None or run.std is None else number(run.std, 3)
    limits = "" if defined is None or defined.low is None else f"{number(defined.low)} to {number(defined.high)}"
    return (
        line.case,
        line.measure.replace("_", " "),
        number(line.printed),
        *(("", "", "") if run is None else (number(run.ours, 3), spread, f"{run.n:,}")),
        "" if defined is None else number(defined.ours, 3),
        limits,
        "" if defined is None or defined.unverifiable is None else f"{defined.unverifiable:.0%}",
        "" if defined is None else number(defined.chance),
        "" if defined is None else f"{defined.n:,}",
    )


def number(value: float | None, digits: int = 2) -> str:
    """A share with some digits, a count with none; nothing for nothing."""
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) > 1 else f"{value:.{digits}f}"


MATCHES = (
    *(
        "table",
        "setting",
        "printed",
        f"within {NEAR}",
        f"within {FAR}",
        "farther",
        "not measured",
        "mean error of shares",
    ),
    "in our interval",
)


def match_cells(one: Match) -> tuple[str, ...]:
    """A match as texts, under `MATCHES`."""
    counts = (one.printed, one.near, one.far, one.off, one.missing)
    inside = f"{one.inside} of {one.with_interval}" if one.with_interval else ""
    return (one.table, one.setting.replace("_", " "), *map(str, counts), number(one.error, 3), inside)


def found(one: Claim) -> str:
    """What decided on a claim: a p-value or an interval."""
    if one.p is not None:
        return f"p = {one.p:.2g}"
    return "" if one.low is None or one.high is None else f"{_signed(one.low)} to {_signed(one.high)}"


def _signed(value: float) -> str:
    return f"{value:+.3f}" if abs(value) <= 1 else f"{value:+,.0f}"


def spoken(seconds: float) -> str:
    """A time as people say it."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"
