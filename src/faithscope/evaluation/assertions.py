"""assert_faithful(): a requirement in a test suite; `judge` is shared with ``--fail-under`` of the command line."""

import math
import warnings
from dataclasses import dataclass, field
from typing import Any

from faithscope.errors import BadInput, FaithscopeError, WrongType
from faithscope.evaluation.compare import Comparison
from faithscope.evaluation.result import Evaluation
from faithscope.explanations.base import several
from faithscope.inputs.arrays import to_items
from faithscope.inputs.checks import check_share, check_word
from faithscope.measures.comparing.populations import Populations
from faithscope.measures.estimate import FOR_EQUALITY, MEASURES, NECESSITY, Estimate
from faithscope.measures.telling import names_at_random, shown_to_name
from faithscope.notes import of_kind
from faithscope.rounding import in_brackets, up

_PAIRS = 3  # counterexamples shown with a failure
_ALIKE = (
    "rows {index_a} and {index_b} are predicted {prediction_a!r} and {prediction_b!r}, with the same explanation: "
    "{explanation}"
)
_COVERED = (
    "row {index} is predicted {prediction!r}, and its explanation also applies to row {wrong_index}, predicted "
    "{wrong_prediction!r}: {explanation}"
)


class Unfaithful(AssertionError):
    """Explanations were not shown to be as faithful as asked."""


def assert_faithful(
    result: Any, at_least: float = 0.9, measure: str | None = None, *, by: Any = None, explainers: Any = None
) -> None:
    """Raise unless every measure is shown to be at least a threshold: ``low >= at_least``.

    An interval that may miss the truth, as a note then says, shows nothing.

    If an explainer has consistency and sufficiency, both must pass; necessity is judged only if `measure` asks for it.
    Importances measured by `Alike` must be shown to name better features than random ones; if no relation was asked
    for, that is all that is asked of their sufficiency, since how high it is depends on how many features are named.
    In a comparison, all explainers are judged but the baselines (those with ``baseline = True``: `Constant`, `Random`,
    `Unique`); if there are only baselines, they are judged, and a warning says so. Populations that `result` holds are
    judged as well as all rows; windows of time are not.

    Parameters
    ----------
    result : Estimate, Evaluation, Comparison, Populations or Audit
    at_least : float
        Between 0 and 1.
    measure : {"consistency", "sufficiency", "necessity"}, optional
        Judge only this measure; it is an error if it was not measured.
    by : array-like, (n,), or names of columns of X or of an audit's log, optional
        Judge these populations, in place of those that `result` holds; passed to the method ``by`` of `result`.
    explainers : str or list of str, optional
        The names of the explainers of a comparison to judge, baselines or not. Ready explanations do not say whether a
        baseline made them: if one did, name the explainers to be judged.

    Raises
    ------
    Unfaithful
        An ``AssertionError`` with one line per failure: explainer, population, measure, interval, threshold, and
        whether more rows could help; then rows on which the weakest fails.

    Examples
    --------
    >>> from faithscope import consistency
    >>> assert_faithful(consistency(["a", "b"] * 500, [0, 1] * 500), at_least=0.9)
    """
    __tracebackhide__ = True
    judgment = judge(result, at_least, measure, by=by, explainers=explainers)
    if judgment.failures:
        weakest = judgment.failures[0]
        in_full = f"In full: {weakest.told(weakest.estimate.sentence)}"
        raise Unfaithful("\n".join([*judgment.lines(), in_full, *_pairs(weakest)]))
    for remark in judgment.remarks:
        warnings.warn(remark, stacklevel=2)


@dataclass(frozen=True)
class JudgedEstimate:
    """One estimate that is compared with the threshold, and the explainer and population it belongs to.

    Attributes
    ----------
    explainer, population : str
        The explainer is empty if it has no name, the population if the estimate is of all rows.
    """

    explainer: str
    population: str
    estimate: Estimate
    evaluation: Any = field(default=None, repr=False)  # an Evaluation or Audit, which gives pairs of rows

    def told(self, words: str) -> str:
        """Words on the estimate, after its explainer and population."""
        who = ", ".join(filter(None, (self.explainer, self.population)))
        return f"{who}: {words}" if who else words

    def fails(self, at_least: float) -> bool:
        """Whether it is not shown to reach the threshold."""
        estimate = self.estimate
        return bool(not estimate.low >= at_least or of_kind(estimate.notes, "interval") or not shown_to_name(estimate))

    def line(self, at_least: float) -> str:
        """One line: who failed, in which measure, and why."""
        estimate = self.estimate
        if shown_to_name(estimate):
            limits = f"its {100 * estimate.confidence:g}% interval is {in_brackets(estimate.low, estimate.high, 3)}"
            short = f"{estimate.measure} was not shown to be at least {at_least:g}: {limits}"
            return self.told(f"{short}; {_reason(estimate, at_least)}")
        fact, advice = "are not shown to be better", "; measure more rows, or judge consistency alone"
        if names_at_random(estimate, at_least):
            fact, advice = "are no better", ""
        return self.told(f"features that explanations name {fact} than random ones:{estimate._beyond[1:]}{advice}")


