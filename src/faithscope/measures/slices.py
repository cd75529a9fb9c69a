"""Slices: for whom does it fail, found without being told where to look.

A slice is a category, a range of bins, or two such conditions on different columns. On one half of the rows, or of the
clusters, every row is scored once by its agreement with all rows that have its explanation, so that the mean of a slice
is a sum over bins; the slices that lie lowest, in standard errors, are looked at on the other half. There, each is
compared with the rest, beside everybody, by an interval; Holm's correction allows for their number. Then the halves
change places: each direction has half of the error, so that what both tell holds together.
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from faithscope.agreements import Spread
from faithscope.counting.clusters import Strangers
from faithscope.errors import BadInput, NotProven, WrongType
from faithscope.explanations.base import readable, several
from faithscope.inputs.array_types import Array, Bools, Floats, Ints
from faithscope.inputs.arrays import frame_column, frame_names, is_frame, to_vector
from faithscope.inputs.checks import check_share, check_whole, same_length
from faithscope.inputs.dates import UNITS, hold_dates, to_ticks
from faithscope.inputs.frames import frame
from faithscope.inputs.hints import hint
from faithscope.inputs.missing import missing_values
from faithscope.inputs.rows import rows_of
from faithscope.measures.comparing.beside import Beside
from faithscope.measures.comparing.differences import Difference
from faithscope.measures.estimate import Estimate
from faithscope.measures.telling import number
from faithscope.notes import Notes
from faithscope.rounding import in_brackets
from faithscope.sample import Sample, number_labels
from faithscope.sinks.card import Cell, Table
from faithscope.sinks.json_values import for_json
from faithscope.sinks.lines import in_lines
from faithscope.sinks.shareable import Shareable
from faithscope.visible import visible

if TYPE_CHECKING:
    import pandas as pd


_BINS = 10  # of numbers
_MOMENTS = 54  # at most so many bins of time
_CATEGORIES = 50  # of a column, the commonest
_BEAM = 10  # columns of which one is in every pair
_FEWEST, _LEAST, _LARGEST = 20, 0.005, 0.6  # rows of a slice, at least and as a share of all
_SIMPLER = 1.5  # times the logarithm of how many slices there are alike: what chance adds to the square of the best
_NEEDED = 2.0  # standard errors by which rows of one condition lie above those of two, for two to be told
_SHOWN = 3  # explanations of a slice
_POWER = 0.84  # standard errors that a fault found four times in five lies beyond the limit
_SHARE = 0.1  # of rows: the fault of which it is told how large it would have to be
_DAY = UNITS["D"]
_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)?Z?")
_TOLD = ("name", "rows", "share", "agreement", "rest", "failing", "counterexample")  # what tables tell of a slice


class Condition(NamedTuple):
    """A range of the bins of one column, from `first` to before `stop`."""

    column: int
    first: int
    stop: int


@dataclass(frozen=True, eq=False)
class Cut:
    """A column cut into bins: categories, or ranges of numbers or time that have an order.

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
    of_time: bool = False

    @cached_property
    def ranges(self) -> Ints:
        """The first bin of every slice of this column, and the one after its last: (m, 2)."""
        alone = [(place, place + 1) for place in range(self.ordered, len(self.names))]
        ends, whole = range(self.ordered + 1), len(self.names) > self.ordered
        runs = [(a, b) for a, b in combinations(ends, 2) if b - a < self.ordered or whole]
        return np.array([*runs, *alone], np.int64).reshape(-1, 2)

    @cached_property
    def paired(self) -> Ints:
        """The same for slices of two columns: of time, those since or until some date."""
        ends = self.ranges
        return ends[(ends[:, 0] == 0) | (ends[:, 1] >= self.ordered)] if self.of_time else ends

    def told(self, first: int, stop: int) -> str:
        """A slice of this column in words."""
        if first >= self.ordered:
            return f"{self.name} {self.names[first][0]}"
        low, high = self.names[first][0], self.names[stop - 1][1]
        if first == 0 and stop < self.ordered:
            return f"{self.name} up to {high}"
        if stop == self.ordered and first > 0:
            return f"{self.name} from {low}"
        return f"{self.name} {low}" if low == high else f"{self.name} {low} to {high}"

    @classmethod
    def of(cls, name: str, column: Array) -> "Cut | None":
        """The bins of a column; None if it has one value, or one for nearly every row."""
        gone = missing_values(column)
        known = np.flatnonzero(~gone)
        code = np.full(len(column), -1)
        if not len(known):
            return None
        values = _as_dates(column[known])
        of_time, of_numbers = hold_dates(values), values.dtype.kind in "iuf"
        if values.dtype.kind == "O":
            of_numbers = all(
                isinstance(each, int | float | np.number) and not isinstance(each, bool) for each in values
            )
        cut = _by_time if of_time else _by_number if of_numbers else _by_category
        code[known], names = cut(values)
        ordered = len(names) if of_time or of_numbers else 0
        if gone.any():
            code[gone] = len(names)
            names.append(("missing", "missing"))
        return cls(visible(name), code, names, ordered, of_time) if len(names) > 1 else None


