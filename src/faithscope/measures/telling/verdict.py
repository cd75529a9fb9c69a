"""The verdict: one sentence in plain words, decided by the interval and by chance."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, cast

from faithscope.agreements import Agreement, Spread
from faithscope.inputs.repeats import TOO_HIGH
from faithscope.measures.estimate import Estimate
from faithscope.measures.notes.intervals import MAY_MISS, may_miss
from faithscope.measures.notes.restatement import NO_MERIT, RESTATE
from faithscope.measures.numbers.words import agreeing, named, told_number
from faithscope.measures.telling.rounding import percent_down, percent_up

Level = Literal["faithful", "unknown", "partly", "chance", "unfaithful"]

# From best to worst: an explainer is as faithful as its weakest measure.
LEVELS: tuple[Level, ...] = ("faithful", "unknown", "partly", "chance", "unfaithful")
# As explainers are listed: what is known to be good in part stands before what is not known.
READING_ORDER: tuple[Level, ...] = ("faithful", "partly", "unknown", "chance", "unfaithful")
WORDS: dict[Level, str] = {
    "faithful": "Faithful",
    "unknown": "Cannot tell yet",
    "partly": "Partly faithful",
    "chance": "No better than chance",
    "unfaithful": "Unfaithful",
}
WANTED = 0.9
_SUBJECT = {
    "consistency": "rows with the same explanation",
    "sufficiency": "rows to which an explanation applies",
}
_DOUBTFUL = (TOO_HIGH, NO_MERIT, RESTATE, MAY_MISS)  # what such notes say
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


def doubts(notes: Iterable[str]) -> tuple[str, ...]:
    """The notes by which explanations may look more faithful than they are, each once.

    An assumption or the interval may not hold, or explanations may restate the prediction.
    """
    return tuple(dict.fromkeys(note for note in notes if any(words in note for words in _DOUBTFUL)))


def with_doubts(verdict: ExplainerVerdict, doubted: Iterable[str]) -> str:
    """The sentence of a verdict, and what makes one doubt it."""
    return " ".join([verdict.sentence, *(f"Read with care: {doubt}." for doubt in doubted)])


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

    `low` and `high` allow for silent rows, so they are compared with the `bar`; whether it is reached is asked of one
    end only, so of `Estimate.limit`.
    Chance is what the rows that can be checked would reach, so their agreement alone is compared with it
    (`Estimate.above_chance`).

    - faithful: all of it reaches the bar, which is above chance;
    - unfaithful: all of it is at or below chance, even if every silent row agreed;
    - partly: it is below the bar, and rows that can be checked agree more than chance;
    - chance: they do not, and the interval stays nearer to chance than to the bar;
    - unknown: anything else; also if no row can be checked, if all predictions are the same and anything agrees, or if
      a note says that the interval may miss the truth.
    """
    if why_unknown(estimate):
        return "unknown"
    chance = cast(float, estimate.chance)
    threshold = bar(chance, wanted)
    if estimate.limit >= threshold:
        return "faithful"
    if estimate.high >= threshold:
        return "unknown"
    if estimate.above_chance:
        return "partly"
    if estimate.high <= chance:
        return "unfaithful"
    return "chance" if estimate.high < (chance + threshold) / 2 else "unknown"


def judge(estimates: list[Estimate], needed: dict[str, str], wanted: float = WANTED) -> ExplainerVerdict:
    """The verdict on an explainer: that of its weakest measure, and in a few words the other one's.

    Parameters
    ----------
    estimates : list of Estimate
        Consistency, and sufficiency if it was measured.
    needed : dict of str to str
        Per measure, what more rows would do, in words.
    """
    (weakest, measured), *others = weakest_first(estimates, wanted)
    sentence = f"{WORDS[weakest]}: {_clause(weakest, measured, needed.get(measured.measure, ''), wanted)}."
    sentence += _gap(measured)
    asides = [_aside(reached, estimate, same=reached == weakest) for reached, estimate in others]
    return ExplainerVerdict(weakest, " ".join([sentence, *asides]))


def weakest_first(estimates: Iterable[Estimate], wanted: float = WANTED) -> list[tuple[Level, Estimate]]:
    """The estimates with what each says: the first of them decides the verdict."""
    judged = [(level(estimate, wanted), estimate) for estimate in estimates]
    return sorted(judged, key=lambda pair: -LEVELS.index(pair[0]))


def why_unknown(estimate: Estimate) -> str:
    """Why nothing at all can be said, in words that follow a colon; empty if something can."""
    if estimate.verified is None:
        return f"every row has an explanation {_alone(estimate)}, so that nothing can be checked"
    if estimate.chance is None or estimate.chance >= 1:
        return _all_agree(estimate.agreement)
    return MAY_MISS if may_miss(estimate.notes) else ""