@dataclass(frozen=True)
class Judgment:
    """All estimates that were judged, and which of them failed.

    Attributes
    ----------
    judged : tuple of JudgedEstimate
    at_least : float
    remarks : tuple of str
        What a reader should know, whether or not anybody failed.
    """

    judged: tuple[JudgedEstimate, ...]
    at_least: float
    remarks: tuple[str, ...] = ()

    @property
    def failures(self) -> tuple[JudgedEstimate, ...]:
        """Those not shown to reach the threshold: of all rows first, then of populations; the weakest first."""
        failed = [judged for judged in self.judged if judged.fails(self.at_least)]
        return tuple(sorted(failed, key=lambda judged: (judged.population != "", round(judged.estimate.low, 9))))

    def lines(self) -> list[str]:
        """One line per failure, then the remarks."""
        return [*(judged.line(self.at_least) for judged in self.failures), *self.remarks]


def judge(
    result: Any, at_least: float, measure: str | None = None, *, by: Any = None, explainers: Any = None
) -> Judgment:
    """Compare every estimate that a result holds with a threshold; the parameters are those of `assert_faithful`."""
    check_share(at_least, "at_least")
    check_word(measure, "measure", MEASURES, optional=True)
    results, remarks = [result], list[str]()
    if isinstance(result, Comparison):
        chosen, remarks = _chosen(result, explainers)
        results = [result[name] for name in chosen]
    elif explainers is not None:
        raise BadInput(f"explainers= chooses among those of a comparison; got {_kind(result)}.")
    judged = [part for each in results for part in _judged(each, measure, by)]
    for each in results if measure is None else ():
        why = each.options.unasked if isinstance(each, Evaluation) else ""
        told = [f"whether explanations name the right features was not asked: {why.rstrip('.')}"] if why else []
        told += of_kind(getattr(each, "notes", ()), "unasked")
        remarks += [f"{each.name}: {note}." for note in told]
    parts = {(part.explainer, part.estimate.measure) for part in judged if part.population}
    whole = [part for part in judged if not part.population]
    remarks += [
        f"{name}: {part.estimate.measure} was judged for all rows only: it was not measured by population."
        for part in whole
        if (name := part.explainer) in dict(parts) and (name, part.estimate.measure) not in parts
    ]
    weak = {
        f"{part.explainer} {part.estimate.measure}".strip(): part.estimate.chance
        for part in whole
        if part.estimate.low >= at_least > 0 and (part.estimate.chance or 0.0) >= at_least
    }
    if weak:
        chance = f"chance alone gives {max(filter(None, weak.values())):.3f}"
        remarks += [f"{', '.join(weak)}: passing {at_least:g} shows little, since {chance}; use a higher threshold."]
    return Judgment(tuple(judged), at_least, tuple(remarks))


def _chosen(comparison: Comparison, explainers: Any) -> tuple[list[str], list[str]]:
    """The explainers of a comparison that are judged, and a remark if they are all baselines."""
    if explainers is not None:
        names = [explainers] if isinstance(explainers, str) else to_items(explainers, "explainers=, the names,")
        if not names:
            raise BadInput("explainers= names nobody: name at least one, or leave it out.")
        return names, []
    real = [name for name, ev in comparison.items() if not ev.baseline]
    if real:
        return real, []
    return list(comparison), [f"Only baselines were given, so they are judged: {', '.join(comparison)}."]


