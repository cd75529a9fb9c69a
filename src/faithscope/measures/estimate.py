"""Estimate: the paper's estimator from counts, with its interval, its unverifiable share and its chance level."""

import html
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from faithscope.agreements import Agreement, Same
from faithscope.counting.counts import Counts
from faithscope.counting.leaving_out.leave_out import Sums
from faithscope.counting.profile import Counted, Profile
from faithscope.errors import BadInput, NotProven
from faithscope.explanations.base import several
from faithscope.inputs.checks import check_word
from faithscope.inputs.frames import frame
from faithscope.measures.chance import exceeds_chance
from faithscope.measures.intervals.margins import Margins, check_confidence, jackknife, mcdiarmid
from faithscope.measures.intervals.tight import tight
from faithscope.measures.notes.labels import label_notes
from faithscope.measures.notes.occurrences import occurrence_notes
from faithscope.measures.notes.restatement import restatement_notes
from faithscope.measures.numbers.words import beside_value, named, told_number
from faithscope.sinks.lines import in_lines
from faithscope.sinks.shareable import Shareable
from faithscope.visible import visible

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

    from faithscope.sinks.card import Card

Method = Literal["tight", "jackknife", "mcdiarmid", "any"]
FOR_EQUALITY = frozenset({"tight", "mcdiarmid"})  # methods for rows that count alike and have one explanation each
METHODS = {"tight": tight, "jackknife": jackknife, "mcdiarmid": mcdiarmid, "any": tight}  # of consistency
COLUMNS = (
    "n",
    "value",
    "low",
    "high",
    "unverifiable",
    "verified",
    "chance",
    "adjusted",
    "distinct",
)  # of every table of estimates
KNOWN_IF_ASKED = ("gap", "silence", "clusters", "population", "drop", "drop_low", "drop_high")
NECESSITY = "necessity"  # the measure that no verdict is made of
MEASURES = ("consistency", "sufficiency", NECESSITY)
FEW = 10  # with fewer degrees of freedom, a few rows decide the interval


