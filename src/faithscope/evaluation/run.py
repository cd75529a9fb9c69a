"""What evaluate, compare and local begin with: model and explainers are asked, and choices are settled."""

from collections.abc import Mapping
from typing import Any

from faithscope.evaluation.asker import Asker
from faithscope.evaluation.outputs import Output
from faithscope.inputs.alignment import index_of, same_rows
from faithscope.inputs.checks import by_name, same_length
from faithscope.inputs.models import owner_of
from faithscope.inputs.rows import rows_of
from faithscope.notes import TOO_HIGH, Note
from faithscope.sample import Sample, unlike_rows


def sampled(
    model: Any,
    explainers: Mapping[str, Any],
    X: Any,
    question: Output,
    asker: Asker,
    weights: Any = None,
    clusters: Any = None,
) -> dict[str, Sample]:
    """The rows with the predictions and each explainer's explanations; of several, sentences say of whom."""
    labels, samples = asker.predictions(model, X, question), {}
    for name, explainer in explainers.items():
        explanations = asker.explanations(explainer, X, name)
        if len(explainers) > 1:
            same_length(X=rows_of(X), predictions=len(labels), **{f"explanations of {name}": len(explanations)})
        # A table of theirs can be aligned by its labels.
        row_labels = {"predictions": model, "explanations": explanations if index_of(explainer) is None else explainer}
        sample = Sample.checked(explanations, labels, X, weights, clusters, row_labels=row_labels)
        notes = (*fitted_notes(model, explainer, X), *unlike_rows(explainer, X))
        samples[name] = question.noted(sample).noting(notes)
    same_rows(**{f"explanations of {name}": sample.explanations for name, sample in samples.items()})
    return samples


def fitted_notes(model: Any, explainer: Any, X: Any) -> tuple[str, ...]:
    """A note with the share of rows that an explainer learned its explanations from, with their predictions.

    Only an explainer that fits explanations to predictions of rows is judged too well on them: it has a method
    ``fitted_share``, from rows to a share. A tree that is the model itself was fitted to no predictions.
    """
    share = getattr(explainer, "fitted_share", None)
    if not callable(share) or owner_of(model) is getattr(explainer, "tree", None):
        return ()
    fitted = share(X)
    if not fitted:
        return ()
    told = f"{fitted:.0%} of rows are among those that the explainer was fitted on"
    unless = "" if getattr(explainer, "fitted_on", None) is not None else " unless its tree is the model itself"
    return (Note(told, "rows", advice=f"{TOO_HIGH}{unless}; judge it on other rows"),)


def of_each(explainers: Mapping[str, Any], choice: Any, what: str) -> dict[str, Any]:
    """What was chosen for each explainer: the same for all, or by name."""
    chosen = by_name(choice, explainers, what)
    return {name: chosen.get(name) if isinstance(chosen, Mapping) else chosen for name in explainers}