def _judged(result: Any, measure: str | None, by: Any) -> list[JudgedEstimate]:
    """The estimates of one explainer that are judged: of all rows, and by population."""
    if isinstance(result, Estimate | Populations):
        if by is not None:
            raise BadInput(f"by= needs rows, which {_kind(result)} does not keep: pass the evaluation itself.")
        estimates = [("", result)] if isinstance(result, Estimate) else _by_words(result)
        other = [estimate.measure for _, estimate in estimates if measure not in (None, estimate.measure)]
        if other:
            raise BadInput(f"measure={measure!r} was asked for, but this estimate is of {other[0]}.")
        return [JudgedEstimate("", words, estimate) for words, estimate in estimates]
    if not hasattr(result, "_populations"):
        raise WrongType(
            "assert_faithful reads an Estimate, an Evaluation, a Comparison, Populations or an Audit; "
            f"got {type(result).__name__}."
        )
    asked = ("consistency", "sufficiency") if measure is None else (measure,)
    held = {name: estimate for name in asked if (estimate := getattr(result, name)) is not None}
    # Unless somebody asked how far rows alike in named features agree, only whether these are the right ones matters.
    naming = result.sufficiency is not None and result.sufficiency.beyond_random is not None
    unasked = naming and (not isinstance(result, Evaluation) or result.options.by_default)
    names = ("consistency",) if measure is None and unasked else asked
    groups = result._populations() if by is None else [result.by(by, name) for name in names if name in held]
    whole = [("", each) for name, each in held.items() if name in names or not shown_to_name(each)]
    if not whole:
        notes = () if isinstance(result, Evaluation) else result.notes
        why = "; ".join(notes) or "its explanations do not say where they apply"
        raise BadInput(f"{result.name} has no {measure}: {why}. Judge another measure, or other explainers.")
    named = [pair for populations in groups for pair in _by_words(populations)]
    parts = [(words, part) for words, part in named if part.measure in names]
    if named and not parts:
        raise BadInput(f"{result.name} has no {measure} by population: pass by=, or leave the populations out.")
    return [JudgedEstimate(result.name, words, estimate, result) for words, estimate in [*whole, *parts]]


def _by_words(populations: Populations) -> list[tuple[str, Estimate]]:
    """The estimates of all groups, each after the words for its group."""
    return [
        (f"{part.by or 'population'} {name}", estimate)
        for part in populations.groupings
        for name, estimate in part._texts.items()
    ]


def _kind(result: Any) -> str:
    """What a result is, with its article."""
    word = type(result).__name__
    return word if word.endswith("s") else f"an {word}" if word[:1] in "AEIOU" else f"a {word}"


def _reason(estimate: Estimate, wanted: float) -> str:
    """Why the threshold is not reached, and whether more rows could help."""
    if known := of_kind(estimate.notes, "constant", "interval"):
        return known[0]
    if estimate.high < wanted:
        reach = "apply to fewer of the rows with their prediction" if estimate.measure == NECESSITY else None
        return f"all of it is below: these explanations {reach or 'are less faithful'} than that"
    least, most = estimate.bracket
    margin = 2 * math.log(2 / (1 - estimate.confidence)) / estimate.effective_n  # the jackknife's least
    best = max(0.0, 1 - (estimate.margins.below if estimate.method in FOR_EQUALITY else margin))
    if best < wanted:  # the highest lower limit that this number of rows can reach: that of perfect agreement
        rows = several(estimate.n, "row is", "rows are")
        return f"{rows} too few: even if all agreed, the lower limit would be at most {up(best)}"
    if most < wanted or most - least <= estimate.margins.below:  # silence is the lesser part
        pairs = "; or ask about more pairs (fs.pairs_to_ask)" if estimate.counts.relation.partial else ""
        return f"more rows than these {estimate.n:,} would make it narrower{pairs}"
    more = "make explanations coarser, such as importances by discretizer=fs.SignOfTop(3)"
    if estimate.counts.relation.partial:
        more = "ask about more pairs (fs.pairs_to_ask)"
    silent = f"{most - least:.0%} of the {estimate.n:,} rows are as good as unverifiable"
    return f"{silent}: measure more rows (fs.plan says how many), or {more}"


def _pairs(failed: JudgedEstimate) -> list[str]:
    """Lines with pairs of rows that show the failure, or with the reason why they cannot be shown."""
    applies = failed.estimate.measure == "sufficiency"
    ask = getattr(failed.evaluation, "wrongly_covered" if applies else "counterexamples", None)
    if ask is None or failed.population or failed.estimate.measure == NECESSITY:
        return []
    try:
        lines = ask(_PAIRS).to_dict("records")
    except FaithscopeError as problem:
        return [f"No pairs of rows are shown: {problem}"]
    return [(_COVERED if applies else _ALIKE).format(**pair) for pair in lines]
