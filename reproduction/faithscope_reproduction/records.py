"""Results of a part of the paper: numbers beside the printed ones, figures as columns, claims with a verdict."""

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Literal

Setting = Literal["as_defined", "as_run"]
SETTINGS: tuple[Setting, ...] = ("as_defined", "as_run")
ClaimVerdict = Literal["holds", "fails", "undecided"]
NEAR, FAR = 0.02, 0.05  # of the printed number: met, and met to a digit; beyond, a difference needs an explanation
MET = (f"within {NEAR}", f"within {FAR}", "farther, in range", "outside", "not measured")
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
    lowest, highest : float or None
        Least and greatest number over plausible draws, ours among them; None if no range was computed.
    hangs_on : str
        What is drawn, and how often, if the number hangs on a draw that the paper does not tell: such as the split.
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
    hangs_on: str = ""

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

    @property
    def met(self) -> str:
        """How well the printed number is met: one of `MET`."""
        if self.off is None:
            return MET[-1]
        far = self.off - 1e-9  # a difference of 0.02 is within 0.02, however doubles round it
        return MET[0] if far <= NEAR else MET[1] if far <= FAR else MET[2] if self.in_range else MET[3]


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
    """

    name: str
    title: str
    x: str
    y: str
    columns: Mapping[str, list[Any]]


@dataclass(frozen=True)
class Step:
    """A step of a run: how long it took, and when it ended (UTC)."""

    name: str
    seconds: float
    when: str


@dataclass(frozen=True)
class Outcome:
    """Results of a part of the paper, or of a step of it; outcomes add."""

    records: tuple[Record, ...] = ()
    figures: tuple[Figure, ...] = ()
    claims: tuple[Claim, ...] = ()
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()

    def __add__(self, other: "Outcome") -> "Outcome":
        """The results of both, one after the other."""
        return Outcome(**{name: mine + getattr(other, name) for name, mine in vars(self).items()})

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Outcome":
        """An outcome from what `asdict` gave."""
        kinds = {"records": Record, "figures": Figure, "claims": Claim, "steps": Step}
        made = {name: tuple(kind(**each) for each in values[name]) for name, kind in kinds.items()}
        return cls(**made, seconds=values["seconds"], notes=tuple(values["notes"]))


Compute = Callable[..., Outcome]  # a step of a part, given settings last
Begun = Future[Outcome]


def total(outcomes: Iterable[Outcome | Begun]) -> Outcome:
    """All outcomes as one; all steps are begun before the first is waited for."""
    ended = (outcome.result() if isinstance(outcome, Future) else outcome for outcome in list(outcomes))
    return sum(ended, start=Outcome())