def _as_dates(values: Array) -> Array:
    """The values, as moments if all of them are texts of such."""
    if values.dtype.kind not in "OUT" or not isinstance(values[0], str):
        return values
    texts = values.tolist()
    different = set(texts)
    if not all(isinstance(text, str) and _MOMENT.fullmatch(text) for text in different):
        return values
    try:
        moments = {text: np.datetime64(text.rstrip("Z"), "s") for text in different}
    except ValueError:  # no such day
        return values
    return np.array([moments[text] for text in texts])


Binned = tuple[Ints, list[tuple[str, str]]]  # the bin of each value, and what each bin begins and ends with


def _by_number(column: Array) -> Binned:
    """Bins of as many numbers each, as far as equal ones allow."""
    values = column.astype(np.float64)
    edges = different = np.unique(values)
    if len(different) > _BINS:
        edges = np.unique(np.quantile(values, np.arange(_BINS) / _BINS, method="lower"))
    last = np.append(different[np.searchsorted(different, edges[1:]) - 1], different[-1])
    names = [(f"{low:g}", f"{high:g}") for low, high in zip(edges, last, strict=True)]
    return np.searchsorted(edges, values, side="right") - 1, names


def _by_time(values: Array) -> Binned:
    """Days, weeks, fortnights or months, whichever are few enough."""
    ticks, unit = to_ticks(values)
    days = ((ticks.astype(np.int64) * unit) // _DAY).astype("datetime64[D]")
    for kind, step in (("D", 1), ("D", 7), ("D", 14), ("M", 0)):
        moments = days.astype(f"datetime64[{kind}]").astype(np.int64)
        start, last = int(moments.min()), int(moments.max())
        step = step or 1 + (last - start) // _MOMENTS
        if (last - start) // step < _MOMENTS:
            break
    start -= (start + 3) % 7 if kind == "D" and step > 1 else 0  # Monday
    place = (moments - start) // step
    edges = start + step * np.arange(int(place.max()) + 2)
    ends = edges.astype(f"datetime64[{kind}]").astype("datetime64[D]")
    return place, [(str(low), str(high - np.timedelta64(1, "D"))) for low, high in pairwise(ends)]


def _by_category(column: Array) -> Binned:
    """The commonest values; the others are in no bin."""
    try:
        values, numbers = number_labels(column)
    except TypeError:  # values that cannot be told apart, such as lists
        return np.full(len(column), -1), []
    rows = np.bincount(numbers)
    common = np.argsort(-rows, kind="stable")[:_CATEGORIES]
    common = np.sort(common[rows[common] >= _FEWEST])
    place = np.full(len(values), -1)
    place[common] = np.arange(len(common))
    texts = (visible(readable(values[number])) for number in common.tolist())
    return place[numbers], [(text, text) for text in texts]


def to_cuts(columns: Any, sample: Sample) -> list[Cut]:
    """The columns to look at, of rows that have weight: those of a table, or of X, all of them or some by name."""
    X, wanted = sample.X, None
    table = X if columns is None else columns
    if columns is not None and not is_frame(columns):
        if not isinstance(columns, str | list | tuple):
            raise WrongType(
                "columns= takes a table with a row per row of X, or names of columns of X; got "
                f"{type(columns).__name__}."
            )
        table, wanted = X, [columns] if isinstance(columns, str) else list(columns)
    if is_frame(table):
        names = frame_names(table)
        for name in wanted or ():
            if name not in names:
                raise BadInput(f"X has no column {name!r} to look for slices in. {hint(str(name), names)}")
        chosen = [j for j, name in enumerate(names) if wanted is None or name in wanted]
        columns = [(names[j], to_vector(frame_column(table, j), f"Column {names[j]!r}")) for j in chosen]
    else:
        if wanted is not None:
            raise BadInput(f"columns={columns!r} names columns, but those of X, {type(X).__name__}, have no names.")
        try:
            array = np.asarray(table)
        except ValueError:  # rows of unequal length
            array = np.empty(0)
        if array.ndim != 2 or array.dtype.kind not in "biufM":
            raise BadInput(
                "Slices are looked for in the columns of a table, and X is none: pass columns=, a pandas, polars or "
                "Arrow table with a row per row of X."
            )
        columns = [(f"column {j}", array[:, j]) for j in range(array.shape[1])]
    same_length(predictions=sample.n, columns=rows_of(table))
    cuts = [Cut.of(name, column[sample.weight > 0]) for name, column in columns]
    return [cut for cut in cuts if cut is not None]


Found = tuple[float, tuple[Condition, ...]]  # how many standard errors a slice lies below the rest, and its conditions


def _best(score: Floats, cuts: list[Cut], codes: list[Ints], fewest: int) -> Found:
    """The slice that lies lowest, but for what chance adds to the lowest of many.

    Parameters
    ----------
    score : (n,) array
        The agreement of each row with everybody.
    codes : list of (n,) arrays
        Of each cut, the bins of these rows, those in none after all others.
    fewest : int
        Rows of a slice.
    """
    n, whole, spread = len(score), float(score.sum()), max(float(score.std()), 1e-12)

    def below(rows: Array, total: Array) -> Floats:
        """How many standard errors slices of so many rows with so large a sum lie below all others."""
        rest = n - rows
        fits = (rows >= fewest) & (rows <= _LARGEST * n) & (rest >= fewest)
        rows, rest = np.where(fits, rows, 1), np.where(fits, rest, 1)
        error = spread * np.sqrt(1 / rows + 1 / rest)
        return np.where(fits, ((whole - total) / rest - total / rows) / error, -np.inf)

    def ranges(columns: Sequence[int]) -> list[Ints]:
        """The ranges of each column that make slices with those of the others."""
        return [cuts[j].ranges if len(columns) == 1 else cuts[j].paired for j in columns]

    def lowest(*columns: int) -> Found:
        """The lowest slice of one column, or of two."""
        ends, sizes = ranges(columns), [len(cuts[j].names) + 1 for j in columns]
        key = np.ravel_multi_index([codes[j] for j in columns], sizes)
        tables = [np.bincount(key, each, math.prod(sizes)).reshape(sizes) for each in (None, score)]
        for each in ends:
            tables = [np.moveaxis(_between(table, each), 0, -1) for table in tables]
        lower = below(*tables).T
        place = np.unravel_index(int(lower.argmax()), lower.shape)[::-1]
        chosen = (Condition(j, *each[at].tolist()) for j, each, at in zip(columns, ends, place, strict=True))
        return float(lower.max()), tuple(chosen)

    def beyond_chance(found: Found) -> float:
        many = math.prod(map(len, ranges([each.column for each in found[1]])))
        return max(found[0], 0.0) ** 2 - _SIMPLER * math.log(many)

    single = [lowest(j) for j in range(len(cuts))]
    beam = sorted(range(len(single)), key=lambda j: -single[j][0])[:_BEAM]
    pairs = (pair for pair in combinations(range(len(single)), 2) if pair[0] in beam or pair[1] in beam)
    return max([*single, *(lowest(*pair) for pair in pairs)], key=beyond_chance)


def _between(table: Array, ends: Ints) -> Array:
    """Sums over ranges of the first axis."""
    height = np.concatenate([np.zeros((1, *table.shape[1:])), np.cumsum(table, axis=0)])
    return np.asarray(height[ends[:, 1]] - height[ends[:, 0]])


def _within(conditions: Sequence[Condition], cuts: Sequence[Cut]) -> Bools:
    """The rows of a slice."""
    codes = [(cuts[column].code, first, stop) for column, first, stop in conditions]
    return np.asarray(np.logical_and.reduce([(code >= first) & (code < stop) for code, first, stop in codes]))


@dataclass(frozen=True)
class Slice:
    """Rows on which explanations fail more than on the others.

    Attributes
    ----------
    name : str
        Its columns and values.
    rows : int
        How many of all rows are in it.
    share : float
    estimate : Estimate
        Consistency beside everybody, on the half of the rows on which it was not searched.
    agreement, rest : float or None
        The agreement with everybody where it can be checked: of this slice, and of the rows in no slice.
    difference : Difference
        The one less the other; its interval is at the confidence at which Holm's test, which allows for all slices that
        were looked at, found it.
    failing : tuple of str
        Explanations with which its rows disagree most.
    counterexample : pair or None
        A row of the slice and another row with the same explanation and another prediction, as positions in X; of a
        log, by their ids.
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
    counterexample: tuple[Any, Any] | None
    places: Ints = field(repr=False, compare=False)

    @property
    def pair(self) -> str:
        """The counterexample in words."""
        return "" if self.counterexample is None else "{} and {}".format(*self.counterexample)

    def __str__(self) -> str:
        apart = self.difference
        return (
            f"{self.name}: agreement {self.agreement:.2f} where it can be checked, {self.rest:.2f} elsewhere "
            f"(difference {apart.value:+.2f} {in_brackets(apart.low, apart.high, signed=True)}); "
            f"{several(self.rows, 'row', 'rows')} ({self.share:.0%})"
        )

    @property
    def in_full(self) -> str:
        """The same with the explanations that fail there, and two rows that show it."""
        failing = f"; fails with {', '.join(map(repr, self.failing))}" if self.failing else ""
        return f"{self}{failing}" + (f"; rows {self.pair} show it" if self.pair else "")

    def to_dict(self) -> dict[str, Any]:
        """All numbers of this slice, ready for JSON."""
        ends = {"difference": self.difference.value, "low": self.difference.low, "high": self.difference.high}
        told = {name: for_json(getattr(self, name)) for name in _TOLD}
        return {**told, **ends, "estimate": self.estimate.to_dict()}


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
    detectable: float | None
    silent: bool
    notes: Notes = field(default=())

    _title = "For whom does it fail?"

    @property
    def sentence(self) -> str:
        """What was found, in a sentence."""
        return self._line if self._line.endswith(".") else f"{self._line}."

    @property
    def _line(self) -> str:
        where = several(self.columns, "column", "columns")
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
        return "\n".join([in_lines(self._line), *(in_lines(visible(each.in_full)) for each in self.found)])

    def table(self) -> "pd.DataFrame":
        """One line per slice that was found."""
        columns: dict[str, Any] = {name: [getattr(each, name) for each in self.found] for name in _TOLD}
        ends = {name: [getattr(each.difference, name) for each in self.found] for name in ("value", "low", "high")}
        return frame({"slice": columns.pop("name"), **columns, "difference": ends.pop("value"), **ends})

    def to_dict(self) -> dict[str, Any]:
        told = {name: getattr(self, name) for name in ("looked", "columns", "detectable", "silent")}
        return {"found": [each.to_dict() for each in self.found], **told, "notes": list(self.notes)}

    def _tables(self) -> Iterable[Table]:
        return self.tables()

    def tables(self, title: str = "") -> list[Table]:
        """What was found, as a table; one without lines says that nothing was."""
        heads = ("slice", "rows", "agreement", "elsewhere", "difference", "interval", "explanations that fail there")
        lines = tuple(
            (
                each.name,
                Cell(f"{each.rows:,}", each.rows),
                number(each.agreement),
                number(each.rest),
                *each.difference.cells,
                "; ".join(each.failing),
                each.pair,
            )
            for each in self.found
        )
        told = Table((*heads, "two rows"), lines, 1, title, self._line, ("two rows",))
        return [told] if lines or title else []


def find_slices(
    sample: Sample, columns: Any = None, *, most: int = 5, confidence: float = 0.95, seed: int = 0
) -> Slices:
    """The slices of a sample on which explanations agree less with everybody than elsewhere.

    Parameters
    ----------
    columns : table, or list of str, optional
        A table with a row per row of the sample, or columns of X by name; by default all columns of X.
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
    cuts, sample = to_cuts(columns, sample), sample.counted()
    if not cuts:
        raise BadInput("No column has values that several rows share, so there are no slices: pass columns= that have.")
    halves = sample.half_places(seed)
    rows_of = [sample.take(places) for places in halves]
    (score, checked), *shares = (Strangers(rows).shares() for rows in (sample, *rows_of))
    asked, shown, chance = list[_Asked](), list[_Asked](), list[float]()
    for half in (1, 0):  # is asked about what the other one points out, at half the error
        pointed = _search(*shares[1 - half], halves[1 - half], cuts, most)
        answers = list(_ask(pointed, cuts, rows_of[half], halves[half], confidence, half))
        lower, there = _holm(answers, (1 + confidence) / 2), np.zeros(sample.n, bool)
        there[halves[half]] = checked[halves[half]]  # rows that did not choose the conditions
        for family, (errors, _) in enumerate(pointed):
            if known := [each for each in lower if each.family == family]:
                shown.append(_simplest(known, score, there))
            else:
                chance.append(errors)
        asked += answers
    # What needs two conditions is told by both.
    shown.sort(key=lambda each: (-len(each.conditions), each.difference.high))
    found, seen = list[Slice](), np.zeros(sample.n, bool)
    for best in shown:
        whole = _within(best.conditions, cuts)
        if 3 * np.sum(whole & seen) > whole.sum():
            continue  # a slice that was found before, or what is left of it
        seen |= best.rows
        other, met = shares[best.half]
        mine, rows = best.rows[halves[best.half]], sample.places[best.rows]
        name = " and ".join(cuts[column].told(first, stop) for column, first, stop in best.conditions)
        told, size = replace(best.difference, a=name, b="elsewhere"), (len(rows), len(rows) / sample.n)
        agreement, rest = (float(other[met & of].mean()) for of in (mine, ~mine))
        failing = _failing(rows_of[best.half], other, met & mine)
        found.append(Slice(name, *size, best.beside.estimate(1), agreement, rest, told, *failing, rows))
    found.sort(key=lambda each: each.difference.value)
    other, met = shares[1]
    limit, spread = None, float(other[met].std()) if met.any() else 0.0
    if spread > 0:  # how much less a tenth of the rows has to agree to lie so far below the rest, and a bit more
        errors = max([float(-ndtri((1 - confidence) / (2 * max(1, len(asked))))), *chance[:1]])
        tenth, rest = (share * np.count_nonzero(met) for share in (_SHARE, 1 - _SHARE))
        limit = (errors + _POWER) * spread * math.sqrt(1 / tenth + 1 / rest)
    notes = asked[0].beside.notes if asked else ()
    return Slices(found, len(asked), len(cuts), limit, not met.any(), tuple(dict.fromkeys(notes)))


class _Asked(NamedTuple):
    """A slice beside everybody on the other half of the rows: itself, and how it differs from the rest."""

    family: int
    conditions: tuple[Condition, ...]
    rows: Bools  # of all rows
    beside: Beside
    difference: Difference
    half: int  # which half was asked


def _ask(
    pointed: Sequence[Found], cuts: list[Cut], rows_of: Sample, places: Ints, confidence: float, half: int
) -> Iterator[_Asked]:
    """Slices that one half points out, on the other; and of those with two conditions each alone, which may say enough.

    Rows of slices that were pointed out before are on neither side.
    """
    before = np.zeros(len(cuts[0].code), bool)
    for family, (_, conditions) in enumerate(pointed):
        for chosen in dict.fromkeys((conditions, *((each,) for each in conditions))):
            rows = _within(chosen, cuts) & ~before
            groups = np.where(before, 2, rows)[places]
            if min(np.bincount(groups, minlength=2)[:2]) >= 2:
                beside = Beside.of(replace(rows_of, askers=groups.astype(np.int64)).counted(), confidence)
                yield _Asked(family, chosen, rows, beside, beside.checked_difference([1], [0]), half)
        before = before | _within(conditions, cuts)


def _simplest(known: Sequence[_Asked], score: Floats, checked: Bools) -> _Asked:
    """Of slices that were shown, that of two conditions if rows of each alone do not fail as much without the other.

    All of them hold together, so that any of them may be told.
    """
    whole, enough = known[0], []
    inside = score[checked & whole.rows]
    for wider in known[1:] if len(whole.conditions) > 1 else ():
        outside = score[checked & wider.rows & ~whole.rows]
        if min(len(inside), len(outside)) >= 2:
            error = float(score[checked].std()) * math.sqrt(1 / len(inside) + 1 / len(outside))
            if (outside.mean() - inside.mean()) / max(error, 1e-12) >= _NEEDED:
                continue
        enough.append(wider)
    return min(enough, key=lambda each: each.difference.high) if enough else whole


def _search(score: Floats, checked: Bools, places: Ints, cuts: list[Cut], most: int) -> list[Found]:
    """Slices that one half of the rows points out, and how many standard errors each lies below the rows left over."""
    left, chosen = checked.copy(), list[Found]()
    fewest = max(_FEWEST, math.ceil(_LEAST * len(places)))
    while len(chosen) < most and left.sum() >= 2 * fewest and float(np.ptp(score[left])) > 0:
        rows = places[left]
        codes = [np.where(cut.code[rows] < 0, len(cut.names), cut.code[rows]) for cut in cuts]
        lower, conditions = _best(score[left], cuts, codes, fewest)
        if not lower > 1:
            break
        chosen.append((lower, conditions))
        left &= ~_within(conditions, cuts)[places]
    return chosen


def _holm(asked: Sequence[_Asked], confidence: float) -> list[_Asked]:
    """Those below zero by Holm's test, with intervals at the confidence at which it finds them."""
    left, found = dict(enumerate(asked)), dict[int, _Asked]()
    while left:
        wrong = (1 - confidence) / len(left)
        told = {place: each._replace(difference=each.difference.at(1 - wrong)) for place, each in left.items()}
        low = {place: each for place, each in told.items() if each.difference.high < 0}
        if not low:
            break
        found |= low
        left = {place: each for place, each in left.items() if place not in low}
    return [found[place] for place in sorted(found)]


def _failing(sample: Sample, score: Floats, chosen: Bools) -> tuple[tuple[str, ...], tuple[int, int] | None]:
    """The explanations with which the rows of a slice disagree most, and two rows with the first of them."""
    codes, first = sample.explanations.group()
    lost = np.bincount(codes[chosen], 1 - score[chosen], minlength=len(first))
    worst = [int(code) for code in np.argsort(-lost, kind="stable")[:_SHOWN] if lost[code] > 0]
    told = tuple(visible(sample.explanations.describe(int(first[code]))) for code in worst)
    names, places = sample.numbered_labels[1], sample.places
    for code in worst:
        rows = np.flatnonzero(codes == code)
        mine = rows[chosen[rows]]
        row = mine[score[mine].argmin()]
        others = rows[names[rows] != names[row]]
        if len(others):
            other = others[chosen[others].argmin()]  # of the rest, if there is one
            return told, (int(places[row]), int(places[other]))
    return told, None
