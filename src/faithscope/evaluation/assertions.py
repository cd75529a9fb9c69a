"""assert_faithful(): a requirement in a test suite; `judge` is shared with ``--fail-under`` of the command line."""

import math
import warnings
from collections.abc import Iterable, Mapping
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
        raise Unfaithful(judgment.told())
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

    @property
    def who(self) -> str:
        """Explainer and population, as the beginning of a line."""
        return ", ".join(part for part in (self.explainer, self.population) if part)

    def line(self, at_least: float) -> str:
        """One line: who failed, in which measure, and why."""
        estimate = self.estimate
        limits = f"its {100 * estimate.confidence:g}% interval is {in_brackets(estimate.low, estimate.high, 3)}"
        short = f"{estimate.measure} was not shown to be at least {at_least:g}: {limits}"
        if not shown_to_name(estimate):
            worse = names_at_random(estimate, at_least)
            fact = "are no better" if worse else "are not shown to be better"
            advice = "" if worse else "; measure more rows, or judge consistency alone"
            begin = f"{self._begin}features that explanations name {fact} than random ones"
            return f"{begin}:{estimate._beyond[1:]}{advice}"
        return f"{self._begin}{short}; {_reason(estimate, at_least)}"

    def in_full(self) -> str:
        """Explainer, population and the whole estimate."""
        return f"{self._begin}{self.estimate.sentence}"

    @property
    def _begin(self) -> str:
        return f"{self.who}: " if self.who else ""


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
        failed = [
            judged
            for judged in self.judged
            if not judged.estimate.low >= self.at_least
            or of_kind(judged.estimate.notes, "interval")
            or not shown_to_name(judged.estimate)
        ]
        return tuple(sorted(failed, key=lambda judged: (judged.population != "", round(judged.estimate.low, 9))))

    def lines(self) -> list[str]:
        """One line per failure, then the remarks."""
        return [*(judged.line(self.at_least) for judged in self.failures), *self.remarks]

    def told(self) -> str:
        """The lines, the weakest estimate in full, and pairs of rows on which it fails."""
        weakest = self.failures[0]
        return "\n".join([*self.lines(), f"In full: {weakest.in_full()}", *_pairs(weakest)])


def judge(
    result: Any, at_least: float, measure: str | None = None, *, by: Any = None, explainers: Any = None
) -> Judgment:
    """Compare every estimate of a result with a threshold; parameters as for `assert_faithful`."""
    check_share(at_least, "at_least")
    check_word(measure, "measure", MEASURES, optional=True)
    if isinstance(result, Comparison):
        chosen, remarks = _chosen(result, explainers)
        judged = [part for name in chosen for part in _of_explainer(result, name, measure, by, at_least)]
    elif explainers is not None:
        raise BadInput(f"explainers= chooses among those of a comparison; got {_kind(result)}.")
    else:
        judged, remarks = _of_one(result, measure, by, at_least), []
    remarks = [*remarks, *_whole_only(judged), *_reached_by_chance(judged, at_least)]
    return Judgment(tuple(judged), at_least, tuple(remarks))


def _chosen(comparison: Comparison, explainers: Any) -> tuple[list[str], list[str]]:
    """The names of the explainers to judge, and remarks about the choice."""
    if explainers is not None:
        names = [explainers] if isinstance(explainers, str) else to_items(explainers, "explainers=, the names,")
        for name in names:
            comparison[name]  # raises, with similar names, if there is no such explainer
        if not names:
            raise BadInput("explainers= names nobody: name at least one, or leave it out.")
        return names, []
    real = [name for name, ev in comparison.items() if not ev.baseline]
    if real:
        return real, []
    return list(comparison), [f"Only baselines were given, so they are judged: {', '.join(comparison)}."]


def _of_explainer(
    comparison: Comparison, name: str, measure: str | None, by: Any, at_least: float
) -> list[JudgedEstimate]:
    evaluation = comparison[name]
    held = evaluation._populations() if by is None else _asked(evaluation, by, measure)
    return _judged(name, evaluation, measure, held, at_least)


