"""The summary of a run: how many printed numbers are met, line by line and table by table."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from faithscope_reproduction.records import FAR, NEAR, ROUNDING, SETTINGS, Claim, Record, Setting
from faithscope_reproduction.running import Part


@dataclass(frozen=True)
class Match:
    """How many of a table's printed numbers are met under one setting.

    Attributes
    ----------
    near, far, covered, off : int
        Numbers within 0.02 of the printed one, farther but within 0.05; of those that are farther still, how many have
        the printed one in their range over plausible draws, and how many have not.
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
    covered: int
    off: int
    missing: int
    inside: int
    with_interval: int
    error: float | None

    @property
    def printed(self) -> int:
        """Printed numbers in all."""
        return self.near + self.far + self.covered + self.off + self.missing


def matches(parts: Iterable[Part]) -> list[Match]:
    """One match per table and setting that has printed numbers, and one for all tables together."""
    records = [record for part in parts for record in part.outcome.records if record.printed is not None]
    tables = list(dict.fromkeys(record.table for record in records))
    every = [_match(table, setting, records) for table in [*tables, "all"] for setting in SETTINGS]
    return [match for match in every if match.printed]


def _match(table: str, setting: Setting, records: Sequence[Record]) -> Match:
    chosen = [record for record in records if record.setting == setting and table in (record.table, "all")]
    # A difference of 0.02 is within 0.02, however doubles round it.
    off = [(max(0.0, record.off - 1e-9), record) for record in chosen if record.off is not None]
    near = sum(gap <= NEAR for gap, _ in off)
    far = sum(NEAR < gap <= FAR for gap, _ in off)
    covered = sum(gap > FAR and record.in_range for gap, record in off)
    sure = [record for record in chosen if record.low is not None and record.high is not None]
    inside = sum(_inside(record) for record in sure)
    shares = [record.off for record in chosen if record.off is not None and (record.printed or 0.0) <= 1]
    error = sum(shares) / len(shares) if shares else None
    outside, missing = len(off) - near - far - covered, len(chosen) - len(off)
    return Match(table, setting, near, far, covered, outside, missing, inside, len(sure), error)


def _inside(record: Record) -> bool:
    low, high, known = record.low or 0.0, record.high or 0.0, record.printed or 0.0
    return low - ROUNDING <= known <= high + ROUNDING


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
        """Notes on either number, each once."""
        return list(
            dict.fromkeys(record.note for record in (self.defined, self.run) if record is not None and record.note)
        )


def lines(records: Iterable[Record]) -> list[Line]:
    """Records side by side, in the order in which each number first appears."""
    pairs: dict[tuple[str, str], dict[Setting, Record]] = {}
    for record in records:
        pairs.setdefault((record.case, record.measure), {})[record.setting] = record
    return [_line(case, measure, both) for (case, measure), both in pairs.items()]


def _line(case: str, measure: str, both: dict[Setting, Record]) -> Line:
    printed = next((record.printed for record in both.values() if record.printed is not None), None)
    return Line(case, measure, printed, both.get("as_defined"), both.get("as_run"))


COLUMNS = (
    "case",
    "measure",
    "printed",
    "as run",
    "± std",
    "range",
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
        *(("", "", "", "") if run is None else (number(run.ours, 3), spread, _range(run), f"{run.n:,}")),
        "" if defined is None else number(defined.ours, 3),
        limits,
        "" if defined is None or defined.unverifiable is None else f"{defined.unverifiable:.0%}",
        "" if defined is None else number(defined.chance),
        "" if defined is None else f"{defined.n:,}",
    )


def _range(record: Record) -> str:
    if record.lowest is None:
        return ""
    return f"{number(record.lowest)} to {number(record.highest)} ({record.draws_told})"


def number(value: float | None, digits: int = 2) -> str:
    """A share with `digits` digits, a count with none; an empty text for None."""
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
        "farther, in range",
        "outside",
        "not measured",
        "mean error of shares",
    ),
    "in our interval",
)


def match_cells(match: Match) -> tuple[str, ...]:
    """A match as texts, under `MATCHES`."""
    counts = (match.printed, match.near, match.far, match.covered, match.off, match.missing)
    inside = f"{match.inside} of {match.with_interval}" if match.with_interval else ""
    return (match.table, match.setting.replace("_", " "), *map(str, counts), number(match.error, 3), inside)


def decided_by(claim: Claim) -> str:
    """The p-value or the interval that decided on a claim."""
    if claim.p is not None:
        return f"p = {claim.p:.2g}"
    return "" if claim.low is None or claim.high is None else f"{_signed(claim.low)} to {_signed(claim.high)}"


def _signed(value: float) -> str:
    return f"{value:+.3f}" if abs(value) <= 1 else f"{value:+,.0f}"


def spoken(seconds: float) -> str:
    """A duration in seconds, minutes or hours."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"
