"""What the demo shows, in sentences: for whom reasons fail, two people, and a rule's claim beside its measure.

Every sentence is told only if the numbers say so.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from faithscope.measures.intervals.local import clopper_pearson

if TYPE_CHECKING:
    from faithscope.evaluation.compare import Comparison
    from faithscope.evaluation.result import Evaluation
    from faithscope.measures.comparing.populations import Populations

CODES = "SHAP reason codes"
_EXPLAINED = 200  # people with an anchor: enough to find a rule whose claim is off
_WIDTH = 24


def story(comparison: "Comparison", model: Any, train: Any) -> Iterator[str]:
    """What the comparison shows, line by line."""
    if CODES in comparison.evaluations:
        codes = comparison[CODES]
        yield from _for_whom(codes, comparison.populations[CODES])
        yield from _two_people(codes)
    yield from _claim(comparison, model, train)


def _for_whom(codes: "Evaluation", populations: "Populations") -> Iterator[str]:
    """The group with the lowest consistency, if its interval lies below that of all rows."""
    whole = codes.consistency
    group, worst = min(populations.estimates.items(), key=lambda pair: pair[1].high)
    if worst.high < whole.low:
        yield "For whom does it fail?"
        yield (
            f"  Of two people with the same four reasons, {whole.verified:.0%} get the same decision (95% interval "
            f"{whole.low:.2f} to {whole.high:.2f})."
        )
        yield f"  Of two who are {group}, {worst.verified:.0%} do ({worst.low:.2f} to {worst.high:.2f})."


def _two_people(codes: "Evaluation") -> Iterator[str]:
    """The nearest pair of people with the same reasons and different decisions."""
    pairs = codes.counterexamples(1)
    if not len(pairs):
        return
    pair = pairs.iloc[0]
    rows = [codes.sample.X.iloc[int(pair[name])] for name in ("row", "other_row")]
    yield ""
    yield f"Two people, the same reasons ({pair['explanation']}), different decisions:"
    yield f"  {'':{_WIDTH}}{pair['prediction']!s:{_WIDTH}}{pair['other_prediction']!s}"
    for name in rows[0].index:
        values = [str(row[name]) for row in rows]
        if values[0] != values[1]:
            yield f"  {name:{_WIDTH}}{values[0]:{_WIDTH}}{values[1]}"


def _claim(comparison: "Comparison", model: Any, train: Any) -> Iterator[str]:
    """The anchor that most people obey among those whose own precision is not the one on real people."""
    from faithscope.explainers import Anchors
    from faithscope.relations import Applies

    sample = next(iter(comparison.evaluations.values())).sample
    anchors, claimed, _ = Anchors(model, train, beam=1).explain_with_precision(sample.X.iloc[:_EXPLAINED])
    _, first = anchors.group()
    distinct = anchors.take(first)
    parts = Applies().cover(distinct, distinct, sample.X)
    masks = dict(parts.masks(None))
    predictions = np.asarray(sample.labels.values)[sample.labels.codes]
