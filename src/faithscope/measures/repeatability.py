"""Repeatability: how often two runs explain a row alike, which rows and features change, and which run stands out.

Rows are drawn at random, and so are runs, and every run explains every row. So the value varies with the rows, by the
jackknife over rows (or clusters), and with the runs, by the jackknife over runs. All rows of a run may share its luck,
as they do if models are retrained; rows then say nothing of further runs. The two variances add. Random errors of
single explanations are in both, so that the sum is somewhat too large if there is nothing else.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import stdtrit

from faithscope.discretizers import Discretize, Original, discretize
from faithscope.errors import BadInput, FaithscopeError, Incompatible
from faithscope.explanations.base import Explanations, join_all, several
from faithscope.explanations.conditions.conjunctions import Shared
from faithscope.explanations.counterfactuals import Counterfactuals
from faithscope.explanations.highlights import Highlights
from faithscope.explanations.importances import Importances
from faithscope.inputs.alignment import same_rows
from faithscope.inputs.array_types import Floats, Ints
from faithscope.inputs.checks import check_whole
from faithscope.inputs.frames import frame
from faithscope.inputs.rows import rows_of
from faithscope.measures.counterexamples import named_rows, pairs_apart
from faithscope.measures.intervals.margins import IndependentUnits, check_confidence
from faithscope.measures.means import Answer, by_chance
from faithscope.measures.named_features import named_features, named_parts
from faithscope.measures.telling import in_clusters
from faithscope.notes import Note, Notes, of_kind
from faithscope.readers import as_explanations
from faithscope.rounding import in_brackets, told_share
from faithscope.sample import Sample
from faithscope.sinks.card import Table
from faithscope.visible import visible

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

_TOLD = 5  # rows that a card shows
_LONGEST = 60  # characters of an explanation in a card
_REAL = "importances are real numbers that nearly all differ: name what people read, such as fs.SignOfTop(5)"
_NEARLY_ALL = 0.9  # of real numbers that are different
_FEW = 10  # runs: with fewer, a kind that is not rare may be missing
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
        kinds = {name: read(name, run) for name, run in runs.items()}
        first, *others = runs
        kinds = {name: in_the_form_of(kinds[first], kind) for name, kind in kinds.items()}
        known = {} if X is None else {"X": rows_of(X)}
        refuse_lengths(known | {name: len(kind) for name, kind in kinds.items()})
        notes = list[str]()
        same_rows(**{"X": X, first: runs[first]})
        for name in others:
            try:  # explanations of other kinds, or over other features, can never be equal
                kinds[first].take(slice(0, 1)).join(kinds[name].take(slice(0, 1)))
            except Incompatible as error:
                raise Incompatible(f"{first} and {name} cannot be compared. {error}") from error
            notes += same_rows(**{first: runs[first], name: runs[name]})
        sample = Sample.checked(kinds[first], None, X, weights, clusters)
        again = of_kind(sample.notes, "repeated")  # which makes only the interval wrong
        told = (note for note in sample.notes if note not in again)
        sample = replace(sample, notes=(*told, *(Note(note.fact, advice=_REPEATED) for note in again))).counted()
        if sample.positions is not None:
            kinds = {name: kind.take(sample.positions) for name, kind in kinds.items()}
        sample, given, chosen = sample.learned(dict.fromkeys(kinds, discretizer), kinds)
        every = join_all([discretize(kind, chosen[name]) for name, kind in given.items()])
        return cls(tuple(runs), tuple(given.values()), every, sample.noting(tuple(notes[:1])))

    @cached_property
    def units(self) -> IndependentUnits:
        """The rows, or clusters of rows, which vary independently."""
        return IndependentUnits.of(self.sample)

    @cached_property
    def grouped(self) -> tuple[Ints, Ints]:
        """The number of each run's explanation of each row, (runs, n), and the place of the first of each number."""
        codes, first = self.explanations.group()
        return codes.reshape(-1, self.sample.n), first

    @cached_property
    def times(self) -> Ints:
        """How many runs, this one included, explain a row as this run does, (runs, n)."""
        return np.stack([(self.grouped[0] == run).sum(axis=0) for run in self.grouped[0]])

    @property
    def shares(self) -> Floats:
        """The share of pairs of runs that explain a row alike, (n,)."""
        many = len(self.names)
        return np.asarray((self.times - 1).sum(axis=0) / (many * (many - 1)))

    @cached_property
    def pairs(self) -> Floats:
        """The share of rows that two runs explain alike, of every pair, (runs, runs); 0 for a run with itself."""
        codes, weight = self.grouped[0], self.units.weight / self.units.weight.sum()
        return np.stack([(codes == run) @ weight for run in codes]) - np.eye(len(codes))

    def margins(self, confidence: float) -> tuple[float, float]:
        """How far the truth may lie from the value: for further rows of these runs, and for further runs too.

        Never less than ``ln(2/δ) max w / Σ w``, the rule of three's case: rare rows that are explained otherwise may
        have been missed, and weigh as much as the heaviest cluster. Of 2 runs both are the same: nothing is known of
        the spread between runs. If runs fall into kinds of equal size, leaving out any of them changes nothing, though
        other runs would: so the variance of the agreements of pairs of runs, by their number, is added to theirs.
        Variances add, and so do their degrees of freedom (Satterthwaite's).
        """
        of_rows, many = self.units.margins(self.shares, confidence).below, len(self.names)
        apart = self.units.without_each(self.units.sums(self.shares), self.units.mass)
        if apart is None or many < 3:
            return of_rows, of_rows
        pairs, by_run = self.pairs[np.triu_indices(many, 1)], self.pairs.sum(axis=1) / (many - 1)
        without = (by_run.sum() - 2 * by_run) / (many - 2)
        runs, rows = float((many - 1) * without.var() + pairs.var(ddof=1) / len(pairs)), 0.0
        squares = runs**2 / (many - 1)
        if apart.varies:
            rows = (apart.rows - 1) / apart.rows * apart.second
            squares += rows**2 * apart.fourth / apart.second**2
        if runs <= 1e-24:
            return of_rows, of_rows
        quantile = float(stdtrit((rows + runs) ** 2 / squares, 1 - check_confidence(confidence) / 2))
        return of_rows, max(of_rows, quantile * math.sqrt(rows + runs))

    @property
    def chance(self) -> float | None:
        """How often explanations of two different rows, by different runs, are equal; None for a single cluster."""
        many, n = len(self.names), self.sample.n
        clusters = np.arange(n) if self.units.clusters is None else self.units.clusters
        weight, run = np.tile(self.units.weight, many), np.repeat(np.arange(many), n)
        equal = pairs_apart(self.grouped[0].ravel(), run, np.tile(clusters, many), weight).sum()
        return by_chance(float(equal) / (many * (many - 1)), self.units)


