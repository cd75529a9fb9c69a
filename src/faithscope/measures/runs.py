"""Runs: several explanations of each row, one per run, and how far further rows and further runs may lie from these."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import stdtrit

from faithscope.discretizers import Discretize, discretize
from faithscope.errors import BadInput, FaithscopeError, Incompatible
from faithscope.explanations import Explanations
from faithscope.explanations.base import join_all
from faithscope.explanations.counterfactuals import Counterfactuals
from faithscope.explanations.highlights import Highlights
from faithscope.inputs.alignment import index_of, same_rows
from faithscope.inputs.array_types import Array, Floats, Ints
from faithscope.inputs.rows import rows_of
from faithscope.measures.intervals.margins import IndependentUnits, check_confidence
from faithscope.notes import Note, of_kind
from faithscope.readers import as_explanations
from faithscope.sample import Sample

_REPEATED = "if the same cases were recorded again, the interval is too narrow; drop them, or pass clusters="


@dataclass(frozen=True, eq=False, repr=False)
class Runs:
    """The explanations of the same rows by several runs.

    Rows are drawn at random, and so are runs, and every run explains every row. So the value varies with the rows, by
    the jackknife over rows (or clusters), and with the runs, by the jackknife over runs. All rows of a run may share
    its luck, as they do if models are retrained; rows then say nothing of further runs. The two variances add. Random
    errors of single explanations are in both, so that the sum is somewhat too large if there is nothing else.

    Attributes
    ----------
    names : tuple of str
        What each run is called, such as ``runs[0]``.
    given : tuple of Explanations
        The explanations of each run as they were made, before the discretizer.
    explanations : Explanations
        Those of all runs after the discretizer, one run after the other.
    sample : Sample
        The rows with their weights and clusters; its explanations are those of the first run.
    """

    names: tuple[str, ...]
    given: tuple[Explanations, ...]
    explanations: Explanations
    sample: Sample

    @classmethod
    def of(cls, runs: Mapping[str, Any], X: Any, weights: Any, clusters: Any, discretizer: Discretize | None) -> "Runs":
        """The runs that a caller hands over, after checking them: the same rows, in the same order, of one kind.

        Parameters
        ----------
        runs : mapping of str to explanations
            At least two runs, by name.
        """
        kinds = {name: read(name, run) for name, run in runs.items()}
        first, *others = runs
        kinds = {name: in_the_form_of(kinds[first], kind) for name, kind in kinds.items()}
        known = {} if X is None else {"X": rows_of(X)}
        refuse_lengths(known | {name: len(kind) for name, kind in kinds.items()})
        _refuse_kinds(kinds)
        same_rows(**{"X": X, first: runs[first]})
        notes = [note for name in others for note in same_rows(**{first: runs[first], name: runs[name]})]
        named = {"explanations": runs[first] if index_of(runs[first]) is not None else kinds[first]}
        none = np.zeros(len(kinds[first]))  # there are no predictions
        sample = Sample.checked(kinds[first], none, X, weights, clusters, row_labels=named)
        again = of_kind(sample.notes, "repeated")  # which makes only the interval wrong
        told = (note for note in sample.notes if note not in again)
        sample = replace(sample, notes=(*told, *(Note(note.fact, advice=_REPEATED) for note in again))).counted()
        if sample.positions is not None:
            kinds = {name: kind.take(sample.positions) for name, kind in kinds.items()}
        sample, given, chosen = sample.learned(dict.fromkeys(kinds, discretizer), kinds)
        coarse = {name: discretize(kind, chosen[name]) for name, kind in given.items()}
        _refuse_kinds(coarse)
        every = join_all(list(coarse.values()))
        return cls(tuple(runs), tuple(given.values()), every, sample.noting(tuple(notes[:1])))

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.sample.n

    @cached_property
    def units(self) -> IndependentUnits:
        """The rows, or clusters of rows, which vary independently."""
        return IndependentUnits.of(self.sample)

    def mean(self, values: Array) -> Any:
        """The weighted mean over rows, the last axis."""
        return values @ self.units.weight / self.units.weight.sum()

    @cached_property
    def grouped(self) -> tuple[Ints, Ints]:
        """The number of every explanation of all runs, and the place of the first of each number."""
        return self.explanations.group()

    @property
    def distinct(self) -> int:
        """Number of different explanations, of all runs together."""
        return len(self.grouped[1])

    @cached_property
    def codes(self) -> Ints:
        """The number of each run's explanation of each row, (runs, n)."""
        return self.grouped[0].reshape(-1, self.n)

    @cached_property
    def times(self) -> Ints:
        """How many runs, this one included, explain a row as this run does, (runs, n)."""
        return np.stack([(self.codes == run).sum(axis=0) for run in self.codes])

    @cached_property
    def shares(self) -> Floats:
        """The share of pairs of runs that explain a row alike, (n,)."""
        many = len(self.names)
        return np.asarray((self.times - 1).sum(axis=0) / (many * (many - 1)))

    @cached_property
    def value(self) -> float:
        """The share of pairs of runs that explain a row alike, over rows."""
        return min(1.0, self.units.mean(self.shares))

    @cached_property
    def pairs(self) -> Floats:
        """The share of rows that two runs explain alike, of every pair, (runs, runs); 1 for a run with itself."""
        shares = np.stack([self.mean(self.codes == run) for run in self.codes])
        np.fill_diagonal(shares, 1.0)
        return shares

    @cached_property
    def by_run(self) -> Floats:
        """How often the other runs explain rows as each run does, (runs,)."""
        return np.asarray((self.pairs.sum(axis=1) - 1) / (len(self.pairs) - 1))

    @property
    def without_run(self) -> Floats:
        """The value without each run, (runs,); NaN if a single run is left."""
        many = len(self.by_run)
        if many == 2:
            return np.full(2, np.nan)
        return np.asarray((self.by_run.sum() - 2 * self.by_run) / (many - 2))

    def margins(self, confidence: float) -> tuple[float, float]:
        """How far the truth may lie from the value: for further rows of these runs, and for further runs too.

        Never less than ``ln(2/δ) max w / Σ w``, the rule of three's case: rare rows that are explained otherwise may
        have been missed, and weigh as much as the heaviest cluster. Of 2 runs both are the same: nothing is known of
        the spread between runs. If runs fall into kinds of equal size, leaving out any of them changes nothing, though
        other runs would: so the variance of the agreements of pairs of runs, by their number, is added to theirs.
        """
        wrong, many = check_confidence(confidence) / 2, len(self.names)
        apart, rows = self.units.without_each(self.units.sums(self.shares), self.units.mass), (0.0, math.inf)
        if apart is None:
            return 1.0, 1.0
        if apart.varies:  # the variance of the value with the rows, for these runs, and its degrees of freedom
            rows = (apart.rows - 1) / apart.rows * apart.second, apart.second**2 / apart.fourth
        of_rows = max(self.units.least(wrong), _margin(wrong, rows))
        if many < 3:
            return of_rows, of_rows
        pairs = self.pairs[np.triu_indices(many, 1)]
        variance = float((many - 1) * self.without_run.var() + pairs.var(ddof=1) / len(pairs))
        runs = variance if variance > 1e-24 else 0.0, many - 1.0
        return of_rows, max(of_rows, _margin(wrong, rows, runs))

    @property
    def chance(self) -> float | None:
        """How often explanations of two different rows, by different runs, are equal; None if all are of one cluster.

        Pairs of explanations that are equal, less those of one run, all less those of rows of one cluster.
        """
        mass, many = self.units.mass, len(self.names)
        if len(mass) < 2:
            return None
        run, weight = np.repeat(np.arange(many), self.n), np.tile(self.units.weight, many)

        def equal(cluster: Ints) -> float:
            keys = self.grouped[0] * self.n + np.tile(cluster, many)
            return _squares(keys, weight) - _squares(keys * many + run, weight)

        clusters = np.arange(self.n) if self.units.clusters is None else self.units.clusters
        pairs = equal(np.zeros(self.n, np.int64)) - equal(clusters)
        return float(np.clip(pairs / (many * (many - 1) * (mass @ (mass.sum() - mass))), 0.0, 1.0))

    def describe(self, code: int) -> str:
        """The text of an explanation, by its number."""
        return self.explanations.describe(int(self.grouped[1][code]))