def _of_one(result: Any, measure: str | None, by: Any, at_least: float) -> list[JudgedEstimate]:
    if isinstance(result, Estimate | Populations):
        if by is not None:
            raise BadInput(f"by= needs rows, which {_kind(result)} does not keep: pass the evaluation itself.")
        estimates = [("", result)] if isinstance(result, Estimate) else _by_words(result)
        return [JudgedEstimate("", words, _is(estimate, measure)) for words, estimate in estimates]
    if not isinstance(getattr(result, "consistency", None), Estimate):
        raise WrongType(
            "assert_faithful reads an Estimate, an Evaluation, a Comparison, Populations or an Audit; "
            f"got {type(result).__name__}."
        )
    held = result._populations() if by is None else _asked(result, by, measure)
    return _judged(result.name, result, measure, held, at_least)


def _judged(
    name: str, result: Any, measure: str | None, populations: Iterable[Populations], at_least: float
) -> list[JudgedEstimate]:
    """The estimates of all rows and of every population, for the measures that are asked for."""
    names = ("consistency", "sufficiency") if measure is None else (measure,)
    wanted = [estimate for name in names if (estimate := getattr(result, name)) is not None]
    judged = _by_population(result, measure)
    if judged != names:  # nobody asked how far rows alike in them agree, only whether these features are the right ones
        wanted = [each for each in wanted if each.measure == "consistency" or not shown_to_name(each)]
    if not wanted:
        notes = () if isinstance(result, Evaluation) else result.notes
        why = "; ".join(notes) or "its explanations do not say where they apply"
        raise BadInput(f"{name} has no {measure}: {why}. Judge another measure, or other explainers.")
    named = [pair for members in populations for pair in _by_words(members)]
    parts = [(words, part) for words, part in named if part.measure in judged]
    if named and not parts:
        raise BadInput(f"{name} has no {measure} by population: pass by=, or leave the populations out.")
    return [
        JudgedEstimate(name, words, estimate, result)
        for words, estimate in [*(("", whole) for whole in wanted), *parts]
    ]


def _asked(result: Any, groups: Any, measure: str | None) -> list[Populations]:
    """The populations of an evaluation or an audit: of one measure, or of those that are judged and that it has."""
    names = _by_population(result, measure)
    return [result.by(groups, name) for name in names if getattr(result, name) is not None]


def _by_population(result: Any, measure: str | None) -> tuple[str, ...]:
    """The measures that are judged by population: not the sufficiency of named features, if nobody asked for it."""
    if measure is not None:
        return (measure,)
    naming = result.sufficiency is not None and result.sufficiency.beyond_random is not None
    by_default = naming and (not isinstance(result, Evaluation) or result.options.by_default)
    return ("consistency",) if by_default else ("consistency", "sufficiency")


def _by_words(populations: Populations) -> list[tuple[str, Estimate]]:
    """Estimates, each with the words for its population, such as "region north"."""
    return [
        (f"{part.by or 'population'} {name}", estimate)
        for part in populations.groupings
        for name, estimate in part._texts.items()
    ]


def _is(estimate: Estimate, measure: str | None) -> Estimate:
    if measure is not None and estimate.measure != measure:
        raise BadInput(f"measure={measure!r} was asked for, but this estimate is of {estimate.measure}.")
    return estimate


def _kind(result: Any) -> str:
    word = type(result).__name__
    return word if word.endswith("s") else f"an {word}" if word[:1] in "AEIOU" else f"a {word}"


def _whole_only(judged: Iterable[JudgedEstimate]) -> list[str]:
    """A remark for each measure that was judged for all rows only, although another was judged by population."""
    parts = {(part.explainer, part.estimate.measure) for part in judged if part.population}
    names = {name for name, _ in parts}
    return [
        f"{part.explainer}: {part.estimate.measure} was judged for all rows only: it was not measured by population."
        for part in judged
        if not part.population and part.explainer in names and (part.explainer, part.estimate.measure) not in parts
    ]