@dataclass(frozen=True, repr=False, kw_only=True)
class Repeatability(Answer):
    """How often two runs explain a row alike, with an interval.

    Attributes
    ----------
    value : float
        Share of pairs of runs that give a row the same explanation, over rows.
    low, high : float
        The interval, for further rows and further runs; of 2 runs, for further rows of these runs.
    rows_low, rows_high : float
        The interval for further rows of these very runs.
    confidence : float
    method : str
        Over what the jackknife of the interval was taken: ``"rows and runs"``, or ``"rows"`` if there are 2 runs.
    chance : float or None
        How often different rows have the same explanation, by different runs: what an explainer repeats that always
        says the same, or that ignores the row. None if there is one row.
    adjusted : float or None
        What is repeated beyond chance, ``(value - chance) / (1 - chance)``; None if chance is unknown or 1.
    n, runs, distinct : int
        Number of rows, of runs, and of different explanations of all runs together.
    clusters : int or None
        Number of clusters of rows; None if rows are independent.
    discretizer : str
    notes : tuple of str
        What a reader should know.

    Examples
    --------
    >>> import faithscope as fs
    >>> repeated = fs.repeatability([["a", "b", "b"], ["a", "b", "c"]])
    >>> round(repeated.value, 3), repeated.table(1)["commonest"].tolist()
    (0.667, ['b'])
    """

    rows_low: float
    rows_high: float
    method: str
    chance: float | None
    adjusted: float | None
    runs: int
    distinct: int
    clusters: int | None
    discretizer: str
    _runs: Runs = field(compare=False)
    measure: str = "repeatability"

    _title = "repeatability"

    def table(self, k: int | None = None) -> "pd.DataFrame":
        """One line per row, the least repeatable first; only the k least repeatable if k is given.

        ``row`` is its position and ``index`` its row label, ``value`` the share of pairs of runs that explain it alike,
        ``different`` the number of its different explanations; then the two commonest, each with its number of runs.
        """
        runs, (every, first) = self._runs, self._runs.grouped
        describe = cache(lambda code: runs.explanations.describe(int(first[code])))
        order = np.argsort(runs.shares, kind="stable")[: None if k is None else check_whole(k, "k")]
        codes, times, place = every[:, order], runs.times[:, order], np.arange(len(order))
        columns = named_rows(runs.sample, order) | {
            "value": runs.shares[order],
            "different": np.rint((1 / times).sum(axis=0)).astype(np.int64),
        }
        for name, many in (("commonest", "runs"), ("second", "second_runs")):
            run = (times * (1 + codes.max()) - codes).argmax(axis=0)  # of equally common ones the one that occurs first
            code, often = codes[run, place], times[run, place]
            texts = [describe(which) if rows else "" for which, rows in zip(code.tolist(), often, strict=True)]
            columns |= {name: texts, many: often}
            times = np.where(codes == code, 0, times)
        return frame(columns)

    def features(self, k: int | None = None, *, top: int = 5) -> "pd.DataFrame":
        """One line per feature, the one that changes most first; only the first k if k is given.

        ``use_differs`` is how often one of two runs names it and the other does not, and ``used`` how often it is named
        at all. Importances, before any discretizer, name their `top` largest in size.
        """
        runs, many = self._runs, self.runs
        every, k = join_all(runs.given), None if k is None else check_whole(k, "k")
        check_whole(top, "top, the number of largest features,")
        named = named_parts(every) if isinstance(every, Shared) else named_features(every, top)
        if named is None:
            raise BadInput(
                "features() needs importances, rules, highlights, prototypes or counterfactuals, and these are "
                f"{every.kind}, which name no features: table() tells which rows change."
            )
        width = len(named.names)
        cells, times = np.unique(named.rows % self.n * width + named.features, return_counts=True)
        row, feature = np.divmod(cells, width)
        weight = runs.units.weight[row] / runs.units.weight.sum()
        shares = {"use_differs": 2 * times * (many - times) / (many * (many - 1)), "used": times / many}
        sums = {name: np.bincount(feature, weight * share, width) for name, share in shares.items()}
        table = frame({"feature": list(map(visible, named.names)), **sums})
        return table[table["used"] > 0].sort_values(list(sums), ascending=False, ignore_index=True)[:k]

    def runs_table(self) -> "pd.DataFrame":
        """One line per run, the one that stands out most first: how often the other runs explain rows as it does."""
        columns = {"run": list(map(visible, self._runs.names)), "value": self._runs.pairs.sum(axis=1) / (self.runs - 1)}
        return frame(columns).sort_values("value", kind="stable", ignore_index=True)

    def plot(self) -> "alt.LayerChart":
        """The value with its interval, beside chance, as an Altair chart."""
        from faithscope.charts import estimates

        return estimates([("two runs", self)])

    def _tables(self) -> Iterable[Table]:
        changing = self.table(_TOLD)[["row", "commonest", "second", "different", "value"]]
        lines = tuple(
            (f"{row:,}", first[:_LONGEST], second[:_LONGEST], f"{many}", f"{value:.3f}")
            for row, first, second, many, value in changing.itertuples(index=False)
        )
        return [Table(tuple(changing), lines, 3, "Rows that change most", visible(self.discretizer))]

    @property
    def _line(self) -> str:
        chance = "" if self.chance is None else f", chance {self.chance:.2f}"
        interval = f"{100 * self.confidence:g}% interval {in_brackets(self.low, self.high)}"
        rows = f"{several(self.n, 'row', 'rows')}{in_clusters(self.clusters)}, {self.runs} runs"
        told = f"repeatability {told_share(self.value)}, {interval}{chance}"
        return f"{told}; {rows}, {several(self.distinct, 'explanation', 'explanations')}"


