"""Results of a part of the paper: numbers beside the printed ones, figures as columns, claims with a verdict."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import faithscope as fs

Setting = Literal["as_defined", "as_run"]
SETTINGS: tuple[Setting, ...] = ("as_defined", "as_run")
ClaimVerdict = Literal["holds", "fails", "undecided"]
NEAR, FAR = 0.02, 0.05  # of the printed number: met, and met to a digit; beyond, a difference needs an explanation
ROUNDING = 0.005  # printed numbers have two digits


@dataclass(frozen=True)
class Record:
    """One number of ours, beside the number that the paper prints, if it prints one.

    Attributes
    ----------
    table : str
        ``table1``, ``figure4``, …, as the paper counts them.
    case : str
        What was measured, as in ``adult sign`` or ``top_coefficient``.
    measure : str
        ``consistency``, ``sufficiency``, ``uniqueness`` (share of rows), ``distinct`` (explanations / rows), …
    setting : {"as_defined", "as_run"}
        The paper's definitions with our defaults, or what comes nearest to what its authors seem to have run.
    n : int
        Rows behind the number.
    ours : float or None
        None if it could not be measured; `note` then says why.
    low, high, unverifiable, chance : float or None
        The interval for the true measure, the share of rows on which the sample is silent, and the chance level.
    repeats, std : int, float or None
        How many samples of rows `ours` is the mean of, and their standard deviation.
    note : str
        Why ours differs from the printed number, if that is known; ``unexplained`` if it is not. A verdict comes first:
        ``explained: …``, ``likely: …``, ``partly: …``, ``open: …``.
    lowest, highest, draws : float, float, int or None
        Least and greatest number over so many plausible draws, ours among them; None if no range was computed. Without
        a number of draws, what 95% of all runs would count.
    hangs_on : str
        What is drawn, if the number hangs on a draw that the paper does not tell: such as the split.
    """

    table: str
    case: str
    measure: str
    setting: Setting
    n: int
    ours: float | None
    printed: float | None = None
    low: float | None = None
    high: float | None = None
    unverifiable: float | None = None
    chance: float | None = None
    repeats: int = 1
    std: float | None = None
    note: str = ""
    lowest: float | None = None
    highest: float | None = None
    draws: int | None = None
    hangs_on: str = ""

    @property
    def draws_told(self) -> str:
        """What the range is over."""
        return "95% of runs" if self.draws is None else f"{self.draws} draws"

    @property
    def in_range(self) -> bool:
        """Whether the printed number, which has two digits, lies in the range over plausible draws."""
        if self.lowest is None or self.highest is None or self.printed is None:
            return False
        return self.lowest - ROUNDING <= self.printed <= self.highest + ROUNDING

    @property
    def off(self) -> float | None:
        """How far ours is from the printed number; None if either is missing.

        Shares are compared by their difference, numbers above 1 (rows, counts) by their relative difference.
        """
        if self.ours is None or self.printed is None:
            return None
        return abs(self.ours - self.printed) / max(1.0, abs(self.printed))


@dataclass(frozen=True)
class Claim:
    """A claim of the paper's in words, and whether our numbers bear it out; undecided until it is tested.

    Attributes
    ----------
    table, setting : str
        Whose numbers were looked at.
    words : str
        The claim.
    verdict : {"holds", "fails", "undecided"}
    test : str
        What was computed, in words.
    p, low, high : float or None
        The p-value or the interval that decided on the claim.
    """

    table: str
    setting: Setting
    words: str
    verdict: ClaimVerdict = "undecided"
    test: str = ""
    p: float | None = None
    low: float | None = None
    high: float | None = None
    note: str = ""


@dataclass(frozen=True)
class Figure:
    """Curves as plain columns, one entry per point.

    Attributes
    ----------
    name, title, x, y : str
        What the figure and its axes are called; `name` is unique, such as ``figure6-chess``.
    columns : mapping of str to list
        ``curve`` (its name in the legend), ``x``, ``y``, and the band ``low``, ``high`` (None without a band).
    log : bool
        Whether the x axis is logarithmic.
    bars : bool
        Whether each point is a bar, since places on the x axis have no order that a line could follow.
    """

    name: str
    title: str
    x: str
    y: str
    columns: Mapping[str, list[Any]]
    log: bool = False
    bars: bool = False


@dataclass(frozen=True)
class Step:
    """A step of a run: how long it took, when it ended (UTC), and whether an earlier run had kept it."""

    name: str
    seconds: float
    when: str = ""
    kept: bool = False


@dataclass(frozen=True)
class Outcome:
    """Results of a part of the paper, or of a step of it; outcomes add."""

    records: tuple[Record, ...] = ()
    figures: tuple[Figure, ...] = ()
    claims: tuple[Claim, ...] = ()
    seconds: float = 0.0
    notes: tuple[str, ...] = field(default=())
    steps: tuple[Step, ...] = ()

    def __add__(self, other: "Outcome") -> "Outcome":
        """The results of both, one after the other."""
        return Outcome(
            self.records + other.records,
            self.figures + other.figures,
            self.claims + other.claims,
            self.seconds + other.seconds,
            self.notes + other.notes,
            self.steps + other.steps,
        )

    def to_dict(self) -> dict[str, Any]:
        """The outcome as plain values, ready for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Outcome":
        """An outcome from what `to_dict` gave."""
        return cls(
            tuple(Record(**record) for record in values["records"]),
            tuple(Figure(**figure) for figure in values["figures"]),
            tuple(Claim(**claim) for claim in values["claims"]),
            float(values["seconds"]),
            tuple(values["notes"]),
            tuple(Step(**step) for step in values["steps"]),
        )


def total(outcomes: Iterable[Outcome]) -> Outcome:
    """All outcomes as one."""
    return sum(outcomes, start=Outcome())


def record_of(estimate: fs.Estimate, like: Record) -> Record:
    """A record with the numbers of an estimate; table, case, setting, printed and note are those of `like`."""
    return replace(
        like,
        n=estimate.n,
        ours=estimate.value,
        low=estimate.low,
        high=estimate.high,
        unverifiable=estimate.unverifiable,
        chance=estimate.chance,
    )
