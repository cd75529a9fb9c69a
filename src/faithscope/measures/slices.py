"""Slices: for whom does it fail, found without being told where to look.

A slice is a category, a range of bins, or two such conditions on different columns. On one half of the rows, or of the
clusters, every row is scored once by its agreement with all rows that have its explanation, so that the mean of a slice
is a sum over bins; the slices that lie lowest, in standard errors, are looked at on the other half. There, each is
compared with the rest, beside everybody, by an interval that allows for their number. Then the halves change places:
each direction has half of the error, so that what both tell holds together.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import combinations
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from faithscope.agreements import Spread
from faithscope.card import Table, for_json, framed, in_lines
from faithscope.counting.clusters import Kinds
from faithscope.errors import BadInput, FaithscopeError, NotProven
from faithscope.inputs.array_types import Bools, Floats, Ints
from faithscope.inputs.checks import check_share, check_whole, same_length
from faithscope.inputs.columns import Column, Rows
from faithscope.inputs.dates import UNITS
from faithscope.measures.comparing.beside import Beside
from faithscope.measures.comparing.differences import Difference
from faithscope.measures.estimate import Estimate
from faithscope.notes import Notes
from faithscope.rounding import in_brackets
from faithscope.sample import Sample
from faithscope.shareable import Shareable
from faithscope.visible import visible
from faithscope.words import readable, several, shorten

if TYPE_CHECKING:
    import pandas as pd


_BINS, _MOMENTS, _CATEGORIES = 10, 26, 200  # of numbers, of time, and the commonest values of anything else
_BEAM = 10  # columns of which one is in every pair
_FEWEST, _LEAST, _LARGEST = 20, 0.005, 0.6  # rows of a slice, at least and as a share of all
_SIMPLER = 1.5  # times the logarithm of how many slices there are alike: what chance adds to the square of the best
_NEEDED = 2.0  # standard errors by which rows of one condition lie above those of two, for two to be told
_SHOWN = 3  # explanations of a slice
_POWER = 0.84  # standard errors that a fault found four times in five lies beyond the limit
_SHARE = 0.1  # of rows: the fault of which it is told how large it would have to be
_TOLD = ("name", "rows", "share", "agreement", "rest", "failing")  # what is told of a slice


Condition = tuple[int, int, int]  # a column, the first bin of a range of it, and the one after its last


@dataclass(frozen=True, eq=False)
class Cut:
    """A column cut into bins: categories, or ranges of numbers or days that have an order.

    Attributes
    ----------
    code : (n,) array
        The bin of each row; -1 if it is in none.
    names : list of (str, str)
        What each bin begins and ends with; of a category, twice its name.
    ordered : int
        So many of the first bins have an order, so that ranges of them are slices too.
    """

    name: str
    code: Ints
    names: list[tuple[str, str]]
    ordered: int

    @cached_property
    def ranges(self) -> Ints:
        """The first bin of every slice of this column, and the one after its last: (m, 2)."""
        alone = [(place, place + 1) for place in range(self.ordered, len(self.names))]
        runs = combinations(range(self.ordered + 1), 2)
        return np.array([run for run in [*runs, *alone] if run != (0, len(self.names))], np.int64).reshape(-1, 2)

    @cached_property
    def paired(self) -> Ints:
        """The same for slices of two columns: of many bins, those since or until some bin."""
        ends = self.ranges
        return ends if self.ordered <= _BINS else ends[(ends[:, 0] == 0) | (ends[:, 1] >= self.ordered)]

    def told(self, first: int, stop: int) -> str:
        """A slice of this column in words."""
        low, high = self.names[first][0], self.names[stop - 1][1]
        if first == 0 < stop < self.ordered:
            return f"{self.name} up to {high}"
        if 0 < first < stop == self.ordered:
            return f"{self.name} from {low}"
        return f"{self.name} {low}" if low == high else f"{self.name} {low} to {high}"

    @classmethod
    def of(cls, column: Column) -> "Cut | None":
        """The bins of a column; None if it has one value, or one for nearly every row."""
        known, family = np.flatnonzero(~column.missing), column.family
        named = column.declared or (len(known) > 0 and isinstance(column.values[known[0]], bool | np.bool_))
        dated = family.startswith("date") and column.measured.dtype.kind == "f"
        code, ordered = np.full(len(column.values), -1), 0
        if dated or (family == "number" and not named):
            values, most = column.measured[known].astype(np.float64), _BINS
            if dated:
                values, most = values // UNITS["D"], _MOMENTS
            edges = different = np.unique(values)
            if len(different) > most:  # as many values each, but a value that fills several bins has one to itself
                edges, filled = np.unique(
                    np.quantile(values, np.arange(most) / most, method="lower"), return_counts=True
                )
                after = np.searchsorted(different, edges[filled > 1]) + 1
                edges = np.union1d(edges, different[after[after < len(different)]])
            code[known], ordered = np.searchsorted(edges, values, side="right") - 1, len(edges)
            last = different[np.append(np.searchsorted(different, edges[1:]), len(different)) - 1]
            told = (lambda day: str(np.datetime64(int(day), "D"))) if dated else "{:.9g}".format
            names = [(told(low), told(high)) for low, high in zip(edges, last, strict=True)]
        else:
            try:
                numbers, kinds = column.coded
            except TypeError:  # values that cannot be told apart, such as lists
                return None
            rows, place = np.bincount(numbers[known], minlength=len(kinds)), np.full(len(kinds) + 1, -1)
            common = [value for value in np.argsort(-rows, kind="stable")[:_CATEGORIES] if rows[value] >= _FEWEST]
            place[common] = np.arange(len(common))
            texts = [visible(readable(value)) for value in kinds]
            code, names = place[numbers], [(texts[value], texts[value]) for value in common]
        if len(known) < len(code):
            code[column.missing] = len(names)
            names.append(("missing", "missing"))
        return cls(visible(column.name), code, names, ordered) if len(names) > 1 else None


def to_cuts(columns: Any, sample: Sample) -> tuple[list[Cut], tuple[str, ...]]:
    """The columns to look at, of rows that have weight: those of a table, or of X; and the names of the others."""
    try:
        rows = Rows(sample.X if columns is None else columns)
    except FaithscopeError as error:
        raise BadInput(
            "Slices are looked for in the columns of a table: pass columns=, a table with a row per row of X, such as "
            "X[['region']]."
        ) from error
    same_length(predictions=sample.n, columns=len(rows))
    counted = np.flatnonzero(sample.weight > 0)
    cuts = [Cut.of(column.take(counted)) for column in rows.columns]
    left_out = tuple(name for name, cut in zip(rows.names, cuts, strict=True) if cut is None)
    return [cut for cut in cuts if cut is not None], left_out


Conditions = tuple[Condition, ...]
Pointed = tuple[float, Conditions]  # how many standard errors a slice lies below the rest, and what it is


def _lowest(
    score: Floats, cuts: list[Cut], codes: list[Ints], fewest: int, columns: Sequence[int]
) -> tuple[float, Pointed]:
    """The slice of one column, or of two, that lies lowest, and the square of its errors beyond chance.

    Parameters
    ----------
    score : (n,) array
        The agreement of each row with everybody, less the mean, in standard deviations.
    codes : list of (n,) arrays
        Of each cut, the bins of these rows, -1 of those in none.
    fewest : int
        Rows of a slice.
    """
    n = len(score)
    ranges = [cuts[j].ranges if len(columns) == 1 else cuts[j].paired for j in columns]
    shape = [len(cuts[j].names) + 1 for j in columns]
    key = np.ravel_multi_index([codes[j] for j in columns], shape, mode="wrap")  # -1 is the last
    tables = np.stack([np.bincount(key, each, math.prod(shape)).reshape(shape) for each in (None, score)])
    for ends in ranges:  # sums over ranges of the first axis, which becomes the last one
        heights = np.cumsum(np.concatenate([0 * tables[:, :1], tables], axis=1), axis=1)
        tables = np.moveaxis(heights[:, ends[:, 1]] - heights[:, ends[:, 0]], 1, -1)
    rows, total = tables
    fits = (rows >= fewest) & (rows <= min(_LARGEST * n, n - fewest))
    rows = np.where(fits, rows, 1)
    errors = np.where(fits, -total * np.sqrt(1 / rows + 1 / (n - rows)), -np.inf)
    place, most = np.unravel_index(int(errors.argmax()), errors.shape), float(errors.max())
    found = tuple((j, *ends[at].tolist()) for j, ends, at in zip(columns, ranges, place, strict=True))
    return max(most, 0.0) ** 2 - _SIMPLER * math.log(math.prod(map(len, ranges))), (most, found)


def _within(conditions: Conditions, cuts: Sequence[Cut]) -> Bools:
    """The rows of a slice."""
    codes = [(cuts[column].code, first, stop) for column, first, stop in conditions]
    return np.asarray(np.logical_and.reduce([(code >= first) & (code < stop) for code, first, stop in codes]))


def _search(score: Floats, checked: Bools, places: Ints, cuts: list[Cut], most: int) -> list[Pointed]:
    """Slices that one half of the rows points out, and how many standard errors each lies below the rows left over.

    Of all slices of one column and of two, it is the one that lies lowest, but for what chance adds to the lowest of
    many.
    """
    left, found = checked.copy(), list[Pointed]()
    fewest, codes = max(_FEWEST, math.ceil(_LEAST * len(places))), [cut.code[places] for cut in cuts]
    while len(found) < most and left.sum() >= 2 * fewest and float(np.ptp(score[left])) > 0:
        apart = (score[left] - score[left].mean()) / max(float(score[left].std()), 1e-12)
        lowest = partial(_lowest, apart, cuts, [code[left] for code in codes], fewest)
        single = [lowest([j]) for j in range(len(cuts))]
        beam = {*sorted(range(len(cuts)), key=lambda j: -single[j][1][0])[:_BEAM]}
        pairs = (lowest(pair) for pair in combinations(range(len(cuts)), 2) if beam & {*pair})
        errors, conditions = max([*single, *pairs], key=itemgetter(0))[1]
        if not errors > 1:
            break
        found.append((errors, conditions))
        left &= ~_within(conditions, cuts)[places]
    return found


@dataclass(frozen=True)
class Slice:
    """Rows on which explanations fail more than on the others.

    Attributes
    ----------
    name : str
        Its columns and values; "the rest of" these if some of the rows lie in slices that were looked at before.
    rows : int
        How many of all rows are in it.
    share : float
    estimate : Estimate
        Consistency beside everybody, on the half of the rows on which it was not searched.
    agreement, rest : float or None
        The agreement with everybody where it can be checked: of this slice, and of the rows that lie neither in it nor
        in a slice that was looked at before.
    difference : Difference
        The one less the other; its interval allows for all slices that were looked at.
    failing : tuple of str
        Explanations with which its rows disagree most.
    places : (rows,) array
        Its rows, as positions in X.
    """

    name: str
    rows: int
    share: float
    estimate: Estimate
    agreement: float | None
    rest: float | None
    difference: Difference
    failing: tuple[str, ...]
    places: Ints = field(repr=False, compare=False)

    def __str__(self) -> str:
        apart = self.difference
        failing = f"; fails with {', '.join(map(repr, self.failing))}" if self.failing else ""
        return (
            f"{self.name}: agreement {self.agreement:.2f} where it can be checked, {self.rest:.2f} elsewhere "
            f"(difference {apart.value:+.2f} {in_brackets(apart.low, apart.high, signed=True)}); "
            f"{several(self.rows, 'row', 'rows')} ({self.share:.0%}){failing}"
        )

    def to_dict(self) -> dict[str, Any]:
        """All numbers of this slice, ready for JSON."""
        apart, told = self.difference, {name: for_json(getattr(self, name)) for name in _TOLD}
        return {
            **told,
            "difference": apart.value,
            "low": apart.low,
            "high": apart.high,
            "estimate": self.estimate.to_dict(),
        }


@dataclass(frozen=True, repr=False)
class Slices(Shareable):
    """The slices that were found, those that lie lowest first; an empty list is an answer too.

    Attributes
    ----------
    found : list of Slice
    looked : int
        Slices that either half of the rows pointed out, and the other half was asked about.
    columns : int
        In how many columns they were looked for.
    left_out : tuple of str
        The other columns, whose values hardly repeat, or hardly differ.
    detectable : float or None
        How much lower the agreement of a tenth of the rows would have to be to be found four times in five.
    silent : bool
        Whether no row can be checked, so that nothing could be found.
    notes : tuple of str

    Examples
    --------
    >>> import faithscope as fs
    >>> X = [[float(row % 7), float(row % 5)] for row in range(400)]
    >>> print(fs.evaluate([row % 2 for row in range(400)], [row % 2 for row in range(400)], X).slices())
    Nothing stands out in 2 columns: all rows that can be checked agree with everybody.
    """

    found: list[Slice]
    looked: int
    columns: int
    left_out: tuple[str, ...]
    detectable: float | None
    silent: bool
    notes: Notes = ()

    _title = "For whom does it fail?"

    @property
    def sentence(self) -> str:
        """What was found, in a sentence."""
        return f"{self._line.rstrip('.')}."

    @property
    def _line(self) -> str:
        where = several(self.columns, "column", "columns")
        if self.left_out:
            where += f" (not in {visible(shorten(self.left_out, 6))}, whose values hardly repeat, or hardly differ)"
        if self.found:
            return f"{several(len(self.found), 'slice stands', 'slices stand')} out in {where}"
        if self.silent:
            return f"Nothing can be said of {where}: no explanation was given to several rows, so none can be checked."
        if self.detectable is None:
            return f"Nothing stands out in {where}: all rows that can be checked agree with everybody."
        limit = (
            f"a tenth of the rows would have been found, four times in five, if they agreed {self.detectable:.2f} less"
        )
        return f"Nothing stands out in {where}; {limit}."

    def __str__(self) -> str:
        return "\n".join([in_lines(self._line), *(in_lines(visible(str(each))) for each in self.found)])

    def table(self) -> "pd.DataFrame":
        """One line per slice that was found."""
        import pandas as pd

        told = pd.DataFrame([each.to_dict() for each in self.found], columns=[*_TOLD, "difference", "low", "high"])
        return told.rename(columns={"name": "slice"})

    def plot(self) -> Any:
        """The consistency of every slice that was found, with its interval and chance, as an Altair chart."""
        from faithscope.charts import estimates

        if not self.found:
            raise BadInput(f"There is nothing to draw. {self.sentence}")
        return estimates([(each.name, each.estimate) for each in self.found])

    def _tables(self, title: str = "") -> list[Table]:
        """What was found, as a table; one without lines says that nothing was."""
        told, columns = self.table(), ("slice", "failing", "rows", "agreement", "rest", "difference", "low", "high")
        told["failing"] = ["; ".join(each.failing) for each in self.found]
        return [framed(told, columns, self._line, title)] if self.found or title else []


def find_slices(
    sample: Sample, columns: Any = None, *, most: int = 5, confidence: float = 0.95, seed: int = 0
) -> Slices:
    """The slices of a sample on which explanations agree less with everybody than elsewhere.

    Parameters
    ----------
    columns : table, optional
        A table with a row per row of the sample; by default X.
    most : int
        How many slices each half of the rows may point out.
    seed : int
        Of the halves.
    """
    check_whole(most, "most, the number of slices looked at,")
    check_share(confidence, "confidence")
    if isinstance(sample.agreement, Spread):
        raise NotProven(
            "Slices compare agreements from 0 to 1, and Spread() sums distances: pass agreement=fs.Close(eps)."
        )
    (cuts, left_out), sample = to_cuts(columns, sample), sample.counted()
    if not cuts:
        raise BadInput("No column has values that several rows share, so there are no slices: pass columns= that have.")
    halves = sample.half_places(seed)
    parts = [sample.take(places) for places in halves]
    (score, checked), *shares = (Kinds.of(rows).shares() for rows in (sample, *parts))
    looked, shown, chance = list[_Asked](), list[tuple[_Asked, int]](), list[float]()
    for half in (1, 0):  # is asked about what the other one points out, at half the error
        part, places = parts[half], halves[half]
        before, there = np.zeros((2, sample.n), bool)
        there[places] = checked[places]  # rows that did not choose the conditions
        asked = list[tuple[float, list[_Asked]]]()
        for errors, conditions in _search(*shares[1 - half], halves[1 - half], cuts, most):
            answers = list[_Asked]()  # and of two conditions of each alone, which may say enough
            for chosen in dict.fromkeys((conditions, *((each,) for each in conditions))):
                rows = _within(chosen, cuts) & ~before
                groups = np.where(before, 2, rows)[places].astype(np.int64)  # rows pointed out before are on no side
                if min(np.bincount(groups, minlength=2)[:2]) >= 2:
                    beside = Beside.of(replace(part, askers=groups), confidence)
                    answers.append(_Asked(chosen, rows, beside, beside.difference([1], [0], checked=True)))
            asked.append((errors, answers))
            before |= _within(conditions, cuts)
        every = [each for _, answers in asked for each in answers]
        level = 1 - (1 - confidence) / (2 * max(1, len(every)))
        looked += every
        for errors, answers in asked:
            sure = (each._replace(difference=each.difference.at(level)) for each in answers)
            if known := [each for each in sure if each.difference.high < 0]:
                shown.append((_simplest(known, score, there), half))
            else:
                chance.append(errors)
    # What needs two conditions is told by both.
    shown.sort(key=lambda pair: (-len(pair[0].conditions), pair[0].difference.high))
    found, seen = dict[str, Slice](), np.zeros(sample.n, bool)
    for best, half in shown:
        whole, part, (score, met) = _within(best.conditions, cuts), parts[half], shares[half]
        if 3 * np.sum(whole & seen) > whole.sum():
            continue  # a slice that was found before, or what is left of it
        seen |= best.rows
        mine, places = best.rows[halves[half]], sample.places[best.rows]
        name = " and ".join(cuts[column].told(start, stop) for column, start, stop in best.conditions)
        if len(places) < whole.sum():  # some of them lie in slices that were looked at before
            name = f"the rest of {name}"
        inside, rest = (best.beside.estimate(group) for group in (1, 0))
        codes, first = part.explanations.group()
        lost = np.bincount(codes[met & mine], 1 - score[met & mine], minlength=len(first))
        failing = [int(first[code]) for code in np.argsort(-lost, kind="stable")[:_SHOWN] if lost[code] > 0]
        found.setdefault(
            name,
            Slice(
                name,
                len(places),
                len(places) / sample.n,
                inside,
                inside.verified,
                rest.verified,
                replace(best.difference, a=name, b="elsewhere"),
                tuple(visible(part.explanations.describe(row)) for row in failing),
                places,
            ),
        )
    score, met = shares[1]
    limit, spread = None, float(score[met].std()) if met.any() else 0.0
    if spread > 0:  # how much less a tenth of the rows has to agree to lie so far below the rest, and a bit more
        errors = max([float(-ndtri((1 - confidence) / (2 * max(1, len(looked))))), *chance[:1]])
        limit = (errors + _POWER) * spread / math.sqrt(_SHARE * (1 - _SHARE) * np.count_nonzero(met))
    lowest = sorted(found.values(), key=lambda each: each.difference.value)
    notes = looked[0].beside.notes if looked else ()
    return Slices(lowest, len(looked), len(cuts), left_out, limit, not met.any(), tuple(dict.fromkeys(notes)))


class _Asked(NamedTuple):
    """A slice beside everybody on the other half of the rows: itself, and how it differs from the rest."""

    conditions: Conditions
    rows: Bools  # of all rows, less those of slices that were pointed out before
    beside: Beside
    difference: Difference


def _simplest(known: Sequence[_Asked], score: Floats, checked: Bools) -> _Asked:
    """Of slices that were shown, that of two conditions if rows of each alone do not fail as much without the other.

    All of them hold together, so that any of them may be told.
    """
    whole, enough = known[0], []
    inside = score[checked & whole.rows]
    for wider in known[1:] if len(whole.conditions) > 1 else ():
        outside = score[checked & wider.rows & ~whole.rows]
        if min(len(inside), len(outside)) >= _FEWEST:
            error = float(score[checked].std()) * math.sqrt(1 / len(inside) + 1 / len(outside))
            if (outside.mean() - inside.mean()) / max(error, 1e-12) >= _NEEDED:
                continue
        enough.append(wider)
    return min(enough, key=lambda each: each.difference.high) if enough else whole
