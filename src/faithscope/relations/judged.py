"""Judged: a judge, such as a language model or a person, says which rows explanations apply to."""

from dataclasses import InitVar, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput, Incompatible, NotProven, WrongType
from faithscope.explanations.base import Explanations
from faithscope.explanations.conditions.conjunctions import Postings
from faithscope.inputs.alignment import same_rows
from faithscope.inputs.answers import JudgeAnswers, read_answers
from faithscope.inputs.folding import fold
from faithscope.inputs.missing import is_missing
from faithscope.inputs.rows import rows_of
from faithscope.relations.asking import text_of
from faithscope.relations.base import Blocks, Masks, Relation

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class Judged(Relation):
    """An explanation covers the rows to which a judge says that it applies; the judge need not be asked about all.

    A pair of an explanation and a row that was not asked about is not known, and the row is then no witness: neither
    for nor against the explanation. If pairs were asked at random, `sufficiency` still brackets the truth, and its
    interval allows for the pairs that were not asked (``docs/statistics.md``); a note tells the share that was asked,
    and warns if pairs do not look random. `pairs_to_ask` draws pairs at random.

    Necessity, encoding, and plans need all pairs, and are refused otherwise; precision, recall and coverage of an
    explanation (`Evaluation.scopes`) are shares of the rows that it was asked about.

    Parameters
    ----------
    answers : array-like or table
        1 or True if the explanation applies to the row, 0 or False if not, NaN or None if that was not asked. Either
        pairs: a table with columns ``row`` (the position of the row), ``explanation`` (the number of the explanation
        among the different ones, in order of first appearance) and ``applies``; a column ``text`` is held against the
        explanations. Or rows by explanations: (n, m) with one column per different explanation, in order of first
        appearance, or (n, n) with one column per row's own explanation; columns of equal explanations are then put
        together. A pair may be answered twice, but not differently.

    Examples
    --------
    >>> import faithscope as fs
    >>> reasons = fs.Reasons(["late payments", "late payments", "high income"])
    >>> answers = [[1, 0], [1, None], [0, 1]]
    >>> fs.sufficiency(reasons, ["no", "no", "yes"], relation=fs.Judged(answers)).value
    0.6666666666666666
    """

    answers: InitVar[Any]
    _read: JudgeAnswers = field(init=False)

    def __post_init__(self, answers: Any) -> None:
        object.__setattr__(self, "_read", read_answers(answers))

    def __repr__(self) -> str:
        return f"Judged({len(self._read.row):,} answers)"

    @property
    def reads_rows(self) -> bool:
        return False

    def cover(self, distinct: Explanations, explanations: Explanations, X: Any) -> Blocks:
        return self.about(explanations).cover(distinct, explanations, np.arange(len(explanations)))

    def about(self, explanations: Explanations, X: Any = None) -> "JudgedPairs":
        """The answers as those about these explanations, one per row that was handed over."""
        read = self._read
        notes = same_rows(X=X, explanations=explanations, answers=read.table)
        codes, first = explanations.group()
        number = _numbers_of_pairs(read, explanations, first) if read.shape is None else read.column
        if read.shape is not None:
            number = _columns(read, explanations, codes, first)[read.column]
        if read.row.max() >= len(codes):
            raise BadInput(f"An answer is about row {read.row.max():,}, but there are {len(codes):,} rows, from 0 on.")
        pair, place, times = np.unique(number * len(codes) + read.row, return_inverse=True, return_counts=True)
        yes = np.bincount(place.reshape(-1), read.applies)
        which, row = np.divmod(pair, len(codes))
        _refuse_contradictions(which, row, (yes > 0) & (yes < times))
        return JudgedPairs(explanations.take(first), len(codes), which, row, yes > 0, notes)


@dataclass(frozen=True, eq=False, repr=False)
class JudgedPairs(Relation):
    """Answers of a judge about known explanations and rows.

    Attributes
    ----------
    distinct : Explanations
        The different explanations, in order of first appearance.
    rows : int
        Number of rows.
    which, row, applies : (k,) arrays
        The explanation, the row and the answer of each pair that was asked; ascending.
    notes : tuple of str
    """

    distinct: Explanations
    rows: int
    which: Ints
    row: Ints
    applies: NDArray[np.bool_]
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Judged({len(self.row):,} answers)"

    def __eq__(self, other: object) -> bool:
        """Whether the same pairs were asked, with the same answers, about explanations with the same numbers."""
        if not isinstance(other, JudgedPairs) or self.rows != other.rows:
            return False
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in ("which", "row", "applies"))

    def __hash__(self) -> int:
        return hash((self.rows, len(self.row)))

    @property
    def reads_rows(self) -> bool:
        return False

    @property
    def partial(self) -> bool:
        return len(self.row) < len(self.distinct) * self.rows

    def cover(self, distinct: Explanations, explanations: Explanations, X: Any) -> Blocks:
        """Which of the rows at the positions X each explanation covers."""
        asked, applies = self._asked(self._numbers(distinct), np.asarray(X), len(distinct))
        which, row = asked[0][applies], asked[1][applies]
        rows = len(X)

        def mask(start: int, stop: int) -> Masks:
            masks, part = np.zeros((stop - start, rows), bool), slice(*np.searchsorted(which, [start, stop]))
            masks[which[part] - start, row[part]] = True
            return masks

        everything = len(asked[0]) == len(distinct) * rows
        return Blocks(mask, pairs=(which, row), asked=None if everything else asked)

    def _numbers(self, distinct: Explanations) -> Ints:
        numbers = self.distinct.locate(distinct)
        if (numbers < 0).any():
            text = distinct.describe(int((numbers < 0).argmax()))
            raise Incompatible(f"The judge was asked about other explanations than {text!r}: pass answers about these.")
        return numbers

    def _asked(self, numbers: Ints, positions: Ints, distinct: int) -> tuple[Postings, NDArray[np.bool_]]:
        """The pairs of these explanations and rows that were asked, by explanation; and the answers."""
        code, place = np.full(len(self.distinct), -1), np.full(self.rows, -1)
        code[numbers], place[positions] = np.arange(distinct), np.arange(len(positions))
        which, row = code[self.which], place[self.row]
        kept = np.flatnonzero((which >= 0) & (row >= 0))
        kept = kept[np.argsort(which[kept], kind="stable")]
        return (which[kept], row[kept]), self.applies[kept]


