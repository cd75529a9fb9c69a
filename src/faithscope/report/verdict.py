"""The verdict: one sentence in plain words, decided by the interval and by chance."""

import math
from dataclasses import dataclass
from typing import Any, Literal

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
class Verdict:
    """What was found, in a word and in a sentence."""

    level: Level
    sentence: str

    @property
    def word(self) -> str:
        """The level, to read."""
        return WORDS[self.level]


def bar(chance: float, wanted: float = WANTED) -> float:
    """What a faithful explainer reaches: `wanted`, and at least half of what chance leaves open.

    Where nine rows in ten share a prediction, any explanation reaches 0.8; 0.9 would then be little.
    """
    return max(wanted, (1 + chance) / 2)


def level(found: Any, wanted: float = WANTED) -> Level:
    """What an estimate says beside the chance level.

    Low and high count silent rows against and for it, so they are compared with the `bar`; chance is what rows that
    can be checked would reach, so it is agreement among those that is compared with it (`Estimate.above_chance`).

    - faithful: all of [low, high] reaches the bar, which is above chance;
    - unfaithful: all of it is at or below chance, even if every silent row agreed;
    - partly: it is below the bar, and rows that can be checked agree more than chance;
    - chance: they do not, and the interval stays nearer to chance than to the bar;
    - unknown: anything else; and where no row can be checked, or all predictions are the same and anything agrees.
    """
    if found.verified is None or found.chance is None or found.chance >= 1:
        return "unknown"
    reach = bar(found.chance, wanted)
    if found.low >= reach:
        return "faithful"
    if found.high >= reach:
        return "unknown"
    if found.above_chance:
        return "partly"
    if found.high <= found.chance:
        return "unfaithful"
    return "chance" if found.high < (found.chance + reach) / 2 else "unknown"


def judge(estimates: list[Any], needed: dict[str, str], wanted: float = WANTED) -> Verdict:
    """The verdict on an explainer: that of its weakest measure, and in a few words the other one's.

    Parameters
    ----------
    estimates : list of Estimate
        Consistency, and sufficiency where there is one.
    needed : dict of str to str
        For a measure, what more rows would do, in words.
    """
    found = [(level(one, wanted), one) for one in estimates]
    found.sort(key=lambda pair: -LEVELS.index(pair[0]))
    (weakest, first), others = found[0], found[1:]
    sentence = f"{WORDS[weakest]}: {_clause(weakest, first, needed.get(first.measure, ''), wanted)}."
    return Verdict(weakest, " ".join([sentence, *(_aside(found, one, same=found == weakest) for found, one in others)]))


def _clause(found: Level, one: Any, needed: str, wanted: float) -> str:
    subject = _SUBJECT.get(one.measure, f"{one.measure} holds")
    alone = _ALONE.get(one.measure, "that covers no other row")
    if one.verified is None:
        return f"every row has an explanation {alone}, so that nothing can be checked"
    if one.chance is None or one.chance >= 1:
        return "all predictions are the same, so that any explanation would agree"
    chance, between = f"{one.chance:.1%}", f"between {_down(one.low)} and {_up(one.high)}"
    if found == "faithful":
        return f"{subject} at least {_down(one.low)} of the time, where chance alone gives {chance}"
    if found == "unfaithful":
        return f"{subject} at most {_up(one.high)} of the time, no more than chance alone gives, {chance}"
    where = "where it can be checked, " if one.unverifiable else ""
    if found == "chance":
        return f"{where}{subject} {_checked(one)} of the time, and chance alone gives {chance}"
    if found == "partly":
        reach = f"{bar(one.chance, wanted):.0%}"
        overall = (
            f"; over all rows at most {_up(one.high)}, below {reach}" if one.unverifiable else f" but below {reach}"
        )
        return f"{where}{subject} {_checked(one)} of the time, above chance ({chance}){overall}"
    if 2 * one.unverifiable < one.high - one.low:
        return f"the rows are too few to say more than that {subject} {between} of the time (chance: {chance}){needed}"
    silent = f"{one.unverifiable:.0%} of the rows have an explanation {alone}"
    return f"{silent}, so that the truth is {between} (chance: {chance}){needed}"


def _checked(one: Any) -> str:
    """The interval that is compared with chance: among the rows that can be checked."""
    return f"between {_down(one.verified_low)} and {_up(one.verified_high if one.unverifiable else one.high)}"


def _aside(found: Level, one: Any, *, same: bool) -> str:
    """The measure that did not decide, in a few words."""
    if found == "unknown" and (one.verified is None or one.chance is None or one.chance >= 1):
        bounds = "nothing can be checked"
    elif found == "faithful":
        bounds = f"at least {_down(one.low)}"
    elif found == "unfaithful":
        bounds = f"at most {_up(one.high)}"
    elif found == "unknown":
        bounds = f"between {_down(one.low)} and {_up(one.high)}"
    else:
        bounds = f"{_checked(one)}{' where it can be checked' if one.unverifiable else ''}"
    alone = f"By {one.measure} alone: {WORDS[found].lower()}, {bounds}."
    return f"{one.measure.capitalize()} likewise: {bounds}." if same else alone


def _down(share: float) -> str:
    """A lower bound, never said higher than it is."""
    return f"{math.floor(share * 1000) / 10:.1f}%"


def _up(share: float) -> str:
    """An upper bound, never said lower than it is."""
    return f"{math.ceil(share * 1000) / 10:.1f}%"
