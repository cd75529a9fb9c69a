"""Reasons in words that name a label, as a report shows them."""

from dataclasses import dataclass

from faithscope.measures.estimate import Estimate
from faithscope.report.missing import Missing, attempt
from faithscope.report.result import ExplainerResult
from faithscope.report.wording import plain, wording
from faithscope.rounding import down, up

_MOST_WORDS = 8


@dataclass(frozen=True)
class Leaking:
    """How many reasons name a label, and their consistency with these words masked.

    Attributes
    ----------
    sentence : str
        How many do, and by how much masking changes the consistency.
    share, low, high, own : float
        Share of reasons with a word of any label, its interval, and the share that names the label of its own row.
    estimates : tuple of (str, Estimate)
        Consistency as given, and masked.
    words : tuple of (str, int)
        The commonest words, with the number of reasons that have them.
    """

    sentence: str
    share: float
    low: float
    high: float
    own: float
    estimates: tuple[tuple[str, Estimate], ...]
    words: tuple[tuple[str, int], ...]

    @classmethod
    def of(cls, result: ExplainerResult) -> "tuple[Leaking | None, tuple[Missing, ...]]":
        """What leaks in a result; None if its explanations are no reasons in words, or no word names a label."""
        leak, missing = attempt("leakage", "consistency", result._leakage)
        if leak is None:
            return None, missing
        apart = leak.difference
        margin = f"{down(apart.low, 2, signed=True)} and {up(apart.high, 2, signed=True)}"
        names = f"{leak.share:.1%} of reasons name a label, {leak.own:.1%} that of their own row"
        sentence = f"{names}. As given less masked, consistency is {apart.value:+.3f} (between {margin})."
        words = tuple((wording(word), n) for word, n in leak.words[:_MOST_WORDS])
        estimates = (("as given", leak.consistency), ("labels masked", leak.masked))
        share, low, high, own = map(plain, (leak.share, leak.low, leak.high, leak.own))
        return cls(sentence, share, low, high, own, estimates, words), ()