def bind(relation: Any, explanations: Explanations, X: Any, positions: Ints | None = None) -> Any:
    """A relation that knows which explanations the answers of a judge are about; any other relation as it is."""
    if not isinstance(relation, Judged):
        return relation
    if positions is not None:
        raise NotProven(
            "Judged(answers) numbers the explanations of all rows, and a discretizer was chosen, or has learned, on "
            "half of them here: discretize first, and pass these explanations."
        )
    return relation.about(explanations, X)


def check_rows(X: Any, relation: Any) -> None:
    """Raise if there are no rows to be counted; answers of a judge do without."""
    if X is not None or not isinstance(relation, Judged):
        rows_of(X)


def _numbers_of_pairs(read: JudgeAnswers, explanations: Explanations, first: Ints) -> Ints:
    if read.column.max() >= len(first):
        raise BadInput(
            f"An answer is about explanation {read.column.max():,}, but there are {len(first):,} different "
            "explanations, from 0 on: number those that are measured, after any discretizer, as fs.pairs_to_ask does."
        )
    if read.texts is not None:
        _check_texts(read.column, read.texts, explanations, first)
    return read.column


def _check_texts(numbers: Ints, texts: NDArray[Any], explanations: Explanations, first: Ints) -> None:
    """Raise if a number stood for another explanation when the judge was asked."""
    for number, text in {(number, text) for number, text in zip(numbers.tolist(), texts.tolist(), strict=True)}:
        here = text_of(explanations, int(first[number]))
        if not is_missing(text) and fold(str(text)) != fold(here):
            raise BadInput(
                f"The judge was asked about {_short(text)} as explanation {number}, which is {_short(here)} here: "
                "pass the explanations in the order in which the pairs were drawn."
            )


def _columns(read: JudgeAnswers, explanations: Explanations, codes: Ints, first: Ints) -> Ints:
    """The number of the explanation of each column of a table."""
    assert read.shape is not None
    rows, columns = read.shape
    if rows != len(codes):
        raise BadInput(f"Answers have {rows:,} rows but explanations have {len(codes):,}: pass one of each per row.")
    if columns not in (len(first), len(codes)):
        raise BadInput(
            f"Answers have {columns:,} columns: pass {len(first):,}, one per different explanation in order of first "
            f"appearance, or {len(codes):,}, one per row's explanation."
        )
    numbers = np.arange(len(first)) if columns == len(first) else codes
    return numbers if read.names is None else numbers[_places(read.names, explanations, first, columns)]


def _places(names: tuple[str, ...], explanations: Explanations, first: Ints, columns: int) -> Ints:
    """The place of each named column: names are numbers from 0 on, or the texts of the explanations."""
    places = {name: place for place in range(columns) for name in (str(place), f"column_{place}")}
    of = first if columns == len(first) else np.arange(columns)
    texts = [explanations.describe(int(row)) for row in of]
    if len(set(names)) == columns and all(name in places for name in names):
        numbers = [places[name] for name in names]
        if set(names) <= set(texts) and [texts[place] for place in numbers] != list(names):
            raise BadInput(
                f"The columns of the answers are named {', '.join(map(repr, names[:3]))}, which are numbers of columns "
                "and explanations as well, so their order is not known: pass answers.to_numpy(), with one column per "
                "explanation in order of first appearance."
            )
        return np.array(numbers)
    if list(names) == texts:
        return np.arange(columns)
    places = {text: place for place, text in enumerate(texts)}
    if len(places) == columns and set(names) == set(places):
        return np.array([places[name] for name in names])
    strange = next((name for name in names if name not in places), names[0])
    raise WrongType(
        f"The columns of the answers are named neither 0 to {columns - 1:,} nor by the explanations (the first other "
        f"name is {strange!r}), so their order is not known: rename them, or pass answers.to_numpy() if it is right."
    )


def _refuse_contradictions(which: Ints, row: Ints, differ: NDArray[np.bool_]) -> None:
    if differ.any():
        first, more = int(differ.argmax()), int(differ.sum()) - 1
        also = f" and about {more:,} more pairs" if more else ""
        raise BadInput(
            f"The judge answers yes and no about explanation {which[first]} and row {row[first]}{also}: settle each "
            "pair first, such as by the majority, and pass one answer."
        )


def _short(text: Any) -> str:
    return repr(str(text)[:60])