def mostly_silent(estimate: Estimate) -> bool:
    """Whether silent rows, and not the number of rows, make up most of the interval."""
    return 2 * (estimate.bracket[1] - estimate.bracket[0]) >= estimate.high - estimate.low


def silent_rows(estimate: Estimate) -> str:
    """How many rows are silent, and why, as the beginning of a sentence."""
    return f"{estimate.unverifiable:.0%} of the rows have an explanation {_alone(estimate)}"


def _alone(estimate: Estimate) -> str:
    if estimate.population is not None:
        return "that leaves no draw"
    return _ALONE.get(estimate.measure, "that covers no other row")


def _clause(reached: Level, estimate: Estimate, needed: str, wanted: float) -> str:
    unknown = why_unknown(estimate)
    if unknown:
        return unknown
    chance, between = f"{cast(float, estimate.chance):.1%}", _between(estimate.low, estimate.high)
    if reached == "faithful":
        return f"{_holds(estimate, f'at least {percent_down(estimate.limit)}')}, while chance alone gives {chance}"
    if reached == "unfaithful":
        most = _holds(estimate, f"at most {percent_up(estimate.high)}")
        return f"{most}, no more than chance alone gives, {chance}"
    where = "where it can be checked, " if estimate.unverifiable else ""
    if reached == "chance":
        return f"{where}{_holds(estimate, _checked(estimate))}, and chance alone gives {chance}"
    if reached == "partly":
        threshold = f"{bar(cast(float, estimate.chance), wanted):.0%}"
        overall = (
            f"; over all rows at most {percent_up(estimate.high)}, below {threshold}"
            if estimate.unverifiable
            else f" but below {threshold}"
        )
        return f"{where}{_holds(estimate, _checked(estimate))}, above chance ({chance}){overall}"
    if not mostly_silent(estimate):
        asked = bar(cast(float, estimate.chance), wanted)
        what = f"whether {asked:.0%} is reached:" if estimate.limit < asked <= estimate.high else "more than that"
        return f"the rows are too few to say {what} {_holds(estimate, between)} (chance: {chance}){needed}"
    truth = "share of the variance accounted for" if isinstance(estimate.agreement, Spread) else "truth"
    return f"{silent_rows(estimate)}, so that the {truth} is {between} (chance: {chance}){needed}"


def _holds(estimate: Estimate, share: str) -> str:
    """What the measure says, with a share in words such as "at least 90.0%"."""
    if isinstance(estimate.agreement, Spread):
        where = " where they apply" if estimate.measure == "sufficiency" else ""
        return f"explanations account for {share} of the variance of the predictions{where}"
    subject = _SUBJECT.get(estimate.measure)
    if estimate.population is not None:
        subject = "a row and the draws that keep its explanation"
    if subject is None:
        return f"{estimate.measure} holds {share} of the time"
    return f"{subject} are {agreeing(estimate.agreement, share)}"


def _all_agree(agreement: Agreement) -> str:
    if not agreement.of_numbers:
        return "all predictions are the same, so that any explanation would agree"
    return f"all predictions agree with each other by {named(agreement)}, so that any explanation would"


def _gap(estimate: Estimate) -> str:
    """How far predictions are typically apart, as a sentence; empty if that is not known."""
    if estimate.gap is None:
        return ""
    rows = "rows with the same explanation" if estimate.measure != "sufficiency" else "rows that an explanation covers"
    return f" Two {rows} are typically predicted {told_number(estimate.gap)} apart."


def _checked(estimate: Estimate) -> str:
    """The interval that is compared with chance: among the rows that can be checked."""
    low, high = cast(tuple[float, float], (estimate.verified_low, estimate.verified_high))  # known if `verified` is
    return _between(low, high if estimate.unverifiable else estimate.high)


def _between(low: float, high: float) -> str:
    return f"between {percent_down(low)} and {percent_up(high)}"


def _aside(reached: Level, estimate: Estimate, *, same: bool) -> str:
    """The measure that did not decide, in a few words."""
    if reached == "unknown" and why_unknown(estimate):
        bounds = MAY_MISS if may_miss(estimate.notes) else "nothing can be checked"
    elif reached == "faithful":
        bounds = f"at least {percent_down(estimate.limit)}"
    elif reached == "unfaithful":
        bounds = f"at most {percent_up(estimate.high)}"
    elif reached == "unknown":
        bounds = _between(estimate.low, estimate.high)
    else:
        bounds = f"{_checked(estimate)}{' where it can be checked' if estimate.unverifiable else ''}"
    alone = f"By {estimate.measure} alone: {WORDS[reached].lower()}, {bounds}."
    return f"{estimate.measure.capitalize()} likewise: {bounds}." if same else alone
