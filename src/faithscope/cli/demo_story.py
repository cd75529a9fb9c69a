"""What the demo shows, in sentences: for whom reasons fail, two people, and a rule's claim beside its measure.

Every sentence is told only if the numbers say so.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from faithscope.inputs.array_types import Bools
from faithscope.inputs.rows import rows_of
from faithscope.measures.intervals.local import clopper_pearson
from faithscope.rounding import down, up

if TYPE_CHECKING:
    from faithscope.evaluation.compare import Comparison
    from faithscope.evaluation.result import Evaluation
    from faithscope.explanations.rules import Rules
    from faithscope.measures.comparing.populations import Populations

CODES = "SHAP reason codes"
_EXPLAINED = 100  # people with an anchor: enough to find a rule whose claim is off
_WIDTH = 24
_CONFIDENCE = 0.95  # that the intervals of all rules hold together


def story(comparison: "Comparison", model: Any, train: Any) -> Iterator[str]:
    """What the comparison shows, line by line."""
    if CODES in comparison.evaluations:
        codes = comparison[CODES]
        yield from _for_whom(codes, comparison.populations[CODES])
        yield from _two_people(codes)
    yield from _claim(comparison, model, train)
    yield from _certainty(comparison, model)


def _for_whom(codes: "Evaluation", populations: "Populations") -> Iterator[str]:
    """The group with the lowest consistency, if its interval lies below that of all rows."""
    whole = codes.consistency
    group, worst = min(populations.estimates.items(), key=lambda pair: pair[1].high)
    if worst.high < whole.low:
        yield "For whom does it fail?"
        yield (
            f"  Of two people with the same reasons, {whole.verified:.0%} get the same decision (95% interval "
            f"{down(whole.low, 2)} to {up(whole.high, 2)})."
        )
        people = f"people who are {group} and anybody with their reasons"
        yield f"  Of {people}, {worst.verified:.0%} do ({down(worst.low, 2)} to {up(worst.high, 2)})."


def _two_people(codes: "Evaluation") -> Iterator[str]:
    """The nearest pair of people with the same reasons and different decisions, and what differs between them."""
    pairs = codes.counterexamples(10)
    if not len(pairs):
        return
    pair = pairs.loc[pairs["distance"].idxmin()]
    rows = [codes.sample.X.iloc[int(pair[name])] for name in ("row_a", "row_b")]
    yield ""
    yield f"Two people, the same reasons ({pair['explanation']}), different decisions"
    decisions = (f"{pair[name]}" for name in ("prediction_a", "prediction_b"))
    yield _line("", *decisions)
    differing = [name for name in rows[0].index if str(rows[0][name]) != str(rows[1][name])]
    for name in differing:
        yield _line(name, *(str(row[name]) for row in rows))
    yield f"  and alike in all {len(rows[0]) - len(differing)} other columns"


def _line(name: str, *values: str) -> str:
    return f"  {name:{_WIDTH}}" + "".join(f"{value:{_WIDTH}}" for value in values).rstrip()


def _claim(comparison: "Comparison", model: Any, train: Any) -> Iterator[str]:
    """Of the anchors whose own precision is not theirs on real people, the one that most people obey."""
    from faithscope.explainers import Anchors

    sample = next(iter(comparison.evaluations.values())).sample
    anchors, claimed, _ = Anchors(model, train, beam=1).explain_with_precision(sample.X.iloc[:_EXPLAINED])
    _, first = anchors.group()
    obeying = _obeying(anchors.take(first), sample.X)
    agreeing = np.array(
        [np.sum(sample.labels[mask] == sample.labels[row]) for mask, row in zip(obeying, first, strict=True)]
    )
    people = obeying.sum(axis=1)
    low, high = clopper_pearson(agreeing, people, 1 - (1 - _CONFIDENCE) / len(first))  # the worst of many is told
    apart = (claimed[first] < low) | (claimed[first] > high)
    if not apart.any():
        return
    rule = int(np.argmax(np.where(apart, people, 0)))
    yield ""
    yield "A rule, what it claims and what it does"
    yield f"  {anchors.describe(int(first[rule]))}: {sample.labels[first[rule]]}"
    yield (
        f"  precision by its own draws {claimed[first[rule]]:.2f}; among the {people[rule]:,} real people who obey it "
        + (f"{agreeing[rule] / people[rule]:.3f} ({low[rule]:.3f} to {high[rule]:.3f})")
    )


def _certainty(comparison: "Comparison", model: Any) -> Iterator[str]:
    """What rules cost that keep the prediction by proof: conditions, and people who obey them."""
    from faithscope.explainers import SufficientReason

    sample = next(iter(comparison.evaluations.values())).sample
    columns, trees = model[:-1], model[-1]
    people = columns.transform(sample.X)
    rules = SufficientReason(trees).explain(people.iloc[:_EXPLAINED])
    obeying = _obeying(rules, people)
    kept = [np.mean(sample.labels[mask] == label) for mask, label in zip(obeying, sample.labels, strict=False)]
    lengths = [len(rules.conjunction(row)) for row in range(len(rules))]
    all_or_share = "all" if min(kept) == 1 else f"{np.mean(kept):.3f}"
    yield ""
    yield "A rule that always holds, by proof"
    yield (
        f"  a sufficient reason has {np.mean(lengths):.1f} conditions, and {obeying.mean():.1%} of all people obey it "
        f"(means over {len(rules)} people); {all_or_share} of them get the same decision"
    )


def _obeying(rules: "Rules", X: Any) -> Bools:
    """Which rows obey each rule: (rules, rows)."""
    from faithscope.relations import Applies, Parts

    covered = Applies().cover(rules, rules, X)
    assert isinstance(covered, Parts)
    return covered.whole(rows_of(X)).T
