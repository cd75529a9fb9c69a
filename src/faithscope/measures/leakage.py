"""Leakage: do reasons name the answer, and how consistent are they without the names of the answers?"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from faithscope.card import Table
from faithscope.discretizers import Discretize, to_discretizer
from faithscope.discretizers.base import steps
from faithscope.errors import BadInput, WrongType
from faithscope.explanations.keys import Plain, Records
from faithscope.explanations.reasons import Reasons
from faithscope.inputs.arrays import to_items
from faithscope.measures.comparing.differences import Difference
from faithscope.measures.comparing.paired import consistency_left_out, paired_difference
from faithscope.measures.consistency import measure_consistency
from faithscope.measures.estimate import Estimate, Method, to_interval
from faithscope.measures.intervals.local import exact_share, mean_share
from faithscope.measures.intervals.margins import IndependentUnits, Margins
from faithscope.measures.named_labels import masked as hide
from faithscope.measures.named_labels import named_labels
from faithscope.measures.telling import OfEstimates, number
from faithscope.runtime.memory import FEWER_ROWS
from faithscope.runtime.of_logs import takes_log
from faithscope.sample import Sample
from faithscope.visible import visible
from faithscope.words import several

_SHOWN = 10  # words on a card
NO_REASONS = "Leakage asks whether reasons in words name a label; these explanations are {}: pass fs.Reasons(texts)."


@dataclass(frozen=True, repr=False)
class Leakage(OfEstimates):
    """How many reasons name a label, and their consistency as given and with these words masked.

    Attributes
    ----------
    share, low, high : float
        Share of reasons with a word of any label, and its interval: exact (Clopper and Pearson) for rows that are
        independent and count alike; for weighted rows and for clusters a jackknife, which leaves out each of them.
    own : float
        Share of reasons with a word of the label that their own row was predicted.
    consistency, masked : Estimate
        Of the reasons as given, and with every word of a label as ``<label>``.
    difference : Difference
        As given minus masked, on the same rows.
    words : tuple of (str, int)
        The words that name labels, with the number of reasons that have them.
    n : int
        Number of rows that are measured.

    Examples
    --------
    >>> leak = leakage(["Spam, since it sells.", "It sells.", "A friend wrote."], ["spam", "spam", "good"])
    >>> leak.words, round(leak.share, 3)
    ((('spam', 1),), 0.333)
    """

    share: float
    low: float
    high: float
    own: float
    confidence: float
    consistency: Estimate
    masked: Estimate
    difference: Difference
    words: tuple[tuple[str, int], ...]
    n: int

    _label, _title = "reasons", "Leakage: reasons that name a label"

    def _by_name(self) -> Sequence[tuple[str, Estimate]]:
        return [("as given", self.consistency), ("masked", self.masked)]

    def to_dict(self) -> dict[str, Any]:
        """All numbers, ready for JSON."""
        words = [{"word": word, "n": n} for word, n in self.words]
        return super().to_dict() | {"words": words, "notes": list(map(str, self.notes))}

    def _tables(self) -> Iterable[Table]:
        words = tuple((visible(word), f"{n:,}") for word, n in self.words[:_SHOWN])
        return [
            *super()._tables(),
            *([Table(("word", "reasons"), words, title="Words that name a label")] if words else []),
        ]

    @property
    def _line(self) -> str:
        such = f", such as {visible(self.words[0][0])!r}" if self.words else ""
        both = f"consistency {number(self.consistency.verified)}, masked {number(self.masked.verified)}"
        rows = several(self.n, "row", "rows")
        return f"{self.share:.1%} of reasons name a label{such} ({self.own:.1%} their own); {both}; {rows}"


@takes_log(FEWER_ROWS)
def leakage(
    reasons: Any,
    predictions: Any = None,
    *,
    words: Sequence[str] | None = None,
    discretizer: Discretize | None = None,
    confidence: float = 0.95,
    interval: Method | None = None,
    weights: Any = None,
    clusters: Any = None,
) -> Leakage:
    """How many reasons name a label, and how consistent they are once these words are masked.

    A reason that says the answer is as consistent as can be, and explains nothing. Words are those of the predicted
    labels, folded, as whole words; "entails" is not "entailment", so pass further `words` for other forms. A
    label that is also an ordinary word ("no", "A") counts wherever it stands. Masking all labels alike can only lower
    the true consistency; the value may rise, as fewer rows are silent.

    Parameters
    ----------
    reasons : Reasons, a list or column of texts, or a Log of them
        One text per row.
    predictions : array-like, (n,)
        The predicted labels. Numbers have no words: pass the names of the classes, or `words`.
    words : list of str, optional
        Further words or phrases that name a label.
    discretizer, confidence, interval, weights, clusters
        As for `consistency`; the discretizer is applied after masking.

    Returns
    -------
    Leakage

    Examples
    --------
    >>> texts = ["No: he sleeps", "He sleeps", "Yes, he runs", "he runs"]
    >>> print(leakage(texts, ["no", "no", "yes", "yes"]))
    50.0% of reasons name a label, such as 'no' (50.0% their own); consistency –, masked –; 4 rows
    """
    if isinstance(reasons, Plain) and not isinstance(reasons, Records):
        reasons = Reasons(reasons.values)._with(index=reasons.index)
    texts = reasons if isinstance(reasons, Reasons) else Reasons(reasons)
    sample = Sample.of(texts, predictions, weights=weights, clusters=clusters)
    return measure_leakage(sample, discretizer, confidence, to_interval(interval)[0], words)


def measure_leakage(
    sample: Sample,
    discretizer: Discretize | None,
    confidence: float,
    method: str | None,
    words: Sequence[str] | None,
) -> Leakage:
    """The leakage of a sample of reasons before they are discretized."""
    if not isinstance(sample.explanations, Reasons):
        raise WrongType(NO_REASONS.format(sample.explanations.kind))
    further = [] if words is None else to_items(words, "words")
    odd = next((word for word in further if not isinstance(word, str) or not word.strip()), None)
    if odd is not None:
        raise WrongType(f"words must be texts that name a label; got {odd!r}.")
    before = sample.discretized(discretizer).counted()
    named = named_labels(sample, before, further)
    if not named.phrases:
        raise BadInput(
            "These labels are numbers or signs, which have no words that reasons could name: pass the names of the "
            "classes as predictions, or words=['approved', 'denied']."
        )
    if getattr(to_discretizer(discretizer), "reads_beyond_text", False):
        raise BadInput(
            f"{to_discretizer(discretizer)!r} reads embeddings of the reasons as given, where no word can be masked: "
            "embed the masked texts yourself, and measure the consistency of both."
        )
    if any(getattr(step, "folded", True) is False for step in steps(to_discretizer(discretizer))):
        raise BadInput("Words are masked in folded texts, and this Codebook reads texts as written: leave out folded=.")
    masked = replace(sample, explanations=hide(sample.explanations, named.phrases)).discretized(discretizer).counted()
    given, hidden = (measure_consistency(part, confidence, method) for part in (before, masked))
    a, b = consistency_left_out("as given", given, before), consistency_left_out("masked", hidden, masked)
    difference = paired_difference(a, b, confidence)
    units = IndependentUnits.of(before)
    (share, low, high), _ = mean_share(named.some, units, given.confidence, exact=units.clusters is None)
    if not share:
        # Others may name a label, if so few that the sample missed them. Consistency is the sum over explanations of
        # g = Σ_y p_y² / p, whose derivative by any p_y lies between -1 and 1: masking the labels of a share of reasons
        # moves that mass, and changes the sum by at most twice that share.
        apart = difference.apart
        apart = apart._replace(margins=_unseen_margins(units.good, apart.confidence))
        difference = replace(difference, apart=apart).at(apart.confidence)
    shares = (share, low, high, units.mean(named.own), given.confidence)
    return Leakage(*shares, given, hidden, difference, tuple(named.words), given.n)


def _unseen_margins(good: float, confidence: float) -> Margins:
    """Twice the largest share of reasons that may name a label though none of so many rows does."""
    most = 2 * exact_share(0, good, confidence)[1]
    return Margins(most, most, again=partial(_unseen_margins, good))
