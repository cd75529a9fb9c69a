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


def level(low: float, high: float, verified: float | None, chance: float | None, wanted: float = WANTED) -> Level:
    """What an interval [low, high] for the true measure says beside the chance level.

    - faithful: all of it reaches the `bar`, which is above chance;
    - unfaithful: all of it is at or below chance;
    - partly: all of it is above chance and below the bar;
    - chance: it holds chance, and stays nearer to it than to the bar;
    - unknown: anything else; and where no row can be checked, or all predictions are the same and anything agrees.
    """
    if verified is None or chance is None or chance >= 1:
        return "unknown"
    reach = bar(chance, wanted)
    if low >= reach:
        return "faithful"
    if high >= reach:
        return "unknown"
    if high <= chance:
        return "unfaithful"
    if low > chance:
        return "partly"
    return "chance" if high < (chance + reach) / 2 else "unknown"


def judge(estimates: list[Any], needed: dict[str, str], wanted: float = WANTED) -> Verdict:
    """The verdict on an explainer: that of its weakest measure, and in a few words the other one's.

    Parameters
    ----------
    estimates : list of Estimate
        Consistency, and sufficiency where there is one.
    needed : dict of str to str
        For a measure, what more rows would do, in words.
    """
    found = [(level(one.low, one.high, one.verified, one.chance, wanted), one) for one in estimates]
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
    if found == "chance":
        return f"{subject} {between} of the time, and chance alone gives {chance}"
    if found == "partly":
        return f"{subject} {between} of the time, above chance ({chance}) but below {bar(one.chance, wanted):.0%}"
    if 2 * one.unverifiable < one.high - one.low:
        return f"the rows are too few to say more than that {subject} {between} of the time (chance: {chance}){needed}"
    silent = f"{one.unverifiable:.0%} of the rows have an explanation {alone}"
    return f"{silent}, so that the truth is {between} (chance: {chance}){needed}"


def _aside(found: Level, one: Any, *, same: bool) -> str:
    """The measure that did not decide, in a few words."""
    if found == "unknown" and (one.verified is None or one.chance is None or one.chance >= 1):
        bounds = "nothing can be checked"
    elif found == "faithful":
        bounds = f"at least {_down(one.low)}"
    elif found == "unfaithful":
        bounds = f"at most {_up(one.high)}"
    else:
        bounds = f"between {_down(one.low)} and {_up(one.high)}"
    alone = f"By {one.measure} alone: {WORDS[found].lower()}, {bounds}."
    return f"{one.measure.capitalize()} likewise: {bounds}." if same else alone


def _down(share: float) -> str:
    """A lower bound, never said higher than it is."""
    return f"{math.floor(share * 1000) / 10:.1f}%"


def _up(share: float) -> str:
    """An upper bound, never said lower than it is."""
    return f"{math.ceil(share * 1000) / 10:.1f}%"
