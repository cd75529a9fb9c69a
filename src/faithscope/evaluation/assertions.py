"""assert_faithful(): a requirement in a test suite; `judge` is shared with ``--fail-under`` of the command line."""

import warnings
from dataclasses import dataclass, field
from typing import Any

from faithscope.errors import BadInput, FaithscopeError, WrongType
from faithscope.evaluation.compare import Comparison
from faithscope.evaluation.result import Evaluation
from faithscope.inputs.checks import check_share, check_word
from faithscope.measures.comparing.populations import Populations
from faithscope.measures.estimate import MEASURES, Estimate
from faithscope.measures.telling import names_at_random, shown_to_name
from faithscope.notes import Note, of_kind
from faithscope.rounding import down, in_brackets

_ALONE = 'measure="consistency"'
_TYPED = (_ALONE, "--measure consistency")
_SUFFICIENCY = 'measure="sufficiency"'
_PAIRS = 3  # counterexamples shown with a failure
_ALIKE = (
    "rows {index_a} and {index_b} are predicted {prediction_a!r} and {prediction_b!r}, with the same explanation: "
    "{explanation}"
)


class Unfaithful(AssertionError):
    """Explanations were not shown to be as faithful as asked."""


def assert_faithful(result: Any, at_least: float = 0.9, measure: str | None = None, *, by: Any = None) -> None:
    """Raise unless every measure is shown to be at least a threshold: ``low >= at_least``.

    An interval that may miss the truth, as a note then says, shows nothing.

    If an explainer has consistency and sufficiency, both must pass; necessity is judged only if `measure` asks for it.
    Importances measured by `Alike` must be shown to name better features than random ones; if no relation was asked
    for, that is all that is asked of their sufficiency, since how high it is depends on how many features are named.
    In a comparison, all explainers are judged but the baselines (those with ``baseline = True``: `Constant`, `Random`,
    `Unique`); if there are only baselines, they are judged, and a warning says so. Ready explanations do not say
    whether a baseline made them: if one did, judge the explainers one by one, ``comparison["tree"]``. Populations that
    `result` holds are judged as well as all rows; windows of time are not.

    Parameters
    ----------
    result : Estimate, Evaluation, Comparison, Populations or Audit
    at_least : float
        Between 0 and 1.
    measure : {"consistency", "sufficiency", "necessity"}, optional
        Judge only this measure; it is an error if it was not measured.
    by : array-like, (n,), or names of columns of X or of an audit's log, optional
        Judge these populations, in place of those that `result` holds; passed to the method ``by`` of `result`.

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
    failures, remarks = judge(result, at_least, measure, by=by)
    if failures:
        weakest, lines = failures[0], [failed.line(at_least) for failed in failures]
        in_full = f"In full: {weakest.who}{weakest.estimate.sentence}"
        raise Unfaithful("\n".join([*lines, *remarks, in_full, *_pairs(weakest)]))
    for remark in remarks:
        if not of_kind([remark], "unjudged"):
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
    result: Any = field(default=None, repr=False)  # an Evaluation or Audit, which gives pairs of rows

    @property
    def who(self) -> str:
        """Explainer and population, to stand before what is told of them."""
        named = ", ".join(filter(None, (self.explainer, self.population)))
        return f"{named}: " if named else ""

    def fails(self, at_least: float) -> bool:
        """Whether it is not shown to reach the threshold."""
        estimate = self.estimate
        return bool(not estimate.low >= at_least or of_kind(estimate.notes, "interval") or not shown_to_name(estimate))

    def line(self, at_least: float) -> Note:
        """One line: who failed, in which measure, and why."""
        estimate = self.estimate
        if shown_to_name(estimate):
            limits = f"its {100 * estimate.confidence:g}% interval is {in_brackets(estimate.low, estimate.high, 3)}"
            short = f"{estimate.measure} was not shown to be at least {at_least:g}: {limits}"
            return Note(f"{self.who}{short}; {_reason(estimate, at_least)}")
        fact, advice = "are not shown to be better", f"; measure more rows, or pass {_ALONE}"
        if names_at_random(estimate, at_least):
            fact, advice = "are no better", ""
        told = f"{self.who}features that explanations name {fact} than random ones:{estimate._beyond[1:]}{advice}"
        return Note(told, option=_TYPED)


def judge(
    result: Any, at_least: float, measure: str | None = None, *, by: Any = None
) -> tuple[list[JudgedEstimate], list[str]]:
    """Compare every estimate that a result holds with a threshold; the parameters are those of `assert_faithful`.

    Returns
    -------
    failures : list of JudgedEstimate
        Those not shown to reach it: of all rows first, then of populations; the weakest first.
    remarks : list of str
        What a reader should know, whether or not anybody failed.
    """
    check_share(at_least, "at_least")
    check_word(measure, "measure", MEASURES, optional=True)
    results, remarks = [result], list[str]()
    if isinstance(result, Comparison):
        results = [each for each in result.values() if not each.baseline] or [*result.values()]
        if results[0].baseline:
            remarks += [f"Only baselines were given, so they are judged: {', '.join(result)}."]
    judged = [part for each in results for part in _judged(each, measure, by)]
    for each in results if measure is None else ():
        for note in of_kind(getattr(each, "_remarks", ()), "unasked"):
            remarks.append(f"{each.name}: {note.rstrip('.')}.")
        if _by_naming(each) and each.sufficiency.low < at_least:
            limit = f"the lower limit of sufficiency, {down(each.sufficiency.low)}, is not judged"
            told = f"{each.name}: {limit}, only that named features are better than random ones: {_SUFFICIENCY} does."
            remarks.append(Note(told, "unjudged", (_SUFFICIENCY, "--measure sufficiency")))
    for part in judged:
        estimate, chance = part.estimate, part.estimate.chance or 0.0
        if not part.population and estimate.low >= at_least > 0 and chance >= at_least:
            little = f"passing {at_least:g} shows little, since chance alone gives {chance:.3f}; use a higher threshold"
            remarks.append(f"{part.who}{estimate.measure}: {little}.")
    failed = [part for part in judged if part.fails(at_least)]
    inconsistent = {part.explainer for part in failed if part.estimate.measure == "consistency"}
    for name in dict.fromkeys(part.explainer for part in failed if measure is None and part.result is not None):
        if name not in inconsistent:
            told = f"{name}: consistency is shown to be at least {at_least:g}: {_ALONE} judges it alone."
            remarks.append(Note(told, option=_TYPED))
    return sorted(failed, key=lambda part: (part.population != "", round(part.estimate.low, 9))), remarks


def _judged(result: Any, measure: str | None, by: Any) -> list[JudgedEstimate]:
    """The estimates of one explainer that are judged: of all rows, and by population."""
    if isinstance(result, Estimate | Populations):
        if by is not None:
            raise BadInput(f"by= needs rows, which {type(result).__name__} does not keep: pass the evaluation itself.")
        parts = [("", result)] if isinstance(result, Estimate) else _of_groups(result)
        known = parts[0][1].measure
        if measure not in (None, known):
            raise BadInput(f"measure={measure!r} was asked for, but this estimate is of {known}.")
        return [JudgedEstimate("", words, estimate) for words, estimate in parts]
    if not hasattr(result, "_populations"):
        raise WrongType(
            "assert_faithful reads an Estimate, an Evaluation, a Comparison, Populations or an Audit; "
            f"got {type(result).__name__}."
        )
    asked = ("consistency", "sufficiency") if measure is None else (measure,)
    held = {name: estimate for name in asked if (estimate := getattr(result, name)) is not None}
    names = ("consistency",) if measure is None and _by_naming(result) else asked
    whole = [("", each) for name, each in held.items() if name in names or not shown_to_name(each)]
    if not whole:
        remarks = result._remarks if isinstance(result, Evaluation) else result.notes
        why = "; ".join(remarks).rstrip(".?") or "its explanations do not say where they apply"
        if result.sufficiency is not None:
            why = "it is not defined by Spread, nor for a judge who was not asked about all rows"
        raise BadInput(f"{result.name} has no {measure}: {why}. Judge another measure, or other explainers.")
    groups = result._populations() if by is None else [result.by(by, name) for name in names if name in held]
    named = [pair for populations in groups for pair in _of_groups(populations)]
    parts = [(words, part) for words, part in named if part.measure in names]
    if named and not parts:
        raise BadInput(f"{result.name} has no {measure} by population: pass by=, or leave the populations out.")
    return [JudgedEstimate(result.name, words, estimate, result) for words, estimate in [*whole, *parts]]


def _by_naming(result: Any) -> bool:
    """Whether it only matters that named features are the right ones: nobody asked how far rows alike in them agree."""
    known = getattr(result, "sufficiency", None)
    naming = known is not None and known.beyond_random is not None
    return naming and (not isinstance(result, Evaluation) or result.options.by_default)


def _of_groups(populations: Populations) -> list[tuple[str, Estimate]]:
    """The estimates of all groups, each after the words for its group."""
    return [(f"{populations.by or 'population'} {name}", each) for name, each in populations._texts.items()]


def _reason(estimate: Estimate, wanted: float) -> str:
    """Why the threshold is not reached, and whether more rows could help."""
    if known := of_kind(estimate.notes, "constant", "interval"):
        return known[0]
    if estimate.high < wanted:
        return "all of it is below"
    if estimate.counts.relation.partial:
        return f"measure more rows than these {estimate.n:,}, or ask about more pairs (fs.pairs_to_ask)"
    least, most = estimate.bracket
    if most < wanted or most - least <= estimate.margins.below:  # silence is the lesser part
        return f"more rows than these {estimate.n:,} would make it narrower"
    coarser = "make explanations coarser, by a discretizer that keeps less of them"
    silent = f"{most - least:.0%} of the {estimate.n:,} rows are as good as unverifiable"
    return f"{silent}: measure more rows (fs.plan says how many), or {coarser}"


def _pairs(failed: JudgedEstimate) -> list[str]:
    """Lines with pairs of rows that show a failure of consistency, or with the reason why they cannot be shown."""
    ask = getattr(failed.result, "counterexamples", None)
    if ask is None or failed.population or failed.estimate.measure != "consistency":
        return []
    try:
        return [_ALIKE.format(**pair) for pair in ask(_PAIRS).to_dict("records")]
    except FaithscopeError as problem:
        return [f"No pairs of rows are shown: {problem}"]