def measure_repeatability(runs: Runs, discretizer: Discretize | None, confidence: float) -> Repeatability:
    """The repeatability of some runs."""
    value, chance = min(1.0, runs.units.mean(runs.shares)), runs.chance
    of_rows, of_both = runs.margins(confidence)
    return Repeatability(
        value=value,
        low=max(0.0, value - of_both),
        high=min(1.0, value + of_both),
        rows_low=max(0.0, value - of_rows),
        rows_high=min(1.0, value + of_rows),
        confidence=float(confidence),
        method="rows" if len(runs.names) == 2 else "rows and runs",
        chance=chance,
        adjusted=None if chance is None or chance >= 1 else (value - chance) / (1 - chance),
        n=runs.sample.n,
        runs=len(runs.names),
        distinct=len(runs.grouped[1]),
        clusters=None if runs.sample.clusters is None else len(runs.units.mass),
        discretizer=repr(Original() if discretizer is None else discretizer),
        notes=_notes(runs, confidence),
        _runs=runs,
    )


def _notes(runs: Runs, confidence: float) -> Notes:
    """What a reader should know of the runs, then what rows and explanations bring along."""
    told, raw, distinct = [], runs.explanations, len(runs.grouped[1])
    if (runs.times == len(runs.names)).all() and runs.sample.n > 1:
        told.append(
            "every run gave every row one and the same explanation, which repeats itself whatever the rows are"
            if distinct == 1
            else "every run gave each row the same explanation: either nothing is random, or the seed does not reach it"
        )
    real = isinstance(raw, Importances) and not raw.form and raw.values.dtype.kind == "f"
    if real and distinct >= _NEARLY_ALL * runs.grouped[0].size:
        told.append(_REAL)
    if len(runs.names) == 2:
        told.append("of 2 runs nothing is known about others: the interval is for further rows that these two explain")
    elif len(runs.names) < _FEW:
        missing = 1 - (1 - confidence) ** (1 / len(runs.names))  # such a kind is in none of them with that chance
        kind = f"{len(runs.names)} runs may lack a kind that up to {missing:.0%} of runs are of"
        told.append(f"{kind}, of which the interval knows nothing")
    given = [note for explanations in (*runs.given, raw) for note in explanations.notes]
    return tuple(dict.fromkeys([*told, *runs.sample.notes, *given]))


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
