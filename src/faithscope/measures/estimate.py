"""Estimate: the paper's estimator from counts, with its interval, its unverifiable share and its chance level."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from scipy.special import ndtri

from faithscope.agreements import Agreement, Same, Spread
from faithscope.card import Table, in_lines
from faithscope.counting.counts import Counts
from faithscope.counting.drawn import Counted
from faithscope.counting.leave_out import Sums
from faithscope.counting.moments import SpreadCounts
from faithscope.counting.profile import Profile
from faithscope.errors import NotProven
from faithscope.inputs.checks import check_flag, check_word
from faithscope.measures.intervals.margins import Bracket, Margins, check_confidence
from faithscope.measures.intervals.tight import equality_margins
from faithscope.measures.notes import label_notes, occurrence_notes, restatement_notes
from faithscope.measures.telling import (
    Measured,
    OfEstimates,
    caption,
    estimate_table,
    in_clusters,
    judge,
    named,
    recall_sentence,
    told_number,
    with_doubts,
)
from faithscope.notes import doubts
from faithscope.rounding import in_brackets, percent, told_share
from faithscope.runtime.messages import warn
from faithscope.visible import visible
from faithscope.words import several

_OF_SUMS = 1e-9  # times n: sums of shares are not exact
_EXCEEDING = 25  # shuffles that may agree as much as the sample: of 1,000, at a confidence of .95
_DRAWS = 10**7  # numbers worked on for one test at most


def exceeds_chance(profile: Profile, agreeing: float, chance: float, confidence: float, weight: float | None) -> bool:
    """Whether rows agree more than predictions do that are shuffled over them.

    Shuffled predictions agree on ``chance * checked`` rows on average, where `checked` are the rows whose explanation
    covers another row; silent rows are on neither side. The spread of that number is known in closed form
    (`shuffled_spread`). With few explanations the number is skewed like chi-squared with one degree of freedom, so less
    than its quantile is no more than chance. Rare labels and explanations make it more skewed still. Beyond
    ``sqrt(1/wrong - 1)`` spreads no distribution has more than `wrong` of its mass (Cantelli); in between, labels
    are shuffled (`_rarer_than`). For other relations, and for numbers, the quantile stands alone.

    Parameters
    ----------
    agreeing : float
        The sum over rows of the share of their other rows that agree: ``n * value``.
    chance : float
        Probability that two rows share a prediction.
    confidence : float
        One minus twice the probability of a false alarm.
    weight : float, optional
        Sum over rows of the squared `LeftOut.weight`; None for equality.
    """
    excess = agreeing - chance * float(profile.rows[profile.others > 0].sum())
    wrong, rounding, spread = check_confidence(confidence) / 2, _OF_SUMS * profile.n, shuffled_spread(profile, weight)
    critical = (float(ndtri(1 - wrong / 2)) ** 2 - 1) / math.sqrt(2)
    if excess <= critical * spread + rounding:
        return False
    if not profile.covers_once or profile.agreement.of_numbers or excess > math.sqrt(1 / wrong - 1) * spread:
        return True
    return _rarer_than(wrong, profile, agreeing - rounding)


def _rarer_than(wrong: float, profile: Profile, agreeing: float) -> bool:
    """Whether shuffled labels agree as much with a chance of at most `wrong`; not if that takes too many shuffles.

    With the sample, m shuffles are m + 1 numbers in random order: that no more than ``wrong (m + 1)`` of them are as
    large as the sample's has at most that chance.
    """
    others, place = np.unique(profile.others, return_inverse=True)
    sizes = np.repeat(others + 1, np.bincount(place, profile.rows).astype(np.int64) // (others + 1))
    shape = len(sizes), len(profile.label_rows)
    many = min(math.ceil(_EXCEEDING / wrong), _DRAWS // (profile.n + math.prod(shape)))
    most = math.floor(wrong * many + 1e-9)
    if most < 1:
        return False
    groups, labels = (np.repeat(np.arange(len(rows)), rows) for rows in (sizes, np.sort(profile.label_rows)))
    rng, exceeding = np.random.default_rng(0), 1  # the sample itself
    for _ in range(many - 1):
        rng.shuffle(labels)
        cells = np.bincount(groups * shape[1] + labels, minlength=math.prod(shape)).reshape(shape)
        total = (cells * (cells - 1)).sum(axis=1) @ (1 / np.maximum(sizes - 1, 1))
        exceeding += bool(total >= agreeing)
        if exceeding > most:
            return False
    return True


def shuffled_spread(profile: Profile, weight: float | None = None) -> float:
    """Standard deviation of ``n * value`` when predictions are shuffled over the rows; infinite below four rows.

    ``n * value`` is ``sum_ij a_ij b_ij`` with ``a_ij = 1 / c_i`` if row i's explanation covers row j (c_i is the number
    of such rows) and ``b_ij = 1`` if both have the same prediction. Its variance under permutations is Mantel's, which
    reads three sums of `a` and three of `b`. It is exact for equality. For other relations `a` is not symmetric and
    the sum of its squares is an upper bound; the result is then at most 1.42 times too large.
    """
    n = float(profile.n)
    if n < 4:
        return math.inf
    others = profile.others > 0
    rows = profile.rows[others].astype(np.float64)
    checked, squares = rows.sum(), np.sum(rows / profile.others[others])
    by_row = checked if weight is None else weight / 4  # of (a + its transpose) / 2, which gives the same sum
    _, spread, spread_by_row = profile.pairs_of_labels  # of b less its mean, so that nothing large cancels
    two, three = n * (n - 1), n * (n - 1) * (n - 2)
    variance = (
        2 * squares * spread / two
        + 4 * (by_row - squares) * (spread_by_row - spread) / three
        + (checked**2 - 4 * by_row + 2 * squares) * (2 * spread - 4 * spread_by_row) / (three * (n - 3))
    )
    return math.sqrt(max(0.0, float(variance)))


Method = Literal["proven"]
METHODS: tuple[Method, ...] = get_args(Method)
_OLD_WORDS = {
    "tight": "pass interval=None",
    "jackknife": "pass interval=None",
    "mcdiarmid": "pass interval='proven'",
    "any": "pass unseen=True instead",
}
FOR_EQUALITY = ("proven", "mcdiarmid")  # methods for rows that have one explanation each
# What is measured, for which no interval is proven, and what to do.
_UNPROVEN = {
    "Spread": "is proven for agreements from 0 to 1, not for Spread(): pass interval=None, or measure fs.Close(eps).",
    "askers": "is proven for rows that all ask: pass interval=None with askers=.",
    "scopes": "is proven for consistency only: pass interval=None.",
}
_NO_SPREAD = {
    "encoding": "Encoding compares agreements from 0 to 1, and Spread() sums squared distances, which have no bound: "
    "use fs.encoding(..., agreement=fs.Close(eps)).",
    "necessity": "Necessity needs agreements from 0 to 1, and Spread() sums distances: use Close(eps) or "
    "Tolerance(eps).",
    "draws": "Spread compares with the variance of the rows, which draws do not share: on draws, pass "
    "agreement=fs.Close(eps) or fs.Tolerance(eps).",
}
_ALWAYS = (
    *("measure", "value", "low", "high", "confidence", "method", "unverifiable", "upper", "verified", "verified_low"),
    *("verified_high", "chance", "above_chance", "adjusted", "n", "distinct", "effective_n"),
)
KNOWN_IF_ASKED = ("gap", "silence", "clusters", "population", "drop", "drop_low", "drop_high")
BEYOND = ("beyond_random", "beyond_global")  # of importances by `Alike`
NECESSITY = "necessity"  # the measure that no verdict is made of
MEASURES = ("consistency", "sufficiency", NECESSITY)
_FEW = 10  # with fewer degrees of freedom, a few rows decide the interval
_ROUNDING = 1e-12
_MATTERS = 0.02  # silence that a reader should know of


@dataclass(frozen=True, repr=False)
class Estimate(Measured, OfEstimates):
    """A measure of faithfulness on a sample, with its interval.

    Attributes
    ----------
    value : float
        The paper's M̂: rows whose explanation covers no other row count 0.
    low, high : float
        Interval for the true measure, which allows for sampling error and for silence; `interval` is the pair. Low may
        lie above the value, which counts every silent row as 0. By `Spread`, low is below 0 if the value is.
    confidence : float
        The confidence of the interval.
    method : str
        How the interval was made, for an appendix: "tight", "jackknife", "kept rows" or "proven".
    unverifiable : float
        Share of rows whose explanation covers no other row, on which the sample is silent. Of necessity, of rows whose
        prediction nobody else gets.
    verified : float or None
        Agreement among the rows that can be checked, ``value / (1 - unverifiable)``: the number that is printed first.
        None if none can.
    verified_low, verified_high : float or None
        Interval of `verified`, a jackknife whatever the `method`. Unlike low and high it does not allow for silence, so
        it may be compared with chance; its low end is above chance only if `above_chance` is true.
    chance : float or None
        What an explanation that means nothing would reach among rows that can be checked. Of necessity, the share of
        all other rows that explanations cover.
    above_chance : bool or None
        Whether rows agree more than shuffled predictions would, by a permutation test at the same confidence; with
        weights, whether `verified_low` is above chance. Of necessity, by a jackknife of the measure less chance. None
        if there is no chance level or it is 1.
    n, distinct : int
        Number of rows, and of different explanations.
    effective_n : float
        The effective sample size if rows are weighted or clustered, else n.
    silence : float or None
        How much higher the value could be if silent rows agreed, if that is not `unverifiable` (`Spread`).
    gap : float or None
        For `Spread`, how far the predictions of two rows with the same explanation are typically apart, in their own
        units: the root of the mean square among rows that can be checked, ``√(2W / (1 - U))``; None if none can.
    clusters : int or None
        Number of clusters of rows that belong together; None if rows are independent.
    agreement : Agreement
        How much two predictions agree: `Same` for labels, or what was asked for.
    population : str or None
        On which draws sufficiency was measured, if not on the rows themselves.
    drop, drop_low, drop_high : float or None
        On draws whose predictions are numbers: how much lower these are than those of the rows, on average, with the
        interval. Of the probability of the predicted class this is DeYoung's sufficiency if the draws are the
        highlighted words alone, and its comprehensiveness if they are the other words.
    beyond_random, beyond_global : (value, low, high) or None
        Of importances by `Alike`: how much higher the measure is than that of as many features drawn at random per
        row, and than that of the same features for everybody, with intervals of these paired differences.
    notes : tuple of str
        What a reader should know before trusting the interval.

    Examples
    --------
    >>> from faithscope import consistency
    >>> estimate = consistency(["a", "a", "b", "c"], [1, 1, 0, 0])
    >>> estimate.value, estimate.unverifiable, estimate.verified
    (0.5, 0.5, 1.0)
    """

    _written = (*_ALWAYS, *KNOWN_IF_ASKED, *BEYOND)
    _label = "measure"

    def to_dict(self) -> dict[str, Any]:
        """All numbers of this estimate, ready for JSON."""
        told = {name: known for name, known in super().to_dict().items() if name in _ALWAYS or known is not None}
        low, high = self.bracket
        told |= {"bracket_low": low, "bracket_high": high}
        return told | {"agreement": named(self.agreement), "notes": list(map(str, self.notes))}

    @property
    def _title(self) -> str:
        return self.measure

    def _by_name(self) -> Sequence[tuple[str, Measured]]:
        return [(self.measure, self)]

    def __str__(self) -> str:
        return in_lines(self.line, self.notes)

    @property
    def sentence(self) -> str:
        """The whole estimate with its notes, as a single line."""
        return "; ".join([self.line, *map(visible, self.notes)])

    @property
    def line(self) -> str:
        """The estimate without its notes, as a single line."""
        weighted = "" if self.clusters is not None else "weighted, "
        alike = self.effective_n in (self.n, self.clusters)
        rows = in_clusters(self.clusters) + ("" if alike else f" ({weighted}as good as {self.effective_n:,.0f})")
        gap = "" if self.gap is None else f"; two such predictions are typically {told_number(self.gap)} apart"
        by = "" if isinstance(self.agreement, Same) else f" by {named(self.agreement)}"
        by = " of the variance accounted for" if isinstance(self.agreement, Spread) else by
        leads = ": no row can be checked" if self.verified is None else f" {told_share(self.verified)}{by}"
        chance = "" if self.verified is None or self.chance is None else f", chance {self.chance:.2f}"
        silent = f"; {percent(self.unverifiable)} of rows cannot be checked" if 0 < self.unverifiable < 1 else ""
        interval = f"{100 * self.confidence:g}% interval {in_brackets(self.low, self.high)}"
        return (
            f"{self.measure}{leads}, {interval}{chance}{gap}; "
            f"{several(self.n, 'row', 'rows')}{rows}, {several(self.distinct, 'explanation', 'explanations')}"
            f"{silent}{self._beyond}"
        )

    @property
    def _beyond(self) -> str:
        """What named features are worth beyond those of baselines; empty if that was not measured."""
        told = zip(("random features", "the same for everybody"), (self.beyond_random, self.beyond_global), strict=True)
        parts = [
            f"{more.value:+.3f} {in_brackets(more.low, more.high, signed=True)} beyond {what}"
            if more.low < more.high or self.verified is None
            else f"on these rows nothing beyond {what}"
            for what, more in told
            if more
        ]
        return f"; {', '.join(parts)}" if parts else ""

    def _sentences(self) -> Iterable[str]:
        if self.measure == NECESSITY:
            return [recall_sentence(self)]
        return [with_doubts(judge([self], {}), map(visible, doubts(self.notes)))]

    def _tables(self) -> Iterable[Table]:
        return [estimate_table((), [((), self)], below=caption(self))]

    def _told_notes(self) -> Iterable[str]:
        doubted = () if self.measure == NECESSITY else doubts(self.notes)
        return (note for note in self.notes if note not in doubted)


def estimate(
    counts: Counts | Profile,
    *,
    confidence: float = 0.95,
    interval: str | None = None,
) -> Estimate:
    """The paper's estimator from unweighted counts, for equality.

    ``M̂ = (1/n) Σ_i 1(N_π > 1) (N_{π,y} - 1) / (N_π - 1)`` (section 4.1). Rows whose explanation covers no other row
    count 0, so a low value means *unfaithful or unverifiable*.

    Parameters
    ----------
    counts : Counts or Profile
        Of at least one row; neither weighted nor clustered.
    confidence : float
        The confidence of the interval.
    interval : {"proven"}, optional
        How the interval is made, as for `consistency`.
    """
    how, profile = interval or "tight", counts.profile()
    margins = equality_margins(profile, how, confidence)
    return to_estimate(counts, profile.terms, margins, "consistency", confidence, how)


def to_interval(interval: Any, unseen: Any = False) -> tuple[str | None, bool]:
    """How intervals are made, and whether they allow for unseen rows; an old word is read, with a warning."""
    allowed = check_flag(unseen, "unseen")
    if isinstance(interval, str) and interval in _OLD_WORDS:
        warn(f"interval={interval!r} is an old word: {_OLD_WORDS[interval]}.", FutureWarning)
        return None if interval in ("tight", "any") else interval, allowed or interval == "any"
    return check_word(interval, "interval", METHODS, optional=True), allowed


def refuse_unproven(method: str | None, measured: str) -> None:
    """Raise if a proven interval is asked for, and there is none of what is measured (a key of `_UNPROVEN`)."""
    if method in FOR_EQUALITY:
        raise NotProven(f"interval={method!r} {_UNPROVEN[measured]}")


def refuse_spread(agreement: Agreement, measure: str) -> None:
    """Raise if a measure needs agreements from 0 to 1, and the agreement is `Spread`."""
    if isinstance(agreement, Spread) and measure in _NO_SPREAD:
        raise NotProven(_NO_SPREAD[measure])


def to_estimate(
    counts: Counted,
    sums: Sums,
    margins: Margins,
    measure: str,
    confidence: float,
    method: str = "jackknife",
    notes: tuple[str, ...] = (),
    *,
    shuffled: bool = True,
    chance: float | None = None,
    spread: SpreadCounts | None = None,
    **known: Any,
) -> Estimate:
    """An `Estimate` from counts, sums of terms and margins: the only place that makes one.

    Parameters
    ----------
    shuffled : bool
        Whether agreement is compared with that of shuffled predictions, of which the counts know the chance level;
        else with this `chance`, by ``margins.beyond`` if it is known.
    spread : SpreadCounts, optional
        Of `Spread`, whose value is a share of variance; then the sums are of variances within explanations, negative.
    **known
        Further fields of the estimate.
    """
    agreeing, silent = min(sums.agreeing, sums.total - sums.silent), sums.silent / sums.total  # not above by rounding
    value, verified = agreeing / sums.total, None if silent >= 1 else agreeing / (sums.total - sums.silent)
    chance = counts.chance if shuffled else chance
    floor, silence = 0.0, silent
    if spread is not None:
        value, silence = float(spread.whole.explained[0]), float(spread.whole.silence[0])
        verified, chance = None if verified is None else 1 + verified, 0.0
        # Rows with one explanation vary no more than all rows do; rows that an explanation covers may.
        floor = 0.0 if counts.covers_once else -math.inf
        known = {**known, "silence": silence}
    low = high = above = None
    if verified is not None:
        below, over = margins.verified
        low, high = min(verified, max(floor, verified - below)), min(1.0, verified + over)
        if chance is not None and chance < 1:
            if not shuffled:
                above = None if margins.beyond is None else verified - chance > margins.beyond + _ROUNDING
            elif counts.plain:
                by_chance = chance if spread is None else -1.0
                above = exceeds_chance(counts.profile(), agreeing, by_chance, confidence, margins.weight)
            else:
                above = low > chance
            if above is not None:  # the interval never contradicts the test
                low = max(low, chance) if above else min(low, chance)
    least, most = (value, value + silence) if margins.bracket is None else margins.bracket[:2]
    labels = () if counts.agreement.of_numbers else label_notes(counts.labels, counts.n)
    few = few_rows_decide(margins) if silent < 1 else ()
    lowest = min(least, max(floor, least - margins.below))
    if spread is not None and verified is not None:  # what is told first may lie below 0, and lies inside
        lowest = min(lowest, verified)
    return Estimate(
        measure=measure,
        value=value,
        low=lowest,
        high=min(1.0, max(floor, most + margins.above)),
        confidence=float(confidence),
        method=method,
        unverifiable=silent,
        verified=verified,
        chance=chance,
        n=counts.n,
        distinct=counts.distinct,
        effective_n=counts.effective_n,
        margins=margins,
        counts=counts,
        notes=(*notes, *labels, *occurrence_notes(counts), *restatement_notes(counts), *few),
        verified_low=low,
        verified_high=high,
        above_chance=above,
        agreement=counts.agreement,
        clusters=None if counts.clusters is None else counts.clusters.clusters,
        **known,
    )


def about(pairs: Estimate, kept: Estimate) -> Estimate:
    """An estimate by weighed pairs of rows, with the interval of rows that are kept by chance, about their bracket.

    The value of pairs is off if weights, or the sizes of clusters, go with predictions; kept rows are not.
    """
    (least, most), silent = kept.bracket, pairs.upper - pairs.value
    low = high = above = None
    lowest, off = kept.low, 0.0
    if pairs.verified is not None:
        lowest = kept.low if pairs.silence is None else min(kept.low, pairs.verified)  # by `Spread`, it may be below 0
        low = min(kept.low if kept.verified_low is None else kept.verified_low, pairs.verified)
        high = max(kept.high if kept.verified_high is None else kept.verified_high, pairs.verified)
        above = None if pairs.above_chance is None else bool(kept.above_chance)
        off = max(kept.low - pairs.verified, pairs.verified - kept.high)
    notes: tuple[str, ...] = ()
    if most - least - silent > _MATTERS + 1e-9:  # whatever the order in which rows were added
        notes = (f"the interval leaves as much open as if {most - least:.0%} of rows were unverifiable",)
    if off > _ROUNDING:
        notes = (*notes, "the share weighs pairs, and is off where weights go with predictions: read the interval")
    return replace(
        pairs,
        low=lowest,
        high=kept.high,
        method="proven" if kept.method == "proven" else "kept rows",
        verified_low=low,
        verified_high=high,
        above_chance=above,
        margins=replace(kept.margins, bracket=Bracket(least, most)),
        notes=(*dict.fromkeys((*kept.notes, *pairs.notes)), *notes),
    )


def few_rows_decide(margins: Margins) -> tuple[str, ...]:
    """A note on an interval with few degrees of freedom."""
    if margins.degrees_of_freedom >= _FEW - 1e-9:
        return ()
    rows = several(max(1, round(margins.degrees_of_freedom)), "row", "rows")
    return (f"a few rows decide this interval: its width rests on about {rows}, so read it loosely",)


def noted(estimate: Estimate, notes: tuple[str, ...]) -> Estimate:
    """The same estimate with further notes."""
    return replace(estimate, notes=(*estimate.notes, *notes)) if notes else estimate