def _reached_by_chance(judged: Iterable[JudgedEstimate], at_least: float) -> list[str]:
    """A remark if the estimates of all rows pass a threshold that chance alone would pass too."""
    whole = [part for part in judged if not part.population and part.estimate.low >= at_least > 0]
    passed = {(part.explainer, part.estimate.measure): part.estimate.chance or 0.0 for part in whole}
    weak = {who: chance for who, chance in passed.items() if chance >= at_least}
    if not weak:
        return []
    names = ", ".join(" ".join(filter(None, who)) for who in weak)
    chance = f"chance alone gives {max(weak.values()):.3f}"
    return [f"{names}: passing {at_least:g} shows little, since {chance}; use a higher threshold."]


def _reason(estimate: Estimate, wanted: float) -> str:
    if estimate.verified is None and estimate.unverifiable < 1:  # a group without variance, by Spread
        return of_kind(estimate.notes, "constant")[0]
    if missed := of_kind(estimate.notes, "interval"):
        return missed[0]
    if estimate.high < wanted and estimate.measure == NECESSITY:
        return "all of it is below: these explanations apply to fewer of the rows with their prediction than that"
    if estimate.high < wanted:
        return "all of it is below: these explanations are less faithful than that"
    if (best := _at_best(estimate)) < wanted:
        rows = several(estimate.n, "row is", "rows are")
        return f"{rows} too few: even if all agreed, the lower limit would be at most {up(best)}"
    least, most = estimate.bracket
    if estimate.counts.relation.partial:
        silent = (
            f"{estimate.unverifiable:.0%} of the {estimate.n:,} rows have an explanation that applies to no other row"
        )
        return f"{silent} that the judge was asked about: ask about more pairs (fs.pairs_to_ask), or measure more rows"
    if most < wanted or most - least <= estimate.margins.below:  # silence is the lesser part
        return f"more rows than these {estimate.n:,} would make it narrower"
    if estimate.method == "kept rows":
        share = f"as if {most - least:.0%} of the {estimate.n:,} rows were unverifiable"
        return f"weights or clusters leave as much open {share}: measure more rows, or make explanations coarser"
    if estimate.measure == NECESSITY:
        alone = f"{estimate.unverifiable:.0%} of the {estimate.n:,} rows"
        return f"{alone} have a prediction that nobody else gets: measure more rows"
    return (
        f"{estimate.unverifiable:.0%} of the {estimate.n:,} rows have an explanation that covers no other row: measure "
        "more rows, or make explanations coarser (fs.plan says how many rows)"
    )


def _at_best(estimate: Estimate) -> float:
    """The highest lower limit that this number of rows can reach: that of perfect agreement."""
    if estimate.method in FOR_EQUALITY:
        return max(0.0, 1 - estimate.margins.below)
    least = 2 * math.log(2 / (1 - estimate.confidence)) / estimate.effective_n  # the jackknife's least margin
    return max(0.0, 1 - least)


def _pairs(failed: JudgedEstimate) -> list[str]:
    """Lines with pairs of rows that show the failure, or with the reason why they cannot be shown."""
    question = "wrongly_covered" if failed.estimate.measure == "sufficiency" else "counterexamples"
    ask = getattr(failed.evaluation, question, None)
    if ask is None or failed.population or failed.estimate.measure == NECESSITY:
        return []
    try:
        lines = ask(_PAIRS).to_dict("records")
    except FaithscopeError as problem:
        return [f"No pairs of rows are shown: {problem}"]
    return [_covered(pair) if question == "wrongly_covered" else _alike(pair) for pair in lines]


def _alike(pair: Mapping[str, Any]) -> str:
    a, b = _name(pair, "row_a", "index_a"), _name(pair, "row_b", "index_b")
    return (
        f"rows {a} and {b} are predicted {pair['prediction_a']!r} and "
        f"{pair['prediction_b']!r}, with the same explanation: {pair['explanation']}"
    )


def _covered(pair: Mapping[str, Any]) -> str:
    row, wrong = _name(pair, "row", "index"), _name(pair, "wrong_row", "wrong_index")
    return (
        f"row {row} is predicted {pair['prediction']!r}, and its explanation also applies to row "
        f"{wrong}, predicted {pair['wrong_prediction']!r}: {pair['explanation']}"
    )


def _name(pair: Mapping[str, Any], position: str, label: str) -> Any:
    """The label of a row, or its position if rows have no labels."""
    return pair[label] if label in pair else pair[position]  # a log has no positions
