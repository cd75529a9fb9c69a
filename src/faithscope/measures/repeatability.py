"""Repeatability: how often two runs explain a row alike, and which rows change.

Rows are drawn at random, and so are runs, and every run explains every row. So the value varies with the rows, by the
jackknife over rows (or clusters), and with the runs, by the jackknife over runs. All rows of a run may share its luck,
as they do if models are retrained; rows then say nothing of further runs. The two variances add. Random errors of
single explanations are in both, so that the sum is somewhat too large if there is nothing else.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import stdtrit

from faithscope.card import Table, framed
from faithscope.discretizers import Discretize, Original, discretize
from faithscope.errors import FaithscopeError
from faithscope.explanations.base import Explanations, join_all
from faithscope.explanations.counterfactuals import Counterfactuals
from faithscope.explanations.highlights import Highlights
from faithscope.explanations.importances import Importances
from faithscope.inputs.alignment import index_of, row_labels, same_rows
from faithscope.inputs.array_types import Floats, Ints
from faithscope.inputs.checks import check_whole, same_length
from faithscope.inputs.frames import frame
from faithscope.inputs.rows import rows_of
from faithscope.measures.counterexamples import pairs_apart
from faithscope.measures.intervals.margins import IndependentUnits, check_confidence
from faithscope.measures.telling import Answer, in_clusters
from faithscope.notes import Note, of_kind
from faithscope.readers import as_explanations
from faithscope.rounding import told_share
from faithscope.sample import Sample
from faithscope.visible import visible
from faithscope.words import several

if TYPE_CHECKING:
    import pandas as pd

_TOLD = 5  # rows that a card shows
_REAL = "importances are real numbers that nearly all differ: name what people read, such as fs.SignOfTop(5)"
_NEARLY_ALL = 0.9  # of real numbers that are different
_FEW = 10  # runs: with fewer, a kind that is not rare may be missing
_REPEATED = "if the same cases were recorded again, the interval is too narrow; drop them, or pass clusters="


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
    _sample: Sample = field(compare=False)  # the rows
    _explanations: Explanations = field(compare=False)  # of all runs, one run after the other
    measure: str = "repeatability"

    def table(self, k: int | None = None) -> "pd.DataFrame":
        """One line per row, the least repeatable first; only the k least repeatable if k is given.

        ``row`` is its position and ``index`` its row label, ``value`` the share of pairs of runs that explain it alike,
        ``different`` the number of its different explanations, and ``commonest`` the one that most runs give. Which
        runs stand out is seen in ``fs.explainer_agreement(runs).matrix()``.
        """
        codes, first = self._explanations.group()
        runs, sample = codes.reshape(-1, self.n), self._sample
        times, shares = _alike(runs)
        order = np.argsort(shares, kind="stable")[: None if k is None else check_whole(k, "k")]
        commonest = runs[times.argmax(axis=0), np.arange(self.n)][order]
        texts = {code: self._explanations.describe(int(first[code])) for code in dict.fromkeys(commonest.tolist())}
        row, labels = sample.places[order], row_labels(sample.explanations if index_of(sample.X) is None else sample.X)
        columns = {
            "row": row,
            "index": row if labels is None else labels[order],
            "value": shares[order],
            "different": np.rint((1 / times[:, order]).sum(axis=0)).astype(np.int64),
            "commonest": [texts[code] for code in commonest.tolist()],
        }
        return frame(columns)

    def _tables(self) -> Iterable[Table]:
        columns = ("commonest", "row", "different", "value")
        return [framed(self.table(_TOLD), columns, visible(self.discretizer), "Rows that change most")]

    @property
    def _line(self) -> str:
        chance = "" if self.chance is None else f", chance {self.chance:.2f}"
        rows = f"{several(self.n, 'row', 'rows')}{in_clusters(self.clusters)}, {self.runs} runs"
        told = f"repeatability {told_share(self.value)}, {self._ends}{chance}"
        return f"{told}; {rows}, {several(self.distinct, 'explanation', 'explanations')}"


def measure_repeatability(
    runs: Mapping[str, Any], X: Any, weights: Any, clusters: Any, discretizer: Discretize | None, confidence: float
) -> Repeatability:
    """The repeatability of at least two runs, each of which explains the same rows in the same order."""
    sample, given = side_by_side(runs, X, weights, clusters)
    first = next(iter(given.values()))
    given = {name: in_the_form_of(first, each) for name, each in given.items()}
    again = of_kind(sample.notes, "repeated")  # which makes only the interval wrong
    told = (note for note in sample.notes if note not in again)
    sample = replace(sample, notes=(*told, *(Note(note.fact, advice=_REPEATED) for note in again)))
    sample, given = counted(sample, given)
    sample, given, chosen = sample.learned(dict.fromkeys(given, discretizer), given)
    every = join_all([discretize(each, chosen[name]) for name, each in given.items()])
    flat, different = every.group()
    codes = flat.reshape(-1, sample.n)
    times, shares = _alike(codes)
    units, many = IndependentUnits.of(sample), len(codes)
    clusters = np.arange(sample.n) if sample.clusters is None else sample.clusters
    run, cluster, weight = np.repeat(np.arange(many), sample.n), np.tile(clusters, many), np.tile(sample.weight, many)
    equal = pairs_apart(flat, run, cluster, weight).sum()  # by other runs, of rows of other clusters
    chance = units.by_chance(equal / (many * (many - 1)))
    value = min(1.0, units.mean(shares))
    # The share of rows that two runs explain alike, of every pair; 0 for a run with itself.
    between = np.stack([(codes == each) @ (sample.weight / sample.weight.sum()) for each in codes]) - np.eye(many)
    of_rows, of_both = _margins(units, shares, between, confidence)
    notes = list[str]()
    if sample.n > 1 and (times == many).all():
        notes.append(
            "every run gave every row one and the same explanation, which repeats itself whatever the rows are"
            if len(different) == 1
            else "every run gave each row the same explanation: either nothing is random, or the seed does not reach it"
        )
    real = isinstance(every, Importances) and not every.form and every.values.dtype.kind == "f"
    if real and len(different) >= _NEARLY_ALL * codes.size:
        notes.append(_REAL)
    if many == 2:
        notes.append("of 2 runs nothing is known about others: the interval is for further rows that these two explain")
    elif many < _FEW:
        missing = 1 - (1 - confidence) ** (1 / many)  # such a kind is in none of them with that chance
        kind = f"{many} runs may lack a kind that up to {missing:.0%} of runs are of"
        notes.append(f"{kind}, of which the interval knows nothing")
    of_explanations = [note for each in (*given.values(), every) for note in each.notes]
    return Repeatability(
        value=value,
        low=max(0.0, value - of_both),
        high=min(1.0, value + of_both),
        rows_low=max(0.0, value - of_rows),
        rows_high=min(1.0, value + of_rows),
        confidence=float(confidence),
        method="rows" if many == 2 else "rows and runs",
        chance=chance,
        adjusted=None if chance is None or chance >= 1 else (value - chance) / (1 - chance),
        n=sample.n,
        runs=many,
        distinct=len(different),
        clusters=None if sample.clusters is None else len(units.mass),
        discretizer=repr(Original() if discretizer is None else discretizer),
        notes=tuple(dict.fromkeys([*notes, *sample.notes, *of_explanations])),
        _sample=sample,
        _explanations=every,
    )


def _alike(codes: Ints) -> tuple[Ints, Floats]:
    """How many runs explain a row as this run does, (runs, n), and the share of pairs of runs that do, (n,)."""
    times, many = np.stack([(codes == run).sum(axis=0) for run in codes]), len(codes)
    return times, (times - 1).sum(axis=0) / (many * (many - 1))


def _margins(units: IndependentUnits, shares: Floats, between: Floats, confidence: float) -> tuple[float, float]:
    """How far the truth may lie from the value: for further rows of these runs, and for further runs too.

    Never less than ``ln(2/δ) max w / Σ w``, the rule of three's case: rare rows that are explained otherwise may have
    been missed, and weigh as much as the heaviest cluster. Of 2 runs both are the same: nothing is known of the spread
    between runs. If runs fall into kinds of equal size, leaving out any of them changes nothing, though other runs
    would: so the variance of the agreements of pairs of runs, by their number, is added to theirs. Variances add, and
    so do their degrees of freedom (Satterthwaite's).
    """
    of_rows, many = units.margins(shares, confidence).below, len(between)
    apart = units.without_each(units.sums(shares), units.mass)
    if apart is None or many < 3:
        return of_rows, of_rows
    pairs, by_run = between[np.triu_indices(many, 1)], between.sum(axis=1) / (many - 1)
    without = (by_run.sum() - 2 * by_run) / (many - 2)
    runs = float((many - 1) * without.var() + pairs.var(ddof=1) / len(pairs))
    share = (apart.rows - 1) / apart.rows
    rows, squares = share * apart.second, runs**2 / (many - 1) + share**2 * apart.fourth
    if runs <= 1e-24:
        return of_rows, of_rows
    quantile = float(stdtrit((rows + runs) ** 2 / squares, 1 - check_confidence(confidence) / 2))
    return of_rows, max(of_rows, quantile * math.sqrt(rows + runs))


def side_by_side(
    given: Mapping[str, Any], X: Any = None, weights: Any = None, clusters: Any = None
) -> tuple[Sample, Mapping[str, Explanations]]:
    """Several explanations of each row, which a caller hands over by name, and the rows; a refusal says which.

    The sample has the first of them.
    """
    kinds = dict[str, Explanations]()
    for name, each in given.items():
        try:
            kinds[name] = as_explanations(each)
        except FaithscopeError as error:
            raise type(error)(f"{name} cannot be read: {error}") from error
    same_length(**({} if X is None else {"X": rows_of(X)}), **{name: len(each) for name, each in kinds.items()})
    sample = Sample.checked(next(iter(kinds.values())), None, X, weights, clusters)
    return sample.noting(same_rows(**given)), kinds


def counted(sample: Sample, given: Mapping[str, Explanations]) -> tuple[Sample, Mapping[str, Explanations]]:
    """The rows that have weight, and several explanations of each."""
    kept = sample.counted()
    if kept is sample:
        return sample, given
    return kept, {name: each.take(np.flatnonzero(sample.weight)) for name, each in given.items()}


def in_the_form_of(first: Explanations, other: Explanations) -> Explanations:
    """The other explanations, less what does not matter to equality: how documents and distances are read."""
    if isinstance(first, Highlights) and type(first) is type(other):
        return other._with(tokenizer=first.tokenizer, vocabulary=first.vocabulary)
    if isinstance(first, Counterfactuals) and isinstance(other, Counterfactuals):
        return other._with(metric=first.metric)
    return other
