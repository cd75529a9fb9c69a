"""One pipeline for evaluate, compare and local: model and explainers are asked, and what they say is measured."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from faithscope.evaluation.asker import Asker, refuse_swapped
from faithscope.evaluation.best import Best, learns, settled, to_choice
from faithscope.evaluation.cache import to_cache
from faithscope.evaluation.fitted_rows import fitted_notes
from faithscope.evaluation.outputs import Output
from faithscope.evaluation.result import Evaluation, Options, assess, check_groups
from faithscope.explanations import Explanations
from faithscope.inputs.alignment import index_of, name_of, same_rows
from faithscope.inputs.checks import check_share, check_whole, same_length
from faithscope.inputs.rows import rows_of
from faithscope.measures.certify import refuse_unless_convex
from faithscope.measures.estimate import Method, to_interval
from faithscope.measures.explainer_agreement import refusal
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
) -> tuple[Output, dict[str, Sample]]:
    """What was asked for, settled by the answers; and the rows with the predictions and each explainer's explanations.

    Parameters
    ----------
    named : bool
        Whether the caller named the explainers, so that a sentence about one of them says which.
    """
    answers = asker.predictions(model, X, question)
    question = question.settled(answers)
    labels, samples = question.read(answers), {}
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
    return question, samples


def run(
    model: Any,
    explainers: Mapping[str, Any],
    X: Any,
    *,
    discretizers: Mapping[str, Any],
    relations: Mapping[str, Any],
    named: bool,
    lenient: bool,
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
    output: Any,
    at_least: float,
) -> tuple[dict[str, Evaluation], int, Watch]:
    """The evaluation of each explainer, on how many other rows discretizers were chosen, and how long it took.

    Parameters
    ----------
    discretizers, relations : mapping
        By the explainers' names.
    named : bool
        As for `sampled`.
    lenient : bool
        Whether a discretizer is left out that does not take an explainer's kind of explanation.
    """
    for explainer in explainers.values():
        refuse_swapped(model, explainer, X)
    check_groups(by, X)
    check_whole(seed, "seed", 0)
    check_share(at_least, "at_least")
    how, question = to_interval(interval, unseen), Output.of(model, agreement, output)
    choices = {name: to_choice(discretizers.get(name)) for name in explainers}
    if any(isinstance(choice, Best) for choice in choices.values()):
        refuse_unless_convex(question.agreement, "Best")
    asker = Asker(to_cache(cache), Watch(progress)).knowing(model, *explainers.values())
    question, samples = sampled(model, explainers, X, question, asker, weights, clusters, named=named)
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
            options = Options(confidence, *how, relations.get(name), seed, unlabeled, name_of(clusters), at_least)
            evaluation = assess(sample, choice, options, name, explainers[name], by)
        spent = asker.watch.seconds.items()
        mine = {phase: each for phase, each in spent if phase == "predicting" or phase.endswith(f" {name}")}
        evaluations[name] = replace(evaluation, seconds=mine)
    return evaluations, looked, asker.watch


def _fitting(discretizer: Any, explanations: Explanations, lenient: bool) -> Any:
    """The discretizer; None if it was given for all explainers and does not take this kind of explanation."""
    known = isinstance(discretizer, Best) or getattr(discretizer, "reads_beyond_text", False)
    if not lenient or known or refusal(discretizer, explanations) is None:
        return discretizer
    return None
