"""Runs: several explanations of each row, one per run, numbered together so that they can be counted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.discretizers import Discretize, discretize
from faithscope.errors import BadInput, FaithscopeError, Incompatible
from faithscope.explanations import Explanations
from faithscope.explanations.counterfactuals import Counterfactuals
from faithscope.inputs.alignment import index_of, same_rows
from faithscope.inputs.chunks import over_chunks
from faithscope.inputs.rows import rows_of
from faithscope.readers import as_explanations
from faithscope.sample import REPEATED, Sample, learned_note

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_REPEATED = "if the same cases were recorded again, the interval is too narrow; drop them, or pass clusters="


@dataclass(frozen=True, eq=False, repr=False)
class Runs:
    """The explanations of the same rows by several runs.

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
        kinds = _without_metrics({name: _read(name, run) for name, run in runs.items()})
        known = {} if X is None else {"X": rows_of(X)}
        refuse_lengths(known | {name: len(kind) for name, kind in kinds.items()})
        _refuse_kinds(kinds)
        first, *others = runs
        same_rows(**{"X": X, first: runs[first]})
        notes = [note for name in others for note in same_rows(**{first: runs[first], name: runs[name]})]
        sample = _rows(kinds[first], runs[first], X, weights, clusters)
        given = tuple(kinds.values())
        if sample.positions is not None:
            given = tuple(kind.take(sample.positions) for kind in given)
        sample, given, discretizer = _learned(sample, given, discretizer)
        coarse = [discretize(kind, discretizer) for kind in given]
        _refuse_kinds(dict(zip(runs, coarse, strict=True)))
        return cls(tuple(runs), given, joined(coarse), sample.noting(tuple(notes[:1])))

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.sample.n

    @cached_property
    def _grouped(self) -> tuple[Ints, Ints]:
        return self.explanations.group()

    @property
    def codes(self) -> Ints:
        """The number of each run's explanation of each row, (runs, n)."""
        return self._grouped[0].reshape(len(self.names), self.n)

    @property
    def distinct(self) -> int:
        """Number of different explanations, of all runs together."""
        return len(self._grouped[1])

    @cached_property
    def weights(self) -> Floats:
        """How much each row counts."""
        return np.ones(self.n) if self.sample.weights is None else self.sample.weights

    @cached_property
    def clusters(self) -> Ints:
        """The cluster of each row; each row is its own if rows are not clustered."""
        return np.arange(self.n) if self.sample.clusters is None else self.sample.clusters

    @cached_property
    def companions(self) -> Ints:
        """How many other runs explain a row as this run does, (runs, n)."""
        codes, answer = self.codes, np.empty(self.codes.shape, np.int64)

        def count(start: int, stop: int) -> None:
            answer[:, start:stop] = equal_runs(codes[:, start:stop]) - 1

        over_chunks(count, self.n, 8 * len(codes))
        return answer

    @cached_property
    def shares(self) -> Floats:
        """The share of pairs of runs that explain a row alike, (n,)."""
        many = len(self.names)
        return np.asarray(self.companions.sum(axis=0) / (many * (many - 1)))

    def by_share(self, steps: int) -> Floats:
        """The share of rows at each share of equal pairs, rounded to so many steps from 0 to 1, (steps + 1,)."""
        places = np.rint(steps * self.shares).astype(np.int64)
        return np.asarray(np.bincount(places, self.weights, steps + 1) / self.weights.sum())

    def describe(self, code: int) -> str:
        """The text of an explanation, by its number."""
        return self.explanations.describe(int(self._grouped[1][code]))


def equal_runs(codes: Ints) -> Ints:
    """How many runs, this one included, explain a row as this run does: the sizes of groups of equal numbers.

    Examples
    --------
    >>> equal_runs(np.array([[4, 1], [7, 1], [4, 1]])).tolist()
    [[2, 3], [1, 3], [2, 3]]
    """
    order = np.argsort(codes, axis=0, kind="stable")
    sizes = np.empty_like(codes)
    np.put_along_axis(sizes, order, group_sizes(np.take_along_axis(codes, order, axis=0)), axis=0)
    return sizes


def group_sizes(ordered: Ints) -> Ints:
    """The size of the group of equal numbers that each number is in; each column is in ascending order."""
    place = np.arange(len(ordered))[:, None]
    begins = np.ones(ordered.shape, bool)
    begins[1:] = ordered[1:] != ordered[:-1]
    ends = np.ones(ordered.shape, bool)
    ends[:-1] = begins[1:]
    first = np.maximum.accumulate(np.where(begins, place, 0), axis=0)
    last = np.minimum.accumulate(np.where(ends, place, len(ordered))[::-1], axis=0)[::-1]
    return last - first + 1


def joined(parts: Sequence[Explanations]) -> Explanations:
    """All explanations, one run after the other; halves are joined first, so that none is copied for every run."""
    if len(parts) == 1:
        return parts[0]
    half = len(parts) // 2
    return joined(parts[:half]).join(joined(parts[half:]))


def refuse_lengths(lengths: Mapping[str, int]) -> None:
    """Raise if two runs, or the rows and a run, differ in length."""
    (first, rows), *others = lengths.items()
    for name, length in others:
        if length != rows:
            raise BadInput(
                f"{first} has {rows:,} rows and {name} has {length:,}: each run must explain the same rows in the same "
                "order, one explanation per row."
            )


def _read(name: str, run: Any) -> Explanations:
    try:
        return as_explanations(run)
    except FaithscopeError as error:
        raise type(error)(f"{name} cannot be read as one explanation per row: {error}") from error


def _without_metrics(kinds: Mapping[str, Explanations]) -> dict[str, Explanations]:
    """The same with one metric for all counterfactuals: each run may have learned its own, and no ball is asked for."""
    metric = next((kind.metric for kind in kinds.values() if isinstance(kind, Counterfactuals)), None)
    return {
        name: kind._with(metric=metric) if isinstance(kind, Counterfactuals) else kind for name, kind in kinds.items()
    }


def _learned(
    sample: Sample, given: tuple[Explanations, ...], discretizer: Any
) -> tuple[Sample, tuple[Explanations, ...], Any]:
    """The rows to measure, their runs, and the discretizer once it learned from all runs of the other rows."""
    if not getattr(discretizer, "learns", False):
        return sample, given, discretizer
    looked, reported = sample.half_places(discretizer.seed)
    learned = discretizer._learned_from(joined([kind.take(looked) for kind in given]))
    rows = sample.take(reported).noting((learned_note(discretizer, len(looked)),))
    return rows, tuple(kind.take(reported) for kind in given), learned


def _refuse_kinds(kinds: Mapping[str, Explanations]) -> None:
    """Raise if explanations of two runs can never be equal, being of other kinds or over other features."""
    (first, kind), *others = kinds.items()
    for name, other in others:
        try:
            kind.take(slice(0, 1)).join(other.take(slice(0, 1)))
        except Incompatible as error:
            raise Incompatible(f"{first} and {name} cannot be compared. {error}") from error


def _rows(kind: Explanations, run: Any, X: Any, weights: Any, clusters: Any) -> Sample:
    """The rows that count, with the explanations of the first run; repeated rows make only the interval wrong."""
    named = run if index_of(run) is not None else kind
    sample = Sample.checked(kind, np.zeros(len(kind)), X, weights, clusters, row_labels={"explanations": named})
    notes = tuple(note.replace(REPEATED, _REPEATED) for note in sample.notes)
    return replace(sample, notes=notes).counted()
