"""One pipeline for evaluate, compare and local: model and explainers are asked, and what they say is measured."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from faithscope.evaluation.asker import Asker, refuse_swapped
from faithscope.evaluation.best import Best, learns, settled, to_choice
from faithscope.evaluation.cache import to_cache
from faithscope.evaluation.outputs import Output
from faithscope.evaluation.result import Evaluation, Options, assess, check_groups
from faithscope.explanations import Explanations
from faithscope.inputs.alignment import index_of, same_rows
from faithscope.inputs.checks import by_name, check_share, check_whole, same_length
from faithscope.inputs.models import owner_of
from faithscope.inputs.rows import rows_of
from faithscope.measures.certify import refuse_unless_convex
from faithscope.measures.estimate import Method, to_interval
from faithscope.measures.explainer_agreement import refusal
from faithscope.notes import TOO_HIGH, Note
from faithscope.runtime.progress import Told, Watch
from faithscope.sample import Sample, learned_note


def sampled(
    model: Any,
    explainers: Mapping[str, Any],
    X: Any,
    question: Output,
    asker: Asker,
    weights: Any = None,
    clusters: Any = None,
    *,
    named: bool = False,
) -> dict[str, Sample]:
    """The rows with the predictions and each explainer's explanations.

    Parameters
    ----------
    named : bool
        Whether the caller named the explainers, so that a sentence about one of them says which.
    """
    labels, samples = question.read(asker.predictions(model, X, question)), {}
    for name, explainer in explainers.items():
        explanations = asker.explanations(explainer, X, name)
        if named:
            same_length(X=rows_of(X), predictions=len(labels), **{f"explanations of {name}": len(explanations)})
        # A table of theirs can be aligned by its labels.
        row_labels = {"predictions": model, "explanations": explanations if index_of(explainer) is None else explainer}
        sample = Sample.checked(explanations, labels, X, weights, clusters, row_labels=row_labels)
        samples[name] = question.noted(sample).noting(fitted_notes(model, explainer, X))
    if named:
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


def run(
    model: Any,
    explainers: Mapping[str, Any],
    X: Any,
    *,
    named: bool,
    discretizer: Any,
    relation: Any,
    confidence: float,
    interval: Method | None,
    unseen: bool,
    weights: Any,
    clusters: Any,
    unlabeled: Any,
    by: Any,
    seed: int,
    cache: Any,
    progress: bool | Told | None,
    agreement: Any,
    at_least: float,
) -> tuple[dict[str, Evaluation], int, Watch]:
    """The evaluation of each explainer, on how many other rows discretizers were chosen, and how long it took.

    Parameters
    ----------
    named : bool
        As for `sampled`; a discretizer for all of them is then left out where it does not take the explanations.
    """
    for explainer in explainers.values():
        refuse_swapped(model, explainer, X)
    check_groups(by, X)
    check_whole(seed, "seed", 0)
    check_share(at_least, "at_least")
    choices = {name: to_choice(each) for name, each in _of_each(explainers, discretizer, "discretizer").items()}
    relations, lenient = _of_each(explainers, relation, "relation"), named and not isinstance(discretizer, Mapping)
    question = Output.of(model, agreement)
    if any(isinstance(choice, Best) for choice in choices.values()):
        refuse_unless_convex(question.agreement, "Best")
    how = Options(
        confidence,
        *to_interval(interval, unseen),
        seed=seed,
        further=unlabeled,
        at_least=at_least,
    )
    asker = Asker(to_cache(cache), Watch(progress)).knowing(model, *explainers.values())
    samples = sampled(model, explainers, X, question, asker, weights, clusters, named=named)
    looked = 0
    learning = [choice for choice in choices.values() if learns(choice)]
    if learning:
        chance = seed or int(learning[0].seed)  # of the halves
        for name, (half, reported) in {name: sample.halves(chance) for name, sample in samples.items()}.items():
            choice = _fitting(choices[name], half.explanations, lenient)
            taught = getattr(choice, "learns", False)
            samples[name] = reported.noting((learned_note(choice, half.n),) if taught else ())
            choices[name], looked = settled(choice, half, confidence), half.n
    evaluations = {}
    for name, sample in samples.items():
        with asker.watch.phase(f"measuring {name}", sample.n):
            choice = _fitting(choices[name], sample.explanations, lenient)
            options = replace(how, relation=relations[name])
            evaluations[name] = assess(sample, choice, options, name, explainers[name], by)
    return evaluations, looked, asker.watch


def _of_each(explainers: Mapping[str, Any], choice: Any, what: str) -> dict[str, Any]:
    """What was chosen for each explainer: the same for all, or by name."""
    chosen = by_name(choice, explainers, what)
    return {name: chosen.get(name) if isinstance(chosen, Mapping) else chosen for name in explainers}


def _fitting(discretizer: Any, explanations: Explanations, lenient: bool) -> Any:
    """The discretizer; None if it was given for all explainers and does not take this kind of explanation."""
    known = isinstance(discretizer, Best) or getattr(discretizer, "reads_beyond_text", False)
    if not lenient or known or refusal(discretizer, explanations) is None:
        return discretizer
    return None
