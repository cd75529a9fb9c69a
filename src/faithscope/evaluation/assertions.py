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
    found: Any, at_least: float = 0.9, measure: str | None = None, *, by: Any = None, explainers: Any = None
) -> None:
    """Pass only if every true measure is at least this, with the estimates' confidence: ``low >= at_least``.

    Of an explainer with two measures, the weakest decides. Of several explainers, all that are not baselines
    (``baseline = True``, as `Constant`, `Random`, `Unique` have it) are judged; where there are only baselines, these
    are, and a warning says so.
    Populations that `found` holds are judged as well as the whole; windows of time are not.

    Parameters
    ----------
    found : Estimate, Evaluation, Comparison, Populations or Audit
    at_least : float
        Between 0 and 1.
    measure : {"consistency", "sufficiency"}, optional
        Judge only this one; an error where it was not measured.
    by : array-like, (n,), or names of columns of an audit's log, optional
        Judge each population too, in place of those that `found` holds: what the method ``by`` of `found` takes.
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
    judgment = judge(found, at_least, measure, by=by, explainers=explainers)
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
        one = self.estimate
        limits = f"{_down(one.low)}, {_up(one.high)}"
        low = f"its lower limit is {_down(one.low)} ({100 * one.confidence:g}% interval [{limits}])"
        short = f"{one.measure} was not shown to be at least {at_least:g}: {low}"
        return f"{self._begin}{short}; {_reason(one, at_least)}"

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
        failed = [one for one in self.judged if not one.estimate.low >= self.at_least]
        return tuple(sorted(failed, key=lambda one: (one.population != "", round(one.estimate.low, 9))))

    def lines(self) -> list[str]:
        """One line for each failure, then the remarks."""
        return [*(one.line(self.at_least) for one in self.failures), *self.remarks]

    def told(self) -> str:
        """All lines, the weakest estimate in full, and pairs of rows on which it fails."""
        weakest = self.failures[0]
        return "\n".join([*self.lines(), f"In full: {weakest.in_full()}", *_pairs(weakest)])


def judge(
    found: Any, at_least: float, measure: str | None = None, *, by: Any = None, explainers: Any = None
) -> Judgment:
    """Hold every estimate of what was found against a threshold; parameters as for `assert_faithful`."""
    check_share(at_least, "at_least")
    if measure is not None and measure not in MEASURES:
        raise BadInput(f"measure must be 'consistency' or 'sufficiency'; got {measure!r}.")
    if isinstance(found, Comparison):
        chosen, remarks = _chosen(found, explainers)
        judged = [one for name in chosen for one in _of_explainer(found, name, measure, by)]
    elif explainers is not None:
        raise BadInput(f"explainers= chooses among those of a comparison; got {_kind(found)}.")
    else:
        judged, remarks = _of_one(found, measure, by), []
    remarks = [*remarks, *_whole_only(judged), *_reached_by_chance(judged, at_least)]
    return Judgment(tuple(judged), at_least, tuple(remarks))


def _chosen(found: Comparison, explainers: Any) -> tuple[list[str], list[str]]:
    """The explainers of a comparison that are judged, and what is to be said about that."""
    if explainers is not None:
        names = [explainers] if isinstance(explainers, str) else to_items(explainers, "explainers=, the names,")
        for name in names:
            found[name]  # a sentence with near names where there is none
        if not names:
            raise BadInput("explainers= names nobody: name at least one, or leave it out.")
        return names, []
    real = [name for name, ev in found.items() if not ev.baseline]
    if real:
        return real, []
    return list(found), [f"Only baselines were given, so they are judged: {', '.join(found)}."]


def _of_explainer(found: Comparison, name: str, measure: str | None, by: Any) -> list[Judged]:
    evaluation = found[name]
    held = [found.populations.get(name), found.sufficiency_populations.get(name)]
    return _judged(name, evaluation, measure, held if by is None else _asked(evaluation, by))


def _of_one(found: Any, measure: str | None, by: Any) -> list[Judged]:
    if isinstance(found, Estimate | Populations):
        if by is not None:
            raise BadInput(f"by= needs rows, which {_kind(found)} does not keep: pass the evaluation itself.")
        estimates = {"": found} if isinstance(found, Estimate) else _by_words(found)
        return [Judged("", words, _is(one, measure)) for words, one in estimates.items()]
    if not isinstance(getattr(found, "consistency", None), Estimate):
        raise WrongType(
            "assert_faithful reads an Estimate, an Evaluation, a Comparison, Populations or an Audit; "
            f"got {type(found).__name__}."
        )
    populations = found.populations
    held = list(populations.values()) if isinstance(populations, Mapping) else [populations]
    return _judged(found.name, found, measure, held if by is None else _asked(found, by))


def _judged(name: str, found: Any, measure: str | None, populations: Iterable[Populations | None]) -> list[Judged]:
    """The whole and every population, by the measures that are asked for."""
    estimates = [one for one in (found.consistency, found.sufficiency) if one is not None]
    wanted = [one for one in estimates if measure is None or one.measure == measure]
    if not wanted:
        why = "; ".join(getattr(found, "notes", ())) or "its explanations do not say where they apply"
        raise BadInput(f"{name} has no {measure}: {why}. Judge another measure, or other explainers.")
    groups = [_by_words(one).items() for one in populations if one is not None]
    parts = [(words, one) for group in groups for words, one in group if measure is None or one.measure == measure]
    if groups and not parts:
        raise BadInput(f"{name} has no {measure} by population: judge consistency, or leave the populations out.")
    return [Judged(name, words, one, found) for words, one in [*(("", one) for one in wanted), *parts]]


def _asked(found: Any, groups: Any) -> list[Populations]:
    """The populations of an evaluation or an audit, by every measure it has."""
    asked = [found.by(groups)]
    if isinstance(found, Evaluation) and found.sufficiency is not None:
        asked.append(found.by(groups, "sufficiency"))
    return asked


def _by_words(found: Populations) -> Mapping[str, Estimate]:
    """Estimates by what their population is called in a sentence."""
    named = f"{found.by} " if found.by else "population "
    return {f"{named}{readable(group)}": one for group, one in found.estimates.items()}


def _is(one: Estimate, measure: str | None) -> Estimate:
    if measure is not None and one.measure != measure:
        raise BadInput(f"measure={measure!r} was asked for, but this estimate is of {one.measure}.")
    return one


def _kind(found: Any) -> str:
    word = type(found).__name__
    return word if word.endswith("s") else f"an {word}" if word[:1] in "AEIOU" else f"a {word}"


def _whole_only(judged: Iterable[Judged]) -> list[str]:
    """A remark for each measure that was judged for all rows, and not by population where another was."""
    parts = {(one.explainer, one.estimate.measure) for one in judged if one.population}
    names = {name for name, _ in parts}
    return [
        f"{one.explainer}: {one.estimate.measure} was judged for all rows only: it was not measured by population."
        for one in judged
        if not one.population and one.explainer in names and (one.explainer, one.estimate.measure) not in parts
    ]


def _reached_by_chance(judged: Iterable[Judged], at_least: float) -> list[str]:
    """A remark where all rows pass a threshold that an explanation that means nothing would pass too."""
    whole = [one for one in judged if not one.population and one.estimate.low >= at_least > 0]
    passed = {(one.explainer, one.estimate.measure): one.estimate.chance or 0.0 for one in whole}
    weak = {who: chance for who, chance in passed.items() if chance >= at_least}
    if not weak:
        return []
    names = ", ".join(" ".join(filter(None, who)) for who in weak)
    chance = f"chance alone gives {max(weak.values()):.3f}"
    return [f"{names}: passing {at_least:g} shows little, since {chance}; ask for more."]


def _reason(found: Estimate, wanted: float) -> str:
    if found.high < wanted:
        return "all of it is below: these explanations are less faithful than that"
    if (best := _at_best(found)) < wanted:
        rows = several(found.n, "row is", "rows are")
        return f"{rows} too few: even if all agreed, the lower limit would be at most {_up(best)}"
    if found.upper < wanted or found.unverifiable <= found.margins.below:  # silence is the lesser part
        return f"more rows than these {found.n:,} would make it narrower"
    return (
        f"{found.unverifiable:.0%} of the {found.n:,} rows have an explanation that covers no other row: measure more "
        "rows, or make explanations coarser (fs.plan says how many rows)"
    )


def _at_best(found: Estimate) -> float:
    """What the lower limit of so many rows could be at most: that of perfect agreement."""
    if found.method == "mcdiarmid":
        return max(0.0, 1 - found.margins.below)
    return max(0.0, 1 - 2 * math.log(2 / (1 - found.confidence)) / found.effective_n)  # the jackknife's least margin


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
