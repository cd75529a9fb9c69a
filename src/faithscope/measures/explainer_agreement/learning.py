"""Discretizers that learn, such as CommonPhrases: from one half of the rows; explainers are compared on the other."""

from collections.abc import Mapping
from typing import Any

from faithscope.discretizers import to_discretizer
from faithscope.explanations.base import Explanations
from faithscope.measures.explainer_agreement.granularity import refusal
from faithscope.measures.repeatability.runs import joined
from faithscope.sample import Sample, learned_note


def learned(
    rows: Sample, raw: Mapping[str, Explanations], discretizer: Any
) -> tuple[Sample, Mapping[str, Explanations], Any]:
    """The rows to compare on, their explanations, and what was chosen, once it learned from the other rows.

    Explainers with equal discretizers share what is learned from all of them; otherwise they could not be compared.
    """
    chosen = _by_name(discretizer, raw)
    learners = {name: each for name, each in chosen.items() if getattr(each, "learns", False) and name in raw}
    if not learners:
        return rows, raw, discretizer
    looked, reported = rows.half_places(next(iter(learners.values())).seed)
    taught: list[tuple[Any, Any]] = []
    for each in learners.values():
        if all(each != other for other, _ in taught):
            parts = [raw[name].take(looked) for name, other in learners.items() if other == each]
            taught.append((each, each._learned_from(joined(parts))))
    known = {name: next(after for before, after in taught if before == each) for name, each in learners.items()}
    measured = {name: given.take(reported) for name, given in raw.items()}
    notes = tuple(learned_note(each, len(looked)) for each, _ in taught)
    choice = {**chosen, **known} if isinstance(discretizer, Mapping) else taught[0][1]
    return rows.take(reported).noting(notes), measured, choice


def _by_name(discretizer: Any, raw: Mapping[str, Explanations]) -> dict[str, Any]:
    """What was chosen for each explainer; of one choice for all, for those whose kind it takes."""
    if isinstance(discretizer, Mapping):
        return {str(name): to_discretizer(each) for name, each in discretizer.items()}
    chosen = to_discretizer(discretizer)
    if not getattr(chosen, "learns", False):
        return {}
    return {name: chosen for name, given in raw.items() if refusal(chosen, given) is None}
