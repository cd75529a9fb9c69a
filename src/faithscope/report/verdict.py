"""The verdict: one sentence in plain words, decided by the interval and by chance."""

import math
from dataclasses import dataclass
from typing import Literal, cast

from faithscope.measures.estimate import Estimate

Level = Literal["faithful", "unknown", "partly", "chance", "unfaithful"]

# From best to worst: an explainer is as faithful as its weakest measure.
LEVELS: tuple[Level, ...] = ("faithful", "unknown", "partly", "chance", "unfaithful")
WORDS: dict[Level, str] = {
    "faithful": "Faithful",
    "unknown": "Cannot tell yet",
    "partly": "Partly faithful",
    "chance": "No better than chance",
    "unfaithful": "Unfaithful",
}
WANTED = 0.9
_SUBJECT = {
    "consistency": "rows with the same explanation are predicted alike",
    "sufficiency": "rows to which an explanation applies are predicted alike",
}
_ALONE = {"consistency": "that no other row has", "sufficiency": "that applies to no other row"}


@dataclass(frozen=True)
class ExplainerVerdict:
    """How faithful an explainer is, in a word and in a sentence."""

    level: Level
    sentence: str

    @property
    def word(self) -> str:
        """The level as a word to read."""
        return WORDS[self.level]


def bar(chance: float, wanted: float = WANTED) -> float:
    """What a faithful explainer reaches: `wanted`, and at least half of what chance leaves open.

    If nine rows in ten share a prediction, any explanation reaches 0.8; 0.9 would then be little.

    Examples
    --------
    >>> bar(chance=0.5), bar(chance=0.9)
    (0.9, 0.95)
    """
    return max(wanted, (1 + chance) / 2)


def level(estimate: Estimate, wanted: float = WANTED) -> Level:
    """What an estimate says beside the chance level.

    `low` counts every silent row as disagreeing and `high` counts it as agreeing, so both are compared with the `bar`.
    Chance is what the rows that can be checked would reach, so their agreement alone is compared with it
    (`Estimate.above_chance`).

    - faithful: all of [low, high] reaches the bar, which is above chance;
    - unfaithful: all of it is at or below chance, even if every silent row agreed;
    - partly: it is below the bar, and rows that can be checked agree more than chance;
    - chance: they do not, and the interval stays nearer to chance than to the bar;
    - unknown: anything else; also if no row can be checked, or if all predictions are the same and anything agrees.
    """
    if estimate.verified is None or estimate.chance is None or estimate.chance >= 1:
        return "unknown"
    threshold = bar(estimate.chance, wanted)
    if estimate.low >= threshold:
        return "faithful"
    if estimate.high >= threshold:
        return "unknown"
    if estimate.above_chance:
        return "partly"
    if estimate.high <= estimate.chance:
        return "unfaithful"
    return "chance" if estimate.high < (estimate.chance + threshold) / 2 else "unknown"


def judge(estimates: list[Estimate], needed: dict[str, str], wanted: float = WANTED) -> ExplainerVerdict:
    """The verdict on an explainer: that of its weakest measure, and in a few words the other one's.

    Parameters
    ----------
    estimates : list of Estimate
        Consistency, and sufficiency if it was measured.
    needed : dict of str to str
        Per measure, what more rows would do, in words.
    """
    judged = [(level(estimate, wanted), estimate) for estimate in estimates]
    judged.sort(key=lambda pair: -LEVELS.index(pair[0]))
    (weakest, decisive), others = judged[0], judged[1:]
    sentence = f"{WORDS[weakest]}: {_clause(weakest, decisive, needed.get(decisive.measure, ''), wanted)}."
    asides = [_aside(reached, estimate, same=reached == weakest) for reached, estimate in others]
    return ExplainerVerdict(weakest, " ".join([sentence, *asides]))


def _clause(reached: Level, estimate: Estimate, needed: str, wanted: float) -> str:
    subject = _SUBJECT.get(estimate.measure, f"{estimate.measure} holds")
    alone = _ALONE.get(estimate.measure, "that covers no other row")
    if estimate.verified is None:
        return f"every row has an explanation {alone}, so that nothing can be checked"
    if estimate.chance is None or estimate.chance >= 1:
        return "all predictions are the same, so that any explanation would agree"
    chance, between = f"{estimate.chance:.1%}", _between(estimate.low, estimate.high)
    if reached == "faithful":
        return f"{subject} at least {_down(estimate.low)} of the time, while chance alone gives {chance}"
    if reached == "unfaithful":
        return f"{subject} at most {_up(estimate.high)} of the time, no more than chance alone gives, {chance}"
    where = "where it can be checked, " if estimate.unverifiable else ""
    if reached == "chance":
        return f"{where}{subject} {_checked(estimate)} of the time, and chance alone gives {chance}"
    if reached == "partly":
        threshold = f"{bar(estimate.chance, wanted):.0%}"
        overall = (
            f"; over all rows at most {_up(estimate.high)}, below {threshold}"
            if estimate.unverifiable
            else f" but below {threshold}"
        )
        return f"{where}{subject} {_checked(estimate)} of the time, above chance ({chance}){overall}"
    if 2 * estimate.unverifiable < estimate.high - estimate.low:
        return f"the rows are too few to say more than that {subject} {between} of the time (chance: {chance}){needed}"
    silent = f"{estimate.unverifiable:.0%} of the rows have an explanation {alone}"
    return f"{silent}, so that the truth is {between} (chance: {chance}){needed}"


def _checked(estimate: Estimate) -> str:
    """The interval that is compared with chance: among the rows that can be checked."""
    low, high = cast(tuple[float, float], (estimate.verified_low, estimate.verified_high))  # known if `verified` is
    return _between(low, high if estimate.unverifiable else estimate.high)


def _between(low: float, high: float) -> str:
    return f"between {_down(low)} and {_up(high)}"


def _aside(reached: Level, estimate: Estimate, *, same: bool) -> str:
    """The measure that did not decide, in a few words."""
    if reached == "unknown" and (estimate.verified is None or estimate.chance is None or estimate.chance >= 1):
        bounds = "nothing can be checked"
    elif reached == "faithful":
        bounds = f"at least {_down(estimate.low)}"
    elif reached == "unfaithful":
        bounds = f"at most {_up(estimate.high)}"
    elif reached == "unknown":
        bounds = _between(estimate.low, estimate.high)
    else:
        bounds = f"{_checked(estimate)}{' where it can be checked' if estimate.unverifiable else ''}"
    alone = f"By {estimate.measure} alone: {WORDS[reached].lower()}, {bounds}."
    return f"{estimate.measure.capitalize()} likewise: {bounds}." if same else alone


def _down(share: float) -> str:
    """A lower bound, never said higher than it is."""
    return f"{math.floor(share * 1000) / 10:.1f}%"


def _up(share: float) -> str:
    """An upper bound, never said lower than it is."""
    return f"{math.ceil(share * 1000) / 10:.1f}%"
