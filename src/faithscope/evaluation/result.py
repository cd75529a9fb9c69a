"""Evaluation: how faithful one explainer is to one model, and the tables and charts that show it."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from faithscope.agreements import Spread
from faithscope.counting.counted import Coverage
from faithscope.counting.counts import Counts, count_rows
from faithscope.counting.coverage import count_necessity, cover
from faithscope.discretizers import Discretize, Original, usual
from faithscope.discretizers.reasons.words import label_phrases
from faithscope.errors import FaithscopeError, NotScoped
from faithscope.evaluation.asker import described
from faithscope.explanations import Explanations
from faithscope.explanations.forms import are_codes, names_all
from faithscope.explanations.importances import Importances, Rankings
from faithscope.explanations.reasons import Reasons
from faithscope.inputs.alignment import index_of, row_labels
from faithscope.inputs.array_types import Array, Ints
from faithscope.inputs.checks import check_word
from faithscope.inputs.frames import frame
from faithscope.inputs.rows import take_rows
from faithscope.measures import scopes
from faithscope.measures.comparing.groupings import names_columns
from faithscope.measures.comparing.populations import Populations
from faithscope.measures.consistency import granularity_notes, measure_by, measure_consistency
from faithscope.measures.counterexamples import counterexamples
from faithscope.measures.encoding import Encoding, measure_encoding
from faithscope.measures.estimate import MEASURES, NECESSITY, Estimate, noted
from faithscope.measures.leakage import Leakage, measure_leakage
from faithscope.measures.local import per_explanation, per_row
from faithscope.measures.named_labels import label_word_notes
from faithscope.measures.slices import Slices, find_slices
from faithscope.measures.sufficiency import Scoping, made_otherwise, measure_asked, measure_scoped
from faithscope.measures.telling import WANTED, estimate_columns
from faithscope.notes import Note
from faithscope.relations import Alike, Relation, bind, says_where, to_relation
from faithscope.report.reported import OfOneExplainer
from faithscope.sample import Sample

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Options(Scoping):
    """How an evaluation is made: intervals and whether they allow for unseen rows, relation, what is asked for, …"""

    seed: int = 0
    at_least: float = WANTED
    by_default: bool = False  # whether importances are measured by `Alike` though nobody asked for it
    unasked: str = ""  # why `Alike` did not measure them

    @property
    def bound(self) -> Any:
        """The relation of the rows that explanations cover; those of `Alike` are rules, which say it themselves."""
        return None if isinstance(self.relation, Alike) else self.relation

    def scoping(self, measure: str) -> Scoping:
        """How a measure of explanations that say where they apply is made."""
        return replace(self, relation=self.bound, measure=measure)


@dataclass(frozen=True, repr=False)
class Evaluation(OfOneExplainer):
    """How faithful one explainer is to one model on some rows.

    Attributes
    ----------
    consistency : Estimate
        Same explanation, same prediction?
    sufficiency : Estimate or None
        Wherever the explanation applies, same prediction? None if explanations do not say where they apply.
    sample : Sample
        The rows as they were measured; `explanations`, `predictions`, `X` and `rows` read it.
    options : Options
        Confidence, method, relation and seed.
    undiscretized : Explanations
        The explanations as the explainer made them.
    name, explainer, discretizer : str
        The explainer's name, its settings, and the discretizer of its explanations.
    baseline : bool
        Whether the explainer is a baseline, which its own attribute ``baseline = True`` says (`Constant`, `Random` and
        `Unique` have it). `assert_faithful` does not judge baselines beside others. False for ready explanations.
    necessity : Estimate or None
        Of the rows with a row's prediction, how many does its explanation cover? None if explanations do not say where
        they apply, for `Spread`, and if a judge was not asked about all rows. No verdict is made of it.
    populations, sufficiency_populations, necessity_populations : Populations or None
        Consistency, sufficiency and necessity by group of rows; None if no groups were given, or if all rows have no
        such estimate. Of importances whose named features were measured by default, `by` gives the last two.

    Examples
    --------
    >>> from faithscope import evaluate
    >>> evaluation = evaluate([0, 0, 1, 1], ["a", "a", "a", "b"], [[1.0], [2.0], [3.0], [4.0]])
    >>> evaluation.table()[["explanation", "n", "label", "purity"]].round(2).values.tolist()
    [['a', 3, 0, 0.67], ['b', 1, 1, 1.0]]
    """

    consistency: Estimate
    sufficiency: Estimate | None
    sample: Sample
    options: Options
    undiscretized: Explanations
    name: str = "explainer"
    explainer: str = "ready explanations"
    discretizer: str = repr(Original())
    baseline: bool = False
    populations: Populations | None = None
    sufficiency_populations: Populations | None = None
    necessity_populations: Populations | None = None
    necessity: Estimate | None = None
    _coverage: Coverage | None = None
    _chosen: Any = None  # the discretizer itself
    _reached: Coverage | None = None
    # The rows with the importances that `Alike` reads, and with the rules that these stand for.
    _naming: tuple[Sample, Sample] | None = None

    @property
    def _ruled(self) -> Sample:
        """The rows with explanations that say where they apply."""
        return self.sample if self._naming is None else self._naming[1]

    @property
    def explanations(self) -> Explanations:
        """The explanations as they were measured, after discretization."""
        return self.sample.explanations

    @property
    def predictions(self) -> Array:
        """The model's predictions, (n,); or (n, k) for `Spread` of several outputs."""
        return self.sample.labels

    @property
    def X(self) -> Any:  # noqa: N802
        """The rows, as they were given."""
        return self.sample.X

    @property
    def rows(self) -> Ints | None:
        """The positions of these rows among those that were handed over; None if they are all (see `Best`)."""
        return self.sample.positions

    @property
    def seed(self) -> int:
        """The seed of the evaluation; explainers have seeds of their own."""
        return self.options.seed

    def local(self) -> "pd.DataFrame":
        """One line per row: local consistency and sufficiency with exact intervals, and the counts behind them.

        Of numbers, a local measure is the mean agreement with the other rows with the explanation, and ``mean`` their
        mean.
        Intervals hold whatever the numbers (Hoeffding's; exact for `Tolerance`); `Spread` has none, since squared
        distances have no bound.

        The index of the frame holds the row labels of X, or positions if X has none. Every row counts once here,
        whatever its weight. If rows are clustered, the others are of other clusters, each cluster is a single draw,
        and intervals are Chernoff's.
        """
        columns = per_row(self._counts(), self.sample, self.options.confidence)
        if self._coverage is not None:
            columns |= scopes.per_row(self._coverage, self._ruled, self._relation, self.options.confidence)
        labels = index_of(self.X)
        return frame(columns, self.rows if labels is None else labels)

    def table(self, k: int | None = None) -> "pd.DataFrame":
        """One line per explanation, worst first; only the k worst if k is given. Every row counts once.

        If rows are clustered, intervals take each cluster for a single draw, and ``consistency`` is that of rows of
        different clusters.

        The interval of the purity allows for the choice of the label, however many labels there are: it holds although
        the label is the commonest of these rows (``docs/intervals.md``). Of numbers, the table shows their mean,
        lowest and highest, and ``disagreement`` summed over pairs of rows: ``1 - K``, or squared distances for
        `Spread`.
        """
        counts, sample = self._counts(), self.sample
        clustered = None if sample.clusters is None else (counts.explanations.locate(sample.explanations), sample)
        return frame(per_explanation(counts, self.options.confidence, k, clustered))

    def counterexamples(self, k: int = 10) -> "pd.DataFrame":
        """Pairs of rows with the same explanation and different predictions: worst explanations and nearest rows first.

        ``row_a`` and ``row_b`` are positions in X as it was handed over, ``index_a`` and ``index_b`` its row labels
        (the positions again if it has none). Of numbers, the pairs with the largest ``gap`` come first.
        """
        return self._named(counterexamples(self._counts(), self.sample, k))

    def scopes(self, k: int | None = None) -> "pd.DataFrame":
        """One line per explanation that says where it applies: its precision and coverage on these rows, worst first.

        The interval of the precision holds for any label, like that of the purity in `table`: the label is the
        commonest of the rows that were given the explanation. ``recall`` is the share of the rows with that label that
        the explanation covers. Of numbers, the table shows how much
        the rows given an explanation agree with the rows that it covers. If the explainer claims a precision of its
        own, as `Anchors` and `SufficientReason` do, ``claimed`` stands beside the measured one, and ``claim`` says
        whether it lies within the interval: "holds", "too high" or "too low". Of many explanations, a few intervals
        fail by chance. If rows are clustered, intervals take each cluster for a single draw.
        """
        return frame(scopes.per_scope(self._scoped(), self._ruled, self._relation, self.options.confidence, k))

    def encoding(self) -> Encoding:
        """Whether the choice of an explanation says more than the explanation: `fs.encoding` of these rows.

        It compares the predictions of the rows that were given an explanation with those of the other rows that it
        covers; explanations must say where they apply.
        """
        return measure_encoding(self._ruled, self.options.bound, self.options.confidence)

    def leakage(self, words: Sequence[str] | None = None) -> Leakage:
        """How many reasons in words name a label, and their consistency with these words masked: `fs.leakage`.

        Parameters
        ----------
        words : list of str, optional
            Further words or phrases that name a label, besides those of the predictions.
        """
        reasons = replace(self.sample, explanations=self.undiscretized, notes=())
        return measure_leakage(reasons, self._chosen, self.options.confidence, self.options.method, words)

    @property
    def _remarks(self) -> tuple[str, ...]:
        """Why importances were not asked whether they name the right features, for a report."""
        why = self.options.unasked
        return (Note(f"whether they name the right features was not asked: {why}", "unasked"),) if why else ()

    def _leakage(self) -> Leakage | None:
        """The same for a report; None of other explanations, and if no word names a label."""
        if not isinstance(self.undiscretized, Reasons) or self.agreement.of_numbers:
            return None
        return self.leakage() if label_phrases(self.sample.numbered_labels[0]) else None

    def _named(self, pairs: dict[str, Any]) -> "pd.DataFrame":
        """Pairs of rows with their positions in X as it was handed over, and with its row labels."""
        labels, told = row_labels(self.X), dict[str, Any]()
        for name, column in pairs.items():
            told[name] = column
            if name.startswith("row_"):
                told[name] = self.sample.places[column]
                told[name.replace("row", "index")] = told[name] if labels is None else labels[column]
        return frame(told)

    def _scoped(self) -> Coverage:
        if self._coverage is None:
            self._relation.scopes(self.explanations)  # raises with the reason, for most kinds
            raise NotScoped("Sufficiency was not measured here: pass relation= to evaluate, or use consistency.")
        return self._coverage

    @property
    def _relation(self) -> Relation:
        return to_relation(self.options.bound, self._ruled.explanations)

    def by(
        self, groups: Any, measure: Literal["consistency", "sufficiency", "necessity"] = "consistency"
    ) -> Populations:
        """The same measure for each group of rows, with intervals on the differences: beside everybody, and among them.

        Beside everybody, rows of the group ask and all rows answer; ``.among`` compares rows of one group alone.

        Parameters
        ----------
        groups : array-like, (n,), or str or list of str
            The group of each row; or a column of X by its name, or several, whose values are crossed. A list of texts
            that is as long as X is taken for groups.
        measure : {"consistency", "sufficiency", "necessity"}
        """
        if check_word(measure, "measure", MEASURES) == "consistency":
            return measure_by(self.sample, groups, self.options.confidence, self.options.method)
        self._scoped()
        return measure_asked(self._ruled, groups, self.options.scoping(measure))  # type: ignore[no-any-return]

    def slices(self, columns: Any = None, *, most: int = 5, seed: int = 0) -> Slices:
        """Where explanations fail, found without being told where to look: rows that agree less with everybody.

        Slices are categories, ranges of numbers and of time, and two of these together. They are searched on each
        half of the rows, or of the clusters, and shown by the other half, by intervals that allow for all that were
        looked at: what is listed holds.

        Parameters
        ----------
        columns : table, optional
            A table with a row per row of X, such as some columns of X or a log's other columns. By default X.
        most : int
            How many slices the first half may point out; the more, the wider the intervals.
        seed : int
            Of the halves.

        Examples
        --------
        >>> import numpy as np, pandas as pd, faithscope as fs
        >>> rng = np.random.default_rng(0)
        >>> X = pd.DataFrame({"region": rng.choice(["north", "south"], 3000), "age": rng.integers(20, 60, 3000)})
        >>> decision, reason = rng.integers(0, 2, 3000), rng.integers(0, 20, 3000)
        >>> reason = np.where(X.region == "south", reason, 2 * (reason // 2) + decision)  # random in the south
        >>> ev = fs.evaluate(decision, reason.tolist(), X)
        >>> [found.name for found in ev.slices().found]
        ['region south']
        """
        return find_slices(self.sample, columns, most=most, confidence=self.options.confidence, seed=seed)

    def _grouped(self, groups: Any) -> "Evaluation":
        """The same evaluation with every measure by group of rows."""
        grouped = replace(self, populations=self.by(groups))
        if self.sufficiency is None or self.options.by_default:
            return grouped
        necessity = None if self.necessity is None else self.by(groups, "necessity")
        return replace(grouped, sufficiency_populations=self.by(groups, "sufficiency"), necessity_populations=necessity)

    def discretizations(self) -> "pd.DataFrame":
        """Consistency and uniqueness by each discretizer of the paper, finest first, and by the one that is in use."""
        lines = self._discretized
        columns: dict[str, Any] = {"discretizer": list(lines), **estimate_columns(lines.values())}
        return frame(columns | {"uniqueness": [float(each.counts.profile().uniqueness) for each in lines.values()]})

    @cached_property
    def _discretized(self) -> dict[str, Estimate]:
        """The consistency by each discretizer, finest first."""
        sample, options = replace(self.sample, explanations=self.undiscretized, notes=()), self.options
        lines = {
            repr(member): measure_consistency(sample.discretized(member), options.confidence, options.method)
            for member in usual(self.undiscretized)
        }
        lines.setdefault(self.discretizer, self.consistency)
        return lines

    _written = (
        *MEASURES,
        "uniqueness",
        "name",
        "explainer",
        "discretizer",
        "seed",
        "baseline",
        "populations",
        "sufficiency_populations",
        "necessity_populations",
    )

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write rows, predictions and explanations as a log, which `audit` reads back to the same numbers.

        Weights and clusters are not written: without them `audit` takes rows for independent ones that count alike.

        Predictions that are numbers are read by the same agreement: ``audit(path, agreement=evaluation.agreement)``.

        The row labels of a pandas frame become a column, under their name or ``index``: ``audit(path, id="index")``.
        """
        from faithscope.tables.writing import write_log

        write_log(path, self.explanations, self.predictions, self.X)

    def _counts(self) -> Any:
        """Counts in which every row counts once, whatever its weight; an estimate by `Spread` keeps a profile alone."""
        counts = self.consistency.counts
        kept = isinstance(counts, Counts) and counts.plain
        return counts if kept else count_rows(replace(self.sample, weights=None, clusters=None))

    @property
    def _wanted(self) -> float:
        return self.options.at_least

    def _row_pairs(self, measure: str, k: int) -> list[dict[str, Any]]:
        """Up to k pairs of rows that lower consistency; none for sufficiency."""
        from faithscope.report.maps import map_of

        if measure != "consistency":
            return []
        pairs = counterexamples(self._counts(), self.sample, k)
        told = self._named(pairs).assign(row_a=pairs["row_a"], row_b=pairs["row_b"])
        return [{**pair, "map": map_of(self.explanations, pair["row_a"])} for pair in told.to_dict("records")]


def assess(
    sample: Sample, discretizer: Discretize | None, options: Options, name: str, explainer: Any, groups: Any = None
) -> Evaluation:
    """The evaluation of a sample.

    Parameters
    ----------
    groups : array-like, optional
        The population of each row that was handed over, including rows that are not reported.
    """
    raw, coarse = sample.explanations, sample.discretized(discretizer)
    naming, options = _naming(sample, coarse, options)
    consistency = measure_consistency(coarse, options.confidence, options.method)
    evaluation = Evaluation(
        consistency=noted(
            consistency,
            (
                *granularity_notes(consistency, coarse.explanations, discretizer),
                *label_word_notes(sample, coarse, discretizer),
            ),
        ),
        sufficiency=None,
        sample=coarse,
        options=options,
        undiscretized=raw._with(doubt="") if getattr(discretizer, "reads_maps", False) else raw,
        name=name,
        explainer=described(explainer),
        discretizer=repr(Original() if discretizer is None else discretizer),
        baseline=getattr(explainer, "baseline", False) is True,  # that of Gradient is a row
        _chosen=discretizer,
        _naming=naming,
    )
    if says_where(coarse.explanations, options.relation):
        evaluation = _with_sufficiency(evaluation)
    if groups is None:
        return evaluation
    if sample.positions is not None and not names_columns(groups, sample.X):
        groups = take_rows(groups, sample.positions)
    return evaluation._grouped(groups)


def _naming(sample: Sample, coarse: Sample, options: Options) -> tuple[tuple[Sample, Sample] | None, Options]:
    """The rows with the importances that `Alike` reads, and with their rules, if it or nothing else is asked for.

    A discretizer that keeps the largest features says which are named; of any other, the importances themselves do.
    Reason codes are asked only if the relation is: what counts against a label is not why other rows get it.
    """
    raw, relation = sample.explanations, options.relation
    plain = isinstance(raw, Importances) and raw.shape is None and not isinstance(raw, Rankings)
    if relation is None and plain and not are_codes(getattr(coarse.explanations, "left", "")):
        relation = Alike()  # of a map, single pixels would be named
    if not isinstance(relation, Alike):
        return None, replace(options, relation=bind(relation, coarse.explanations, coarse.positions))
    kept = coarse if names_all(getattr(coarse.explanations, "left", "")) or coarse.n < sample.n else sample
    try:
        rules, _ = kept._scoped_by(relation)
        if options.relation is None and kept.explanations.named()[0].all():  # type: ignore[attr-defined]
            return None, options  # where all features are named, there are no others that might be
    except FaithscopeError as problem:  # such as importances of other columns than those of X
        if options.relation is not None:
            raise
        return None, replace(options, unasked=str(problem))
    return (kept, rules), replace(options, relation=relation, by_default=options.relation is None)


def _with_sufficiency(evaluation: Evaluation) -> Evaluation:
    sample, options = evaluation._ruled, evaluation.options
    # Tables of scopes count every row once, whatever its weight or cluster.
    even, both = replace(sample, weights=None, clusters=None), sample.plain and not sample.agreement.of_numbers
    coverage = cover(even, evaluation._relation, ("share", "recall") if both else ("share",))
    named = None if evaluation._naming is None else (evaluation._naming[0], options.relation)
    estimate = measure_scoped(sample, options.scoping("sufficiency"), coverage if sample.plain else None, named)
    estimate = noted(estimate, made_otherwise(estimate, options.method))
    evaluation = replace(evaluation, sufficiency=estimate, _coverage=coverage)
    if isinstance(sample.agreement, Spread) or coverage.asked is not None:
        return evaluation
    known = coverage.necessity or count_necessity(sample.counted().evenly(), evaluation._relation)
    necessity = measure_scoped(sample, options.scoping(NECESSITY), known)
    return replace(evaluation, necessity=necessity, _reached=known)
