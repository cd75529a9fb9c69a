"""Encoding measured: the gap between rows given an explanation and other rows that it covers, and its interval."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from faithscope.agreements import Agreement, Spread
from faithscope.counting.encoding.encoded import encoded
from faithscope.counting.encoding.sums import Encoded, GapSums
from faithscope.counting.tally import Coverage
from faithscope.errors import NotProven, NotScoped
from faithscope.explanations.base import Explanations, several
from faithscope.explanations.prototypes import Prototypes
from faithscope.measures.encoding.choice_tests import ChoiceTests
from faithscope.measures.intervals.margins import Deviations, check_confidence
from faithscope.measures.sufficiency import FEWER
from faithscope.relations import bind, check_rows, says_where, to_relation
from faithscope.runtime.memory import in_memory
from faithscope.sample import Sample

if TYPE_CHECKING:
    pass
from faithscope.measures.encoding.result import Encoding

_MANY_LEAN = 0.05  # share of the tested rows whose comparisons lean on a single row, from which on that is told
_OWN_TERM = 3.0  # a row's own term lies between -1 and 1, and the terms of rows given the same lean on it by 1


@in_memory(FEWER)
def encoding(
    explanations: Any,
    predictions: Any,
    X: Any = None,
    *,
    relation: Any = None,
    confidence: float = 0.95,
    weights: Any = None,
    agreement: Any = None,
    clusters: Any = None,
) -> Encoding:
    """Whether the choice of an explanation says more about the prediction than the explanation itself.

    It takes for granted that rows are independent draws (or `clusters` of rows are), and that the explainer was fixed
    before they were seen. Not every choice that says more is a fault: rules that are tried in order are each given to
    rows on which none before holds, and that says more than a rule which leaves it out. Write it into the rule.

    Parameters
    ----------
    explanations : Explanations that say where they apply
        As for `sufficiency`.
    predictions : array-like, (n,)
    X : array-like or table, n rows
    relation : Nearest, Ball, Judged or callable, optional
        As for `sufficiency`.
    confidence : float
        The confidence of the interval, and of the verdict.
    weights : array-like, (n,), optional
        How much each row counts in the value; in tests, every row of positive weight counts once.
    agreement : Close, Tolerance or callable, optional
        How much two predictions agree if they are numbers, as for `consistency`.
    clusters : array-like, (n,), optional
        Which rows belong together, as for `consistency`; tests then take one row per cluster and explanation.

    Returns
    -------
    Encoding

    Examples
    --------
    >>> import faithscope as fs
    >>> rules = fs.Rules.parse(["age <= 40", "age <= 60"] * 4, features=["age"])
    >>> fs.encoding(rules, ["yes", "no"] * 4, [[30.0]] * 8).value
    1.0
    """
    check_rows(X, relation)
    sample = Sample.of(explanations, predictions, X, weights, agreement, clusters)
    return measure_encoding(sample, bind(relation, sample.explanations, X), confidence)


def measure_encoding(
    sample: Sample, relation: Any = None, confidence: float = 0.95, coverage: Coverage | None = None
) -> Encoding:
    """The encoding of a sample; `coverage` is that of all its rows, each counted once, if it is known."""
    check_confidence(confidence)
    refuse_spread(sample.agreement)
    if not says_where(sample.explanations, relation):
        raise NotScoped(not_scoped(sample.explanations))
    counted = sample.counted().evenly()
    known = coverage if counted.n == sample.n else None
    read = encoded(counted, to_relation(relation, counted.explanations), known)
    return to_encoding(
        read, confidence, counted.agreement, (*counted.explanations.notes, *counted.notes, *_about_tests(counted))
    )


def to_encoding(read: Encoded, confidence: float, agreement: Agreement, notes: tuple[str, ...] = ()) -> Encoding:
    """The result, from what was counted."""
    sums, tests, wrong = read.sums, ChoiceTests.of(read), check_confidence(confidence)
    value = None if sums.tested <= 0 else min(1.0, max(-1.0, sums.gap / sums.tested))
    low, high = _interval(value, sums, read.effective_n, wrong)
    alone, exclusive = (min(1.0, part / sums.total) for part in (sums.alone, sums.exclusive))
    encodes = None
    if len(tests.p):
        ends = _interval(value, sums, read.effective_n, wrong / 2)
        encodes = bool(tests.adjusted.min() <= wrong / 2 or ends[0] > 0 or ends[1] < 0)
    return Encoding(
        *(value, low, high, confidence, min(1.0, alone + exclusive), alone, exclusive, read.n, len(read.both)),
        tested=len(tests.p),
        flagged=int(np.sum(tests.adjusted <= wrong)),
        encodes=encodes,
        notes=tuple(dict.fromkeys((*notes, *_about_missed(read.missed), *_about_reach(sums)))),
        agreement=agreement,
        _encoded=read,
        _tests=tests,
    )


def _interval(value: float | None, sums: GapSums, effective_n: float, wrong: float) -> tuple[float, float]:
    """The jackknife interval of the value, never narrower than what rows that the sample missed may change.

    A kind of row that nobody saw has probability at most ln(2/δ)/n. It changes the value by its own term, which lies
    between -1 and 1, by the terms of rows that were given the same explanation, and by those of rows whose explanation
    covers it, which lean on one row by at most `reach`: hence the least margin ``(3 + reach) ln(2/δ) / tested rows``.
    """
    without = sums.without
    if value is None or without is None or np.isnan(without.value[without.rows > 0]).any():
        return -1.0, 1.0
    least = (_OWN_TERM + without.reach) * math.log(2 / wrong) / (effective_n * sums.tested / sums.total)
    margin = max(Deviations.of(without.value, without.rows).margin(wrong / 2)[0], least)
    return max(-1.0, value - margin), min(1.0, value + margin)


def refuse_spread(agreement: Agreement) -> None:
    """Raise if two predictions have no agreement from 0 to 1."""
    if isinstance(agreement, Spread):
        raise NotProven(
            "Encoding compares agreements from 0 to 1, and Spread() sums squared distances, which have no bound: "
            "use fs.encoding(..., agreement=fs.Close(eps))."
        )


def not_scoped(explanations: Explanations, measure: str = "encoding") -> str:
    """Why a measure is undefined, and what to do."""
    if isinstance(explanations, Prototypes):
        return (
            f"These prototypes are only indices, which do not say where they apply, so {measure} is undefined: pass "
            "the rows they stand for, Prototypes(indices, points)."
        )
    return (
        f"These are {explanations.kind}, which do not say where they apply, so {measure} is undefined: pass relation=, "
        "a function applies(X, explanation) that gives a mask of rows."
    )


def _about_missed(missed: int) -> tuple[str, ...]:
    if not missed:
        return ()
    rows = several(missed, "row is not covered by its", "rows are not covered by their")
    return (f"{rows} own explanation, and count among the rows given it: that alone can make both differ",)


def _about_reach(sums: GapSums) -> tuple[str, ...]:
    """A note if the comparisons of many rows lean on a single other row, which makes the interval wide."""
    reach = 0.0 if sums.without is None else sums.without.reach
    if reach < 2 or reach < _MANY_LEAN * sums.tested:
        return ()
    return (f"the comparisons of {reach:,.0f} rows lean on one other row, which makes the interval wide",)


def _about_tests(sample: Sample) -> tuple[str, ...]:
    if sample.clusters is not None:
        return ("tests of single explanations take one row per cluster and explanation",)
    return () if sample.weights is None else ("tests of single explanations count every row once",)
