"""compare(): the pipeline by which one or several explainers are measured, and the Comparison it gives."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

from faithscope.card import for_json
from faithscope.counting.coverage import count_necessity, cover
from faithscope.discretizers import Discretize
from faithscope.errors import BadInput, UnknownName, WrongType
from faithscope.evaluation.asker import Asker, refuse_swapped
from faithscope.evaluation.best import Best, to_choice
from faithscope.evaluation.cache import to_cache
from faithscope.evaluation.outputs import Output
from faithscope.evaluation.result import Evaluation, Options, assess
from faithscope.evaluation.run import of_each, sampled
from faithscope.inputs.checks import check_share, check_whole, same_length, text_names
from faithscope.inputs.rows import rows_of
from faithscope.measures.certify import refuse_unless_convex
from faithscope.measures.comparing.differences import PAIRED_COLUMNS, Difference, difference_frame
from faithscope.measures.comparing.groupings import to_groups
from faithscope.measures.comparing.paired import (
    LeftOutEstimate,
    consistency_left_out,
    leaving_out_alike,
    paired_difference,
    sufficiency_left_out,
)
from faithscope.measures.covered import unseen_rows
from faithscope.measures.estimate import BEYOND, NECESSITY, Method, to_interval
from faithscope.measures.explainer_agreement import ExplainerAgreement, measure_agreement, refusal
from faithscope.measures.sufficiency import Scoping, leaning_on
from faithscope.measures.telling import WANTED
from faithscope.notes import of_kind
from faithscope.report.reported import Reported
from faithscope.runtime.memory import in_memory
from faithscope.runtime.messages import Told, Watch
from faithscope.runtime.of_logs import tells_new_words
from faithscope.sample import learned_note, number_groups
from faithscope.visible import visible
from faithscope.words import hint

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False)
class Comparison(Reported, Mapping[str, Evaluation]):
    """Several explainers of one model on the same rows: a mapping from their names to their evaluations.

    ``comparison["tree"]`` is an `Evaluation`; ``in``, ``len``, iteration, `keys`, `values` and `items` are a mapping's.

    Attributes
    ----------
    evaluations : dict of str to Evaluation
        The evaluation of each explainer, by its name.
    pairs : tuple of Difference
        The difference of every two explainers, measured on the same rows.
    rows_to_choose : int
        Number of rows on which `Best` chose discretizers; they are not among the rows reported.

    Examples
    --------
    >>> comparison = compare([0, 0, 1, 1], {"right": ["a", "a", "b", "b"], "wrong": ["a", "b", "a", "b"]}, range(4))
    >>> comparison.table()[["explainer", "value"]].values.tolist()
    [['right', 1.0], ['wrong', 0.0]]
    """

    evaluations: dict[str, Evaluation]
    pairs: tuple[Difference, ...]
    rows_to_choose: int = 0

    def __getitem__(self, name: str) -> Evaluation:
        if not isinstance(name, str) or name not in self.evaluations:
            raise UnknownName(f"No explainer is called {name!r}. {hint(name, self.evaluations)}")
        return self.evaluations[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.evaluations)

    def __len__(self) -> int:
        return len(self.evaluations)

    def table(self) -> "pd.DataFrame":
        """One line per explainer and measure; of importances also what it is beyond baselines (`Alike`)."""
        named = self._by_name()
        told = super().table().assign(uniqueness=[self.evaluations[name].uniqueness for name, _ in named])
        for baseline in BEYOND:
            known = [getattr(estimate, baseline) for _, estimate in named]
            if any(known):
                told[baseline] = [None if more is None else more.value for more in known]
        return told

    def differences(self, simultaneous: bool = False) -> "pd.DataFrame":
        """One line per pair of explainers and measure; ``differ`` is whether the interval excludes zero.

        Explainers that gave every row the same explanation are the same on these rows: their interval is [0, 0].

        Parameters
        ----------
        simultaneous : bool
            By default each interval has the stated confidence by itself: among many pairs some will differ by chance.
            If True, all intervals, of all measures, hold together with that confidence (Bonferroni), and are wider.
        """
        return difference_frame(self.pairs, PAIRED_COLUMNS, simultaneous)

    def explainer_agreement(
        self,
        discretizer: Discretize | Mapping[str, Any] | None = None,
        *,
        k: int | None = None,
        confidence: float | None = None,
    ) -> ExplainerAgreement:
        """How far every two of these explainers agree with each other on these rows, whatever the model says.

        Weights and clusters are those of the comparison; if `Best` chose discretizers, rows are those reported.

        Parameters
        ----------
        discretizer : discretizer, str or callable, or mapping of str to these, optional
            At which granularity two explanations are the same, as for `explainer_agreement`. By default that at which
            the explainers were compared; if none was discretized, importances by ``SignOfTop(5)``.
        k : int, optional
            How many features importances name, as for `explainer_agreement`: by default as many as the discretizer
            keeps, or 5.
        confidence : float, optional
            Of each interval; by default that of the comparison.

        Examples
        --------
        >>> comparison = compare([0, 0, 1, 1], {"right": ["a", "a", "b", "b"], "wrong": ["a", "b", "a", "b"]}, range(4))
        >>> comparison.explainer_agreement().matrix("same").loc["right", "wrong"]
        np.float64(0.5)
        """
        first = next(iter(self.evaluations.values()))
        repeated = of_kind(first.sample.notes, "repeated")
        told = (f"{note.fact}, so intervals may be too narrow: pass clusters= to compare" for note in repeated)
        rows = replace(first.sample, notes=tuple(told))
        raw = {name: ev.undiscretized for name, ev in self.evaluations.items()}
        if discretizer is None and any(ev.explanations is not ev.undiscretized for ev in self.evaluations.values()):
            discretizer = {name: ev._chosen for name, ev in self.evaluations.items()}
        level = first.options.confidence if confidence is None else confidence
        return measure_agreement(rows, raw, discretizer, k, level)

    def to_dict(self) -> dict[str, Any]:
        """All numbers of this comparison, ready for JSON."""
        numbers = {"evaluations": self.evaluations, "differences": self.pairs, "rows_to_choose": self.rows_to_choose}
        return for_json(numbers)  # type: ignore[no-any-return]

    def _lines(self) -> Sequence[tuple[str, str]]:
        named = ((visible(name), estimate) for name, estimate in self._by_name())
        return [(f"{name} {estimate.measure}", f"{name}: {estimate.line}") for name, estimate in named]

    def _explainers(self) -> Mapping[str, Evaluation]:
        return self.evaluations


@tells_new_words
@in_memory("evaluate fewer rows at a time, or fewer explainers")
def compare(
    model: Any,
    explainers: Mapping[str, Any],
    X: Any,
    *,
    discretizer: Discretize | Best | Mapping[str, Any] | None = None,
    confidence: float = 0.95,
    interval: Method | None = None,
    unseen: bool = False,
    weights: Any = None,
    clusters: Any = None,
    relation: Any = None,
    unlabeled: Any = None,
    by: Any = None,
    seed: int = 0,
    cache: Any = None,
    progress: bool | Told | None = None,
    agreement: Any = None,
    at_least: float = WANTED,
) -> Comparison:
    """Measure several explainers of one model on the same rows, and how they differ.

    Like `evaluate`, it takes for granted that rows are independent draws, or clusters of rows are, and that every
    explainer was fixed before they were seen.

    Parameters
    ----------
    model, X, confidence, interval, unseen, weights, clusters, unlabeled, by, seed, cache, progress
        As for `evaluate`.
    agreement, at_least
        As for `evaluate`.
    explainers : mapping of str to explainer
        Each as for `evaluate`, by a name of your choice.
    discretizer : discretizer, str or callable, or mapping of str to these, optional
        One for all explainers whose kind of explanation it takes (the table says which), or one per explainer by name.
        `Best` chooses for each explainer on half of the rows, and all are reported on the other half.
    relation : Alike, Nearest, Ball, Judged or callable, or mapping of str to these, optional
        As for `sufficiency`: one for all explainers, or one per explainer by name.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> explainers = {"sign": lambda X: [x[0] > 0 for x in X], "nothing": lambda X: ["" for x in X]}
    >>> rows = [[-2.0], [-1.0], [1.0], [2.0]]
    >>> comparison = compare(lambda X: [x[0] > 0 for x in X], explainers, rows, progress=False)
    >>> {name: round(evaluation.consistency.value, 2) for name, evaluation in comparison.items()}
    {'sign': 1.0, 'nothing': 0.33}
    """
    if not isinstance(explainers, Mapping):
        raise WrongType(
            f"compare takes explainers by name, such as {{'lime': Lime(...)}}; got {type(explainers).__name__}."
        )
    if not explainers:
        raise BadInput("compare got no explainer: pass at least one.")
    named = text_names(explainers)
    for explainer in named.values():
        refuse_swapped(model, explainer, X)
    rows = rows_of(X)  # what is wrong with rows and groups is said before any long computation
    same_length(X=rows, **({} if by is None else {"groups": len(number_groups(to_groups(by, X)[1])[1])}))
    check_whole(seed, "seed", 0)
    check_share(at_least, "at_least")
    choices = {name: to_choice(each) for name, each in of_each(named, discretizer, "discretizer").items()}
    relations, lenient = of_each(named, relation, "relation"), len(named) > 1 and not isinstance(discretizer, Mapping)
    question = Output.of(model, agreement)
    if any(isinstance(choice, Best) for choice in choices.values()):
        refuse_unless_convex(question.agreement, "Best")
    method, unseen = to_interval(interval, unseen)
    how = Options(None, confidence, method, unlabeled, unseen, seed=seed, at_least=at_least)
    asker = Asker(to_cache(cache), Watch(progress)).knowing(model, *named.values())
    samples = sampled(model, named, X, question, asker, weights, clusters)
    halving = [each for each in choices.values() if isinstance(each, Best) or getattr(each, "learns", False)]
    evaluations, looked = dict[str, Evaluation](), 0
    for name, sample in samples.items():
        given, reported = choices[name], sample
        if halving:
            half, reported = sample.halves(seed or int(halving[0].seed))
            looked = half.n
        choice = given._among(half, confidence) if isinstance(given, Best) else given
        known = getattr(choice, "reads_beyond_text", False)
        if lenient and not known and refusal(choice, sample.explanations) is not None:
            choice = None  # it was given for all explainers, and is not for this kind of explanation
        if getattr(choice, "learns", False):
            reported = reported.noting((learned_note(choice, looked),) if choice is given else ())
            choice = half.taught(choice)
        with asker.watch.phase(f"measuring {name}", reported.n):
            options = replace(how, relation=relations[name])
            evaluations[name] = assess(reported, choice, options, name, named[name], by)
    with asker.watch.phase("measuring differences", rows):
        several = evaluations if len(evaluations) > 1 else {}
        consistent = [consistency_left_out(name, ev.consistency, ev.sample.counted()) for name, ev in several.items()]
        families = (consistent, _scoped_left_out(several, "sufficiency"), _scoped_left_out(several, NECESSITY))
        pairs = [paired_difference(a, b, confidence) for family in families for a, b in combinations(family, 2)]
    return Comparison(evaluations, tuple(pairs), looked)


def _scoped_left_out(evaluations: dict[str, Evaluation], measure: str) -> list[LeftOutEstimate]:
    """Estimates of a measure of explanations that say where they apply, with every row left out alike."""
    known = [
        (name, ev, ev._ruled.counted().evenly(), ev._relation)
        for name, ev in evaluations.items()
        if getattr(ev, measure) is not None
    ]
    if len(known) < 2:
        return []
    _, measured, samples, relations = zip(*known, strict=True)
    recall, counts = measure == NECESSITY, list[Any]()
    if recall:
        counts = [ev._reached for ev in measured]
    elif all(sample.plain for sample in samples):
        counts = [ev._scoped() if each.n == ev.sample.n else cover(each, bound) for _, ev, each, bound in known]
    alike, told = leaving_out_alike(counts, samples, relations, count_necessity if recall else cover), []
    for (name, ev, sample, relation), counted in zip(known, alike, strict=True):
        estimate, partitions = getattr(ev, measure), relation.partitions
        further = None if partitions else ev.options.further
        leaning = leaning_on(counted, sample, Scoping(relation, further=further, measure=measure))
        left_out = None if estimate.method == "kept rows" else sufficiency_left_out(leaning)
        unseen = unseen_rows(leaning) if ev.options.unseen and not (partitions or recall) else None
        told.append(LeftOutEstimate(name, estimate, left_out, sample.explanations, relation, unseen=unseen))
    return told