@dataclass(frozen=True, repr=False)
class Estimate(Shareable):
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
        How the interval was made: "tight", "jackknife", "mcdiarmid" or "any"; with weights "thinned".
    unverifiable : float
        Share of rows whose explanation covers no other row, on which the sample is silent. Of necessity, of rows whose
        prediction nobody else gets.
    verified : float or None
        Agreement among the rows that can be checked, ``value / (1 - unverifiable)``; None if none can.
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
    notes : tuple of str
        What a reader should know before trusting the interval.

    Examples
    --------
    >>> from faithscope import consistency
    >>> estimate = consistency(["a", "a", "b", "c"], [1, 1, 0, 0])
    >>> estimate.value, estimate.unverifiable, estimate.verified
    (0.5, 0.5, 1.0)
    """

    measure: str
    value: float
    low: float
    high: float
    confidence: float
    method: str
    unverifiable: float
    verified: float | None
    chance: float | None
    n: int
    distinct: int
    effective_n: float
    margins: Margins
    counts: Any = field(compare=False)  # Counts, or the Profile that an engine handed over
    notes: tuple[str, ...] = ()
    verified_low: float | None = None
    verified_high: float | None = None
    above_chance: bool | None = None
    silence: float | None = None
    gap: float | None = None
    clusters: int | None = None
    agreement: Agreement = field(default_factory=Same)
    population: str | None = None
    drop: float | None = None
    drop_low: float | None = None
    drop_high: float | None = None

    @property
    def interval(self) -> tuple[float, float]:
        """The interval for the true measure, (low, high)."""
        return self.low, self.high

    @property
    def upper(self) -> float:
        """The value if every unverifiable row were faithful."""
        return min(1.0, self.value + (self.unverifiable if self.silence is None else self.silence))

    @property
    def bracket(self) -> tuple[float, float]:
        """Between which numbers the measure lies, but for sampling error.

        For "tight", rows with one companion or two tell how much silence hides; for "thinned", it is that
        of rows kept by their weights, outside of which the value may lie; else it is the value, and `upper`, the value
        if all silent rows agreed.
        """
        known = self.margins.bracket
        return (self.value, self.upper) if known is None else (known.low, known.high)

    @property
    def limit(self) -> float:
        """A lower limit for whoever reads no upper one (`assert_faithful`, ``--fail-under``).

        It is `low`, or below it if rare rows pull the measure down.
        """
        return min(self.low, max(0.0, self.bracket[0] - self.margins.one_sided))

    @property
    def adjusted(self) -> float | None:
        """`verified` on a scale where chance is 0 and perfection 1; None if undefined."""
        if self.verified is None or self.chance is None or self.chance >= 1:
            return None
        return (self.verified - self.chance) / (1 - self.chance)

    def to_dict(self) -> dict[str, Any]:
        """All numbers of this estimate, ready for JSON."""
        names = ("measure", "value", "low", "high", "confidence", "method", "limit", "unverifiable", "upper")
        checked = ("verified", "verified_low", "verified_high", "chance", "above_chance", "adjusted")
        known = (name for name in KNOWN_IF_ASKED if getattr(self, name) is not None)
        rows = ("n", "distinct", "effective_n", *known)
        told = {name: getattr(self, name) for name in (*names, *checked, *rows)}
        least, most = self.bracket
        bracket = {"bracket_low": least, "bracket_high": most}
        return told | bracket | {"agreement": named(self.agreement), "notes": list(self.notes)}

    def __str__(self) -> str:
        return in_lines(self.line, self.notes)

    @property
    def sentence(self) -> str:
        """The whole estimate with its notes, as a single line."""
        return "; ".join([self.line, *map(visible, self.notes)])

    @property
    def line(self) -> str:
        """The estimate without its notes, as a single line."""
        explanations = "1 explanation" if self.distinct == 1 else f"{self.distinct:,} explanations"
        clusters = "" if self.clusters is None else f" in {several(self.clusters, 'cluster', 'clusters')}"
        good = f"{self.effective_n:,.0f}"
        weighted = " (weighted, as good as" if self.clusters is None else " (as good as"
        weighted = clusters + ("" if self.effective_n in (self.n, self.clusters) else f"{weighted} {good})")
        gap = "" if self.gap is None else f", two such predictions typically {told_number(self.gap)} apart"
        value = f"{self.measure} {self.value:.3f}{beside_value(self.agreement)}"
        return (
            f"{value}, {100 * self.confidence:g}% interval [{self.low:.2f}, {self.high:.2f}]; {self._checked}{gap}; "
            f"n={self.n:,}{weighted}, {explanations}, {self.unverifiable:.0%} unverifiable{self._narrowed}"
        )

    __repr__ = __str__

    @property
    def _checked(self) -> str:
        """The agreement among rows that can be checked, unless these are all rows; and chance."""
        if self.verified is None:
            return "no row can be checked" + ("" if self.chance is None else f" (chance {self.chance:.2f})")
        if not self.unverifiable:
            return "chance undefined" if self.chance is None else f"chance {self.chance:.2f}"
        chance = "" if self.chance is None else f" (chance {self.chance:.2f})"
        return f"{self.verified:.2f} where it can be checked{chance}"

    @property
    def _narrowed(self) -> str:
        """The bracket, if it leaves less open than all rows that cannot be checked."""
        least, most = self.bracket
        narrower = most - least < self.upper - self.value - 0.005
        return f" (bracket {least:.2f} to {most:.2f})" if narrower else ""

    def table(self) -> "pd.DataFrame":
        """One line of numbers, as in every table of estimates."""
        return frame({"measure": [self.measure], **estimate_columns([self])})

    def _card(self) -> "Card":
        from faithscope.measures.telling.cards import estimate_card

        return estimate_card(self)

    def plot(self) -> "alt.LayerChart":
        """Value, interval, chance and the unverifiable part as an Altair chart."""
        from faithscope.charts import estimates

        return estimates([(self.measure, self)])

    def _repr_html_(self) -> str:
        rows = {k: v for k, v in self.to_dict().items() if k not in {"measure", "notes"}}
        cells = "".join(f"<tr><th>{k.replace('_', ' ')}</th><td>{_shown(v)}</td></tr>" for k, v in rows.items())
        notes = "".join(f"<p>{html.escape(visible(note))}</p>" for note in self.notes)
        return f"<table><caption>{html.escape(self.measure)}</caption>{cells}</table>{notes}"


def _shown(value: object) -> str:
    if value is None:
        return "undefined"
    if isinstance(value, float):
        return f"{value:.3f}"
    return html.escape(f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value))


def estimate_columns(estimates: Sequence[Estimate]) -> dict[str, list[Any]]:
    """The numbers of several estimates as the columns that every table of estimates has."""
    return {name: [getattr(estimate, name) for estimate in estimates] for name in COLUMNS}


def agreement(profile: Profile) -> float:
    """Probability that a row covered by x's explanation shares x's prediction.

    The paper's estimator (section 4.1): ``M̂ = (1/n) Σ_i 1(N_π > 1) (N_{π,y} - 1) / (N_π - 1)``.
    Rows whose explanation covers no other row count 0, so a low value means
    *unfaithful or unverifiable*: read it beside `unverifiable`.
    """
    return profile.terms.agreeing / profile.n


def unverifiable(profile: Profile) -> float:
    """Share of rows whose explanation covers no other row."""
    return profile.terms.silent / profile.n


def estimate(
    counts: Counts | Profile,
    *,
    measure: str = "consistency",
    confidence: float = 0.95,
    interval: Method | None = None,
) -> Estimate:
    """The paper's estimator from unweighted counts.

    Parameters
    ----------
    counts : Counts or Profile
    measure : str
        The name of the measure.
    confidence : float
        The confidence of the interval.
    interval : {"tight", "jackknife", "mcdiarmid", "any"}, optional
        How the interval is made, as for `consistency`.
    """
    method = check_method(interval) or "tight"
    if counts.n == 0:
        raise BadInput("These counts are of no rows, so nothing can be estimated: count some rows first.")
    if not counts.plain:
        raise NotProven(
            "These counts are weighted or clustered, and the interval needs the rows again: call consistency(...)."
        )
    profile = counts.profile()
    margins = METHODS[method](profile, confidence)
    if method == "mcdiarmid":
        margins = replace(margins, verified=jackknife(profile, confidence).verified)
    return assemble(counts, profile.terms, margins, measure, confidence, method)


def check_method(method: Method | None, known: Collection[str] = METHODS) -> Method | None:
    """The method, if it is among the known ones that make an interval."""
    checked: Method | None = check_word(method, "interval", known, optional=True)
    return checked


def refuse_unproven(agreement: Agreement, method: Method | None) -> None:
    """Raise if this method is not proven for an agreement that is not bounded."""
    if method not in {None, "jackknife", "any"}:
        raise NotProven(
            f"interval={method!r} is proven for agreements from 0 to 1, not for {agreement}: use 'jackknife'."
        )


def refuse_for(given: Literal["weights", "clusters"], method: str | None) -> None:
    """Raise if this method is not proven for weighted, or clustered, rows."""
    rows = {"weights": "unweighted", "clusters": "independent"}[given]
    if method in FOR_EQUALITY:
        default = "leave interval= out, or " if given == "weights" else ""
        raise NotProven(f"interval={method!r} is proven for {rows} rows only: {default}use 'jackknife' with {given}.")


def assemble(
    counts: Counted,
    terms: Sums,
    margins: Margins,
    measure: str,
    confidence: float,
    method: str = "jackknife",
    notes: tuple[str, ...] = (),
) -> Estimate:
    """An `Estimate` from counts, sums of terms and margins."""
    check_confidence(confidence)
    terms = terms._replace(agreeing=min(terms.agreeing, terms.total - terms.silent))  # not above by rounding
    value, silent = terms.agreeing / terms.total, terms.silent / terms.total
    notes = (*notes, *(() if counts.agreement.of_numbers else label_notes(counts.labels, counts.n)))
    notes = (*notes, *occurrence_notes(counts), *restatement_notes(counts))
    if margins.degrees_of_freedom < FEW - 1e-9 and silent < 1:
        notes = (*notes, few_rows_decide(margins))
    by_chance, verified = counts.chance, None if silent >= 1 else terms.agreeing / (terms.total - terms.silent)
    low, high, above = _against_chance(counts, terms, margins, verified, by_chance, confidence)
    least, most = (value, value + silent) if margins.bracket is None else margins.bracket[:2]
    return Estimate(
        measure=measure,
        value=value,
        low=max(0.0, least - margins.below),
        high=min(1.0, most + margins.above),
        confidence=float(confidence),
        method=method,
        unverifiable=silent,
        verified=verified,
        chance=by_chance,
        n=counts.n,
        distinct=counts.distinct,
        effective_n=counts.effective_n,
        margins=margins,
        counts=counts,
        notes=notes,
        verified_low=low,
        verified_high=high,
        above_chance=above,
        agreement=counts.agreement,
        clusters=None if counts.clusters is None else counts.clusters.clusters,
    )


def few_rows_decide(margins: Margins) -> str:
    """A note on an interval with few degrees of freedom."""
    rows = max(1, round(margins.degrees_of_freedom))
    return (
        f"a few rows decide this interval: its width rests on about {several(rows, 'row', 'rows')}, so read it loosely"
    )


def noted(estimate: Estimate, notes: tuple[str, ...]) -> Estimate:
    """The same estimate with further notes."""
    return replace(estimate, notes=(*estimate.notes, *notes)) if notes else estimate


def _against_chance(
    counts: Counted, terms: Sums, margins: Margins, verified: float | None, chance: float | None, confidence: float
) -> tuple[float | None, float | None, bool | None]:
    """(verified_low, verified_high, above_chance); the interval never contradicts the test."""
    if verified is None:
        return None, None, None
    low, high = max(0.0, verified - margins.verified), min(1.0, verified + margins.verified)
    if chance is None or chance >= 1:
        return low, high, None
    if not counts.plain:
        return low, high, low > chance
    above = exceeds_chance(counts.profile(), terms.agreeing, chance, confidence, margins.weight)
    return max(low, chance) if above else min(low, chance), high, above
