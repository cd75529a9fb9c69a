"""Necessity: of all rows with a prediction, how many does the explanation of one of them cover?"""

from typing import Any

import numpy as np

from faithscope.agreements import Spread
from faithscope.counting.necessity.counted import NecessityCounts
from faithscope.counting.necessity.reaching import count_necessity
from faithscope.errors import NotProven, NotScoped
from faithscope.measures.encoding.measure import not_scoped
from faithscope.measures.estimate import FEW, NECESSITY, Estimate, Method, few_rows_decide, noted
from faithscope.measures.intervals.margins import (
    Deviations,
    Margins,
    UnseenRows,
    check_confidence,
    jackknife_margins,
    least_margin,
)
from faithscope.measures.notes.intervals import cluster_notes
from faithscope.measures.notes.labels import label_notes
from faithscope.measures.sufficiency import FEWER, check_scoped, coverage_notes
from faithscope.relations import bind, check_rows, says_where, to_relation
from faithscope.runtime.memory import in_memory
from faithscope.sample import Sample


@in_memory(FEWER)
def necessity(
    explanations: Any,
    predictions: Any,
    X: Any = None,
    *,
    relation: Any = None,
    confidence: float = 0.95,
    interval: Method | None = None,
    weights: Any = None,
    agreement: Any = None,
    clusters: Any = None,
) -> Estimate:
    """Probability that x's explanation applies to a row that gets x's prediction: the recall beside the precision.

    ``(1/n) Σ_i Σ_j K(i, j) C(i, j) / Σ_j K(i, j)`` over other rows j, where the explanation of row i covers row j if
    ``C(i, j) = 1`` and K is the agreement of their predictions. A rule for a single row is sufficient and hardly
    necessary; one that applies to everybody is necessary and hardly sufficient. Low necessity is no fault: a
    prediction may have several reasons. It is read beside sufficiency, and no verdict is made of it.

    Parameters
    ----------
    explanations : Explanations that say where they apply
        As for `sufficiency`.
    predictions : array-like, (n,)
        The model's predicted labels (never the truth), as for `consistency`.
    X : array-like or table, n rows
        The rows, or documents, to which explanations may apply.
    relation : Nearest, Ball, Judged or callable, optional
        As for `sufficiency`.
    confidence : float
        The confidence of the interval, a jackknife. It leaves out every row while explanations x rows is at most 10⁸,
        and blocks of rows beyond; weighted rows, clusters and numbers are left out in up to 100 blocks.
    interval : {"jackknife", "any"}, optional
        How the interval is made. Of labels both are the same, since no unseen row can change much; of numbers, "any"
        allows for unseen rows that agree with many.
    weights : array-like, (n,), optional
        How much each row counts in the population you ask about; rows of weight 0 are left out, and the result says so.
        Weights may depend on the prediction.
    agreement : Close, Tolerance or callable, optional
        How much two predictions agree if they are numbers, as for `consistency`.
    clusters : array-like, (n,), optional
        Which rows belong together, as for `consistency`.

    Returns
    -------
    Estimate
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
    sample = Sample.of(explanations, predictions, X, weights, agreement, clusters)
    return measure_necessity(sample, bind(relation, sample.explanations, X), confidence, interval)


def measure_necessity(
    sample: Sample, relation: Any = None, confidence: float = 0.95, method: Method | None = None
) -> Estimate:
    """The necessity of a sample."""
    return necessity_estimate(reached(sample, relation), confidence, method, sample_notes(sample))


def reached(sample: Sample, relation: Any = None) -> NecessityCounts:
    """What necessity reads of a sample."""
    if isinstance(sample.agreement, Spread):
        raise NotProven(
            "Necessity needs agreements from 0 to 1, and Spread() sums distances: use Close(eps) or Tolerance(eps)."
        )
    if not says_where(sample.explanations, relation):
        raise NotScoped(not_scoped(sample.explanations, "necessity"))
    counted = sample.counted().evenly()
    return count_necessity(counted, to_relation(relation, counted.explanations))


def sample_notes(sample: Sample) -> tuple[str, ...]:
    """What a reader should know of the sample."""
    counted = sample.counted()
    return (*counted.explanations.notes, *counted.notes, *cluster_notes(counted))


def necessity_estimate(
    known: NecessityCounts, confidence: float, method: Method | None = None, notes: tuple[str, ...] = ()
) -> Estimate:
    """An estimate from what was counted."""
    method, wrong = check_scoped(method) or "jackknife", check_confidence(confidence)
    counts, terms = known.counts, known.terms
    n, (agreeing, silent, total) = counts.effective_n, terms.sums
    unseen = UnseenRows(known.others, np.ones(counts.n)) if method == "any" and known.others is not None else None
    margins = jackknife_margins(terms.left_out, n, confidence, unseen=unseen)
    value, unverifiable = min(agreeing, total - silent) / total, silent / total
    verified = None if silent >= total else min(1.0, agreeing / (total - silent))
    low, high, above = _against_chance(known, margins, verified, wrong / 2)
    estimate = Estimate(
        measure=NECESSITY,
        value=value,
        low=max(0.0, value - margins.below),
        high=min(1.0, value + unverifiable + margins.above),
        confidence=float(confidence),
        method=method,
        unverifiable=unverifiable,
        verified=verified,
        chance=None if verified is None else terms.chance,
        n=counts.n,
        distinct=counts.distinct,
        effective_n=n,
        margins=margins,
        counts=counts,
        notes=coverage_notes(counts, known.idle),
        verified_low=low,
        verified_high=high,
        above_chance=above,
        agreement=counts.agreement,
        clusters=None if counts.clusters is None else counts.clusters.clusters,
    )
    few = margins.degrees_of_freedom < FEW - 1e-9 and silent < total
    labels = () if counts.agreement.of_numbers else label_notes(counts.labels, counts.n)
    return noted(estimate, (*labels, *((few_rows_decide(margins),) if few else ()), *notes))


def _against_chance(
    known: NecessityCounts, margins: Margins, verified: float | None, wrong: float
) -> tuple[float | None, float | None, bool | None]:
    """(verified_low, verified_high, above_chance); the interval never contradicts the test.

    The test is a jackknife of the measure less chance, with the least margin of the measure: two perfect rules on four
    rows vary by nothing.
    """
    if verified is None:
        return None, None, None
    low, high = max(0.0, verified - margins.verified), min(1.0, verified + margins.verified)
    terms, chance = known.terms, known.terms.chance
    if chance is None or chance >= 1 or len(known.counts.labels) < 2 or terms.left_out is None:
        return low, high, None
    left_out, (_, silent, total) = terms.left_out, terms.sums
    checked = 1 - left_out.silent
    measured = np.divide(left_out.value, checked, out=np.zeros(len(checked)), where=checked > 0)
    rows = np.ones(len(checked)) if left_out.rows is None else left_out.rows
    assert terms.chance_left_out is not None
    varies = Deviations.of(measured - terms.chance_left_out, rows).margin(wrong)[0]
    good = known.counts.effective_n / left_out.heaviest * (1 - silent / total)
    above = bool(verified - chance > max(varies, least_margin(left_out.reach, good, wrong)) + 1e-12)
    return max(low, chance) if above else min(low, chance), high, above
