"""assert_faithful(): a faithfulness requirement as a line of a test suite; the command line's gate judges alike."""

import math
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from faithscope.errors import BadInput, FaithscopeError, WrongType
from faithscope.evaluation.compare import Comparison
from faithscope.evaluation.result import Evaluation
from faithscope.explanations.base import readable, several
from faithscope.inputs.arrays import to_items
from faithscope.inputs.checks import check_share
from faithscope.measures.estimate import Estimate
from faithscope.measures.populations import Populations

MEASURES = ("consistency", "sufficiency")
_PAIRS = 3  # counterexamples shown with a failure


class Unfaithful(AssertionError):
    """Explanations were not shown to be as faithful as asked."""


def assert_faithful(
    result: Any, at_least: float = 0.9, measure: str | None = None, *, by: Any = None, explainers: Any = None
) -> None:
    """Pass only if every true measure is at least this, with the estimates' confidence: ``low >= at_least``.

    Of an explainer with two measures, the weakest decides. Of several explainers, all that are not baselines
    (``baseline = True``, as `Constant`, `Random`, `Unique` have it) are judged; where there are only baselines, these
    are, and a warning says so.
    Populations that `result` holds are judged as well as the whole; windows of time are not.

    Parameters
    ----------
    result : Estimate, Evaluation, Comparison, Populations or Audit
    at_least : float
        Between 0 and 1.
    measure : {"consistency", "sufficiency"}, optional
        Judge only this one; an error where it was not measured.
    by : array-like, (n,), or names of columns of an audit's log, optional
        Judge each population too, in place of those that `result` holds: what the method ``by`` of `result` takes.
    explainers : str or list of str, optional
        The names of the explainers of a comparison to judge, baselines or not. Explanations that were handed over
        ready do not say who made them, so name those to be judged where a baseline is among them.

    Raises
    ------
    Unfaithful
        An ``AssertionError`` that names everyone who failed: explainer, population, measure, lower limit and
        threshold, whether more rows could help, and where the weakest fails.

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
class Judged:
    """One estimate that is held against a threshold, and whose it is.

    Attributes
    ----------
    explainer, population : str
        Empty where there is no name, and for all rows.
    """

    explainer: str
    population: str
    estimate: Estimate
    evaluation: Any = field(default=None, repr=False)  # what can be asked for pairs of rows

    @property
    def who(self) -> str:
        """Explainer and population, to begin a line with."""
        return ", ".join(part for part in (self.explainer, self.population) if part)

    def line(self, at_least: float) -> str:
        """Who failed, by which measure, and why."""
        estimate = self.estimate
        limits = f"{_down(estimate.low)}, {_up(estimate.high)}"
        low = f"its lower limit is {_down(estimate.low)} ({100 * estimate.confidence:g}% interval [{limits}])"
        short = f"{estimate.measure} was not shown to be at least {at_least:g}: {low}"
        return f"{self._begin}{short}; {_reason(estimate, at_least)}"

    def in_full(self) -> str:
        """The whole estimate, and whose it is."""
        return f"{self._begin}{self.estimate}"

    @property
    def _begin(self) -> str:
        return f"{self.who}: " if self.who else ""


@dataclass(frozen=True)
class Judgment:
    """Everybody who was judged, and who failed.

    Attributes
    ----------
    judged : tuple of Judged
    at_least : float
    remarks : tuple of str
        What a reader should know, whether or not anybody failed.
    """

    judged: tuple[Judged, ...]
    at_least: float
    remarks: tuple[str, ...] = ()

    @property
    def failures(self) -> tuple[Judged, ...]:
        """Those whose lower limit is below the threshold: whole samples first, the weakest first."""
        failed = [judged for judged in self.judged if not judged.estimate.low >= self.at_least]
        return tuple(sorted(failed, key=lambda judged: (judged.population != "", round(judged.estimate.low, 9))))

    def lines(self) -> list[str]:
        """One line for each failure, then the remarks."""
        return [*(judged.line(self.at_least) for judged in self.failures), *self.remarks]

    def told(self) -> str:
        """All lines, the weakest estimate in full, and pairs of rows on which it fails."""
        weakest = self.failures[0]
        return "\n".join([*self.lines(), f"In full: {weakest.in_full()}", *_pairs(weakest)])


def judge(
    result: Any, at_least: float, measure: str | None = None, *, by: Any = None, explainers: Any = None
) -> Judgment:
    """Hold every estimate of a result against a threshold; parameters as for `assert_faithful`."""
    check_share(at_least, "at_least")
    if measure is not None and measure not in MEASURES:
        raise BadInput(f"measure must be 'consistency' or 'sufficiency'; got {measure!r}.")
    if isinstance(result, Comparison):
        chosen, remarks = _chosen(result, explainers)
        judged = [part for name in chosen for part in _of_explainer(result, name, measure, by)]
    elif explainers is not None:
        raise BadInput(f"explainers= chooses among those of a comparison; got {_kind(result)}.")
    else:
        judged, remarks = _of_one(result, measure, by), []
    remarks = [*remarks, *_whole_only(judged), *_reached_by_chance(judged, at_least)]
    return Judgment(tuple(judged), at_least, tuple(remarks))


def _chosen(comparison: Comparison, explainers: Any) -> tuple[list[str], list[str]]:
    """The explainers of a comparison that are judged, and what is to be said about that."""
    if explainers is not None:
        names = [explainers] if isinstance(explainers, str) else to_items(explainers, "explainers=, the names,")
        for name in names:
            comparison[name]  # a sentence with near names where there is none
        if not names:
            raise BadInput("explainers= names nobody: name at least one, or leave it out.")
        return names, []
    real = [name for name, ev in comparison.items() if not ev.baseline]
    if real:
        return real, []
    return list(comparison), [f"Only baselines were given, so they are judged: {', '.join(comparison)}."]


def _of_explainer(comparison: Comparison, name: str, measure: str | None, by: Any) -> list[Judged]:
    evaluation = comparison[name]
    held = [comparison.populations.get(name), comparison.sufficiency_populations.get(name)]
    return _judged(name, evaluation, measure, held if by is None else _asked(evaluation, by))


def _of_one(result: Any, measure: str | None, by: Any) -> list[Judged]:
    if isinstance(result, Estimate | Populations):
        if by is not None:
            raise BadInput(f"by= needs rows, which {_kind(result)} does not keep: pass the evaluation itself.")
        estimates = {"": result} if isinstance(result, Estimate) else _by_words(result)
        return [Judged("", words, _is(estimate, measure)) for words, estimate in estimates.items()]
    if not isinstance(getattr(result, "consistency", None), Estimate):
        raise WrongType(
            "assert_faithful reads an Estimate, an Evaluation, a Comparison, Populations or an Audit; "
            f"got {type(result).__name__}."
        )
    held = [result.populations, getattr(result, "sufficiency_populations", None)]
    return _judged(result.name, result, measure, held if by is None else _asked(result, by))


def _judged(name: str, result: Any, measure: str | None, populations: Iterable[Populations | None]) -> list[Judged]:
    """The whole and every population, by the measures that are asked for."""
    estimates = [estimate for estimate in (result.consistency, result.sufficiency) if estimate is not None]
    wanted = [estimate for estimate in estimates if measure is None or estimate.measure == measure]
    if not wanted:
        why = "; ".join(getattr(result, "notes", ())) or "its explanations do not say where they apply"
        raise BadInput(f"{name} has no {measure}: {why}. Judge another measure, or other explainers.")
    groups = [_by_words(members).items() for members in populations if members is not None]
    named = [pair for group in groups for pair in group]
    parts = [(words, part) for words, part in named if measure is None or part.measure == measure]
    if groups and not parts:
        raise BadInput(f"{name} has no {measure} by population: judge consistency, or leave the populations out.")
    return [Judged(name, words, estimate, result) for words, estimate in [*(("", whole) for whole in wanted), *parts]]


def _asked(result: Any, groups: Any) -> list[Populations]:
    """The populations of an evaluation or an audit, by every measure it has."""
    asked = [result.by(groups)]
    if isinstance(result, Evaluation) and result.sufficiency is not None:
        asked.append(result.by(groups, "sufficiency"))
    return asked


def _by_words(populations: Populations) -> Mapping[str, Estimate]:
    """Estimates by what their population is called in a sentence."""
    named = f"{populations.by} " if populations.by else "population "
    return {f"{named}{readable(group)}": estimate for group, estimate in populations.estimates.items()}


def _is(estimate: Estimate, measure: str | None) -> Estimate:
    if measure is not None and estimate.measure != measure:
        raise BadInput(f"measure={measure!r} was asked for, but this estimate is of {estimate.measure}.")
    return estimate


def _kind(result: Any) -> str:
    word = type(result).__name__
    return word if word.endswith("s") else f"an {word}" if word[:1] in "AEIOU" else f"a {word}"


def _whole_only(judged: Iterable[Judged]) -> list[str]:
    """A remark for each measure that was judged for all rows, and not by population where another was."""
    parts = {(part.explainer, part.estimate.measure) for part in judged if part.population}
    names = {name for name, _ in parts}
    return [
        f"{part.explainer}: {part.estimate.measure} was judged for all rows only: it was not measured by population."
        for part in judged
        if not part.population and part.explainer in names and (part.explainer, part.estimate.measure) not in parts
    ]


def _reached_by_chance(judged: Iterable[Judged], at_least: float) -> list[str]:
    """A remark where all rows pass a threshold that an explanation that means nothing would pass too."""
    whole = [part for part in judged if not part.population and part.estimate.low >= at_least > 0]
    passed = {(part.explainer, part.estimate.measure): part.estimate.chance or 0.0 for part in whole}
    weak = {who: chance for who, chance in passed.items() if chance >= at_least}
    if not weak:
        return []
    names = ", ".join(" ".join(filter(None, who)) for who in weak)
    chance = f"chance alone gives {max(weak.values()):.3f}"
    return [f"{names}: passing {at_least:g} shows little, since {chance}; ask for more."]


def _reason(estimate: Estimate, wanted: float) -> str:
    if estimate.high < wanted:
        return "all of it is below: these explanations are less faithful than that"
    if (best := _at_best(estimate)) < wanted:
        rows = several(estimate.n, "row is", "rows are")
        return f"{rows} too few: even if all agreed, the lower limit would be at most {_up(best)}"
    if estimate.upper < wanted or estimate.unverifiable <= estimate.margins.below:  # silence is the lesser part
        return f"more rows than these {estimate.n:,} would make it narrower"
    return (
        f"{estimate.unverifiable:.0%} of the {estimate.n:,} rows have an explanation that covers no other row: measure "
        "more rows, or make explanations coarser (fs.plan says how many rows)"
    )


def _at_best(estimate: Estimate) -> float:
    """What the lower limit of so many rows could be at most: that of perfect agreement."""
    if estimate.method == "mcdiarmid":
        return max(0.0, 1 - estimate.margins.below)
    return max(
        0.0, 1 - 2 * math.log(2 / (1 - estimate.confidence)) / estimate.effective_n
    )  # the jackknife's least margin


def _pairs(failed: Judged) -> list[str]:
    """Pairs of rows that show the failure, where rows are at hand; the reason where they cannot be shown."""
    question = "wrongly_covered" if failed.estimate.measure == "sufficiency" else "counterexamples"
    ask = getattr(failed.evaluation, question, None)
    if ask is None or failed.population:
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
    """What a row is called: by its label, or by its position where rows have no labels."""
    return pair[label] if label in pair else pair[position]  # a log has no positions


def _down(share: float) -> str:
    """A lower limit, never said higher than it is."""
    return f"{math.floor(share * 1000) / 1000:.3f}"


def _up(share: float) -> str:
    """An upper limit, never said lower than it is."""
    return f"{math.ceil(share * 1000) / 1000:.3f}"