def _margin(wrong: float, *parts: tuple[float, float]) -> float:
    """Student's t times the standard error, from variances that add and their degrees of freedom (Satterthwaite's)."""
    total = sum(variance for variance, _ in parts)
    if not total:
        return 0.0
    freedom = 1 / sum((variance / total) ** 2 / freedom for variance, freedom in parts)
    return float(stdtrit(freedom, 1 - wrong)) * math.sqrt(total)


def _squares(keys: Ints, weights: Floats) -> float:
    """The sum over keys of the squared sum of their weights."""
    places = np.unique(keys, return_inverse=True)[1]
    return float((np.bincount(places, weights) ** 2).sum())


def read(name: str, given: Any) -> Explanations:
    """Explanations that a caller hands over, one of several; a refusal says which."""
    try:
        return as_explanations(given)
    except FaithscopeError as error:
        raise type(error)(f"{name} cannot be read: {error}") from error


def in_the_form_of(first: Explanations, other: Explanations) -> Explanations:
    """The other explanations, less what does not matter to equality: how documents and distances are read."""
    if isinstance(first, Highlights) and type(first) is type(other):
        return other._with(tokenizer=first.tokenizer, vocabulary=first.vocabulary)
    if isinstance(first, Counterfactuals) and isinstance(other, Counterfactuals):
        return other._with(metric=first.metric)
    return other


def refuse_lengths(lengths: Mapping[str, int]) -> None:
    """Raise if two runs, or the rows and a run, differ in length."""
    (first, rows), *others = lengths.items()
    for name, length in others:
        if length != rows:
            raise BadInput(
                f"{first} has {rows:,} rows and {name} has {length:,}: each run must explain the same rows in the same "
                "order, one explanation per row."
            )


def _refuse_kinds(kinds: Mapping[str, Explanations]) -> None:
    """Raise if explanations of two runs can never be equal, being of other kinds or over other features."""
    (first, kind), *others = kinds.items()
    for name, other in others:
        try:
            kind.take(slice(0, 1)).join(other.take(slice(0, 1)))
        except Incompatible as error:
            raise Incompatible(f"{first} and {name} cannot be compared. {error}") from error
