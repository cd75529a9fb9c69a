"""Judged: a judge, such as a language model or a person, says which rows explanations apply to."""

from collections.abc import Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput, Incompatible, NotProven, WrongType
from faithscope.explanations.base import Explanations
from faithscope.explanations.conditions.conjunctions import Postings
from faithscope.inputs.alignment import same_rows
from faithscope.inputs.arrays import frame_column, frame_names, is_frame, to_vector
from faithscope.inputs.folding import fold
from faithscope.inputs.missing import is_missing, missing_values
from faithscope.inputs.queries import refuse_query
from faithscope.inputs.rows import rows_of
from faithscope.relations.asking import text_of
from faithscope.relations.base import Blocks, Masks, Relation

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

_COLUMNS = ("row", "explanation", "applies")
_NUMBERS = (bool, int, float, np.bool_, np.integer, np.floating)


class _Answers(NamedTuple):
    """What a judge answered about the pairs that were asked."""

    row: Ints
    explanation: Ints
    applies: Bools
    texts: NDArray[Any] | None  # of the explanations, if they were told


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
    answers : table, or mapping of columns
        One line per pair, as `pairs_to_ask` makes them: ``row`` (the position of the row), ``explanation`` (the number
        of the explanation among the different ones, in order of first appearance) and ``applies``, which is 1 or True
        if the explanation applies to the row, 0 or False if not, NaN or None if that was not asked. A column ``text``
        is held against the explanations. A pair may be answered twice, but not differently.

    Examples
    --------
    >>> import faithscope as fs
    >>> reasons = fs.Reasons(["late payments", "late payments", "high income"])
    >>> answers = {"row": [0, 1, 2, 0, 2], "explanation": [0, 0, 0, 1, 1], "applies": [1, 1, 0, 0, 1]}
    >>> fs.sufficiency(reasons, ["no", "no", "yes"], relation=fs.Judged(answers)).value
    0.6666666666666666
    """

    answers: InitVar[Any]
    _read: _Answers = field(init=False)

    def __post_init__(self, answers: Any) -> None:
        object.__setattr__(self, "_read", _read(answers))

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
        notes = same_rows(X=X, explanations=explanations)
        codes, first = explanations.group()
        if read.explanation.max() >= len(first):
            raise BadInput(
                f"An answer is about explanation {read.explanation.max():,}, but there are {len(first):,} different "
                "explanations, from 0 on: number those that are measured, after any discretizer, as fs.pairs_to_ask "
                "does."
            )
        if read.texts is not None:
            _check_texts(read.explanation, read.texts, explanations, first)
        if read.row.max() >= len(codes):
            raise BadInput(f"An answer is about row {read.row.max():,}, but there are {len(codes):,} rows, from 0 on.")
        pair, place, times = np.unique(
            read.explanation * len(codes) + read.row, return_inverse=True, return_counts=True
        )
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
    applies: Bools
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

    def _asked(self, numbers: Ints, positions: Ints, distinct: int) -> tuple[Postings, Bools]:
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


def _read(answers: Any) -> _Answers:
    """The answers that a caller hands over, checked; of pairs that were asked only."""
    refuse_query(answers, "Answers")
    names: Sequence[str] = ()
    if isinstance(answers, Mapping):
        names = tuple(map(str, answers))
    elif is_frame(answers):
        names = frame_names(answers)
    if not set(_COLUMNS) <= set(names):
        seen = f"columns {', '.join(map(repr, names[:6]))}" if names else f"{type(answers).__name__}"
        raise WrongType(
            f"Answers must be a table of pairs with columns 'row', 'explanation' and 'applies', as fs.pairs_to_ask "
            f"makes it; got {seen}. Of a table of rows by explanations, row, explanation = "
            "np.indices(table.shape).reshape(2, -1), and applies = table.ravel()."
        )

    def column(name: str) -> NDArray[Any]:
        place = names.index(name)
        values = list(answers.values())[place] if isinstance(answers, Mapping) else frame_column(answers, place)
        return to_vector(values, f"The column {name!r}")

    row, explanation, applies = map(column, _COLUMNS)
    if not len(row) == len(explanation) == len(applies):
        raise BadInput(
            "The columns 'row', 'explanation', 'applies' differ in length: "
            f"{len(row)}, {len(explanation)}, {len(applies)}."
        )
    asked, yes = _decided(applies)
    if not asked.any():
        raise BadInput("No pair has an answer: fill in True or False for the pairs that the judge was asked about.")
    texts = column("text")[asked] if "text" in names else None
    return _Answers(_whole(row[asked], "row"), _whole(explanation[asked], "explanation"), yes[asked], texts)


def _whole(values: NDArray[Any], name: str) -> Ints:
    """Whole numbers of at least 0: positions of rows, numbers of explanations."""
    numbers = values
    if values.dtype == object and all(isinstance(item, _NUMBERS) for item in values):
        numbers = np.array([float(item) for item in values])
    fits = numbers.dtype.kind in "iuf"
    wrong = np.flatnonzero(~((numbers >= 0) & (numbers == np.floor(numbers)) & (numbers < 2**53))) if fits else [0]
    if len(wrong):
        what = "positions of rows" if name == "row" else "numbers of explanations, in order of first appearance"
        raise BadInput(
            f"The column {name!r} must hold {what}, whole numbers from 0 on, as fs.pairs_to_ask gives them; got "
            f"{values[wrong[0]]!r}."
        )
    return np.asarray(numbers.astype(np.int64))


def _decided(values: NDArray[Any]) -> tuple[Bools, Bools]:
    """Which answers were given, and which of them are yes."""
    if values.ndim != 1:
        raise WrongType(f"The column 'applies' must hold one answer per row; got shape {values.shape}.")
    asked = ~missing_values(values)
    if values.dtype.kind in "biuf":
        yes, no = values == 1, values == 0
    else:
        numbers = [item if isinstance(item, _NUMBERS) else None for item in values]
        yes, no = (np.fromiter((item == wanted for item in numbers), bool, len(values)) for wanted in (1, 0))
    wrong = asked & ~yes & ~no
    if wrong.any():
        at = int(wrong.argmax())
        value = values[at].item() if isinstance(values[at], np.generic) else values[at]
        likely = isinstance(value, _NUMBERS) and 0 < value < 1
        advice = "say first which probabilities mean yes, (p >= 0.5)" if likely else "map other words to these first"
        raise BadInput(
            "Answers are 1 or True if the explanation applies to the row, 0 or False if not, NaN or None if that was "
            f"not asked; got {value!r} at row {at} of column 'applies': {advice}."
        )
    return asked, yes


def _check_texts(numbers: Ints, texts: NDArray[Any], explanations: Explanations, first: Ints) -> None:
    """Raise if a number stood for another explanation when the judge was asked."""
    for number, text in {(number, text) for number, text in zip(numbers.tolist(), texts.tolist(), strict=True)}:
        here = text_of(explanations, int(first[number]))
        if not is_missing(text) and fold(str(text)) != fold(here):
            raise BadInput(
                f"The judge was asked about {_short(text)} as explanation {number}, which is {_short(here)} here: "
                "pass the explanations in the order in which the pairs were drawn."
            )


def _refuse_contradictions(which: Ints, row: Ints, differ: Bools) -> None:
    if differ.any():
        first, more = int(differ.argmax()), int(differ.sum()) - 1
        also = f" and about {more:,} more pairs" if more else ""
        raise BadInput(
            f"The judge answers yes and no about explanation {which[first]} and row {row[first]}{also}: settle each "
            "pair first, such as by the majority, and pass one answer."
        )


def _short(text: Any) -> str:
    return repr(str(text)[:60])
