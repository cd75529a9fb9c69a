"""Necessity: of all rows with a prediction, how many does the explanation of one of them cover?"""

from dataclasses import replace
from typing import Any, overload

from faithscope.counting.counted import Coverage
from faithscope.counting.coverage import count_necessity
from faithscope.measures.comparing.beside import Sides
from faithscope.measures.comparing.populations import Populations, measure_groups
from faithscope.measures.consistency import settled
from faithscope.measures.covered import coverage_estimate
from faithscope.measures.encoding import scoped
from faithscope.measures.estimate import (
    NECESSITY,
    Estimate,
    Method,
    noted,
    refuse_unproven,
    to_interval,
)
from faithscope.measures.sufficiency import FEWER, Scoping, asked_about_all, beside_everybody
from faithscope.relations import check_rows
from faithscope.runtime.of_logs import takes_log
from faithscope.sample import Sample, with_askers


@overload
def necessity(
    explanations: Any,
    predictions: Any = ...,
    X: Any = ...,
    *,
    relation: Any = ...,
    confidence: float = ...,
    interval: Method | None = ...,
    unseen: bool = ...,
    weights: Any = ...,
    agreement: Any = ...,
    clusters: Any = ...,
    askers: Any = ...,
    by: None = None,
) -> Estimate: ...
@overload
def necessity(explanations: Any, predictions: Any = ..., X: Any = ..., *, by: Any, **how: Any) -> Populations: ...
@takes_log(FEWER)  # type: ignore[misc]  # with by=, all other names as without
def necessity(
    explanations: Any,
    predictions: Any = None,
    X: Any = None,
    *,
    relation: Any = None,
    confidence: float = 0.95,
    interval: Method | None = None,
    unseen: bool = False,
    weights: Any = None,
    agreement: Any = None,
    clusters: Any = None,
    askers: Any = None,
    by: Any = None,
) -> Any:
    """Probability that x's explanation applies to a row that gets x's prediction: the recall beside the precision.

    ``(1/n) Σ_i Σ_j K(i, j) C(i, j) / Σ_j K(i, j)`` over other rows j, where the explanation of row i covers row j if
    ``C(i, j) = 1`` and K is the agreement of their predictions. A rule for a single row is sufficient and hardly
    necessary; one that applies to everybody is necessary and hardly sufficient. Low necessity is no fault: a
    prediction may have several reasons. It is read beside sufficiency, and no verdict is made of it.

    Parameters
    ----------
    explanations : Explanations that say where they apply, or a Log of them
        As for `sufficiency`.
    predictions : array-like, (n,)
        The model's predicted labels (never the truth), as for `consistency`.
    X : array-like or table, n rows
        The rows, or documents, to which explanations may apply.
    relation : Alike, Nearest, Ball, Judged or callable, optional
        As for `sufficiency`.
    confidence : float
        The confidence of the interval, a jackknife, which leaves out up to 100 blocks of rows.
    interval : None
        No interval of necessity is proven.
    unseen : bool
        As for `sufficiency`. Of labels it changes nothing, since no unseen row can change much; of numbers, it allows
        for unseen rows that agree with many.
    weights : array-like, (n,), optional
        How much each row counts in the population you ask about; rows of weight 0 are left out, and the result says so.
        Weights may depend on the prediction.
    agreement : Close, Tolerance or callable, optional
        How much two predictions agree if they are numbers, as for `consistency`.
    clusters : array-like, (n,), optional
        Which rows belong together, as for `consistency`.
    askers : array-like of bool, (n,), optional
        Which rows ask, as for `sufficiency`: of all rows with their predictions, how many do their explanations cover?
    by : array-like, (n,), or str or list of str, optional
        The group of each row, or columns of X by name, as for `sufficiency`.

    Returns
    -------
    Estimate, or Populations if `by` is given
        Rows whose prediction nobody else gets are `unverifiable`. `chance` is the share of *all* other rows that
        explanations cover, which is what one that has nothing to do with the prediction reaches.

    Examples
    --------
    >>> from faithscope import Rules
    >>> rules = Rules.from_conditions([[("age", "<=", 40.0)]] * 2 + [[("age", ">", 30.0)]] * 2, features=["age"])
    >>> necessity(rules, ["no", "no", "yes", "yes"], [[25.0], [31.0], [38.0], [45.0]]).value
    1.0
    """
    check_rows(X, relation)
    method, allowed = to_interval(interval, unseen)
    refuse_unproven(method, "scopes")
    sample = with_askers(Sample.of(explanations, predictions, X, weights, agreement, clusters), askers, by)
    sample, bound = sample._scoped_by(relation)
    how = Scoping(bound, confidence, unseen=allowed)
    if by is not None:
        return necessity_by(sample, by, how)
    if sample.askers is not None:
        return necessity_beside(sample, how).estimate(1)
    return measure_necessity(sample, how)


def measure_necessity(sample: Sample, how: Scoping, known: Coverage | None = None) -> Estimate:
    """The necessity of a sample, of which it may be `known` whom explanations reach."""

    def measure(part: Sample, known: Coverage | None = None) -> Estimate:
        counts = known or reached(part, how.relation)
        return coverage_estimate(counts, NECESSITY, how.confidence, "jackknife", unseen=how.unseen)

    counted, found = sample.counted(), measure(sample, known)
    return settled(noted(found, counted.all_notes), counted.evenly(), measure)


def necessity_beside(sample: Sample, how: Scoping) -> Sides:
    """The necessity of the groups of ``sample.askers``: of all rows with a prediction, those that they cover."""
    counted, relation = scoped(sample, how.relation, "necessity")
    how = replace(how, relation=relation, method=None, further=None)
    return asked_about_all(beside_everybody(counted, how, NECESSITY), "Necessity")


def necessity_by(sample: Sample, groups: Any, how: Scoping) -> Populations:
    """The necessity of each group of rows, beside everybody and among themselves."""
    return measure_groups(
        sample, groups, lambda part: measure_necessity(part, how), lambda rows: necessity_beside(rows, how)
    )


def reached(sample: Sample, relation: Any = None) -> Coverage:
    """What necessity reads of a sample."""
    return count_necessity(*scoped(sample, relation, "necessity"))
