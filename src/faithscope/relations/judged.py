"""Judged: a judge, such as a language model or a person, says which rows explanations apply to; pairs to ask about."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from faithscope.errors import BadInput, Incompatible, NotProven, WrongType
from faithscope.explanations.base import Explanations
from faithscope.inputs.alignment import same_rows
from faithscope.inputs.array_types import Bools, Ints
from faithscope.inputs.arrays import frame_column, frame_names, is_frame, refuse_query, to_vector
from faithscope.inputs.checks import check_whole, same_length
from faithscope.inputs.documents import fold
from faithscope.inputs.frames import frame
from faithscope.inputs.missing import is_missing, missing_values
from faithscope.inputs.numbers import known_numbers, to_positions
from faithscope.inputs.rows import rows_of
from faithscope.readers import as_explanations
from faithscope.relations.base import Blocks, Relation
from faithscope.runtime.memory import need
from faithscope.visible import visible

if TYPE_CHECKING:
    import pandas as pd


_COLUMNS = ("row", "explanation", "applies")
_PAIR_BYTES = 64  # of a drawn pair, with its text and its answer


class Judged:
    """An explanation covers the rows to which a judge says that it applies; the judge need not be asked about all.

    A pair of an explanation and a row that was not asked about is not known, and the row is then no witness: neither
    for nor against the explanation. If pairs were asked at random, `sufficiency` still brackets the truth, and its
    interval allows for the pairs that were not asked (``docs/proofs.md``); a note tells the share that was asked,
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

    def __init__(self, answers: Any) -> None:
        refuse_query(answers, "Answers")
        named: dict[str, Any] = {}
        if isinstance(answers, Mapping):
            named = {str(name): column for name, column in answers.items()}
        elif is_frame(answers):
            named = {name: frame_column(answers, place) for place, name in enumerate(frame_names(answers))}
        if not set(_COLUMNS) <= set(named):
            seen = f"columns {', '.join(map(repr, list(named)[:6]))}" if named else f"{type(answers).__name__}"
            raise WrongType(
                f"Answers must be a table of pairs with columns 'row', 'explanation' and 'applies', as fs.pairs_to_ask "
                f"makes it; got {seen}. Of a table of rows by explanations, row, explanation = "
                "np.indices(table.shape).reshape(2, -1), and applies = table.ravel()."
            )
        columns = {
            name: to_vector(named[name], f"The column {name!r}") for name in (*_COLUMNS, "text") if name in named
        }
        applies = columns["applies"]
        if applies.ndim != 1:
            raise WrongType(f"The column 'applies' must hold one answer per row; got shape {applies.shape}.")
        same_length(**{f"values of {name!r}": len(column) for name, column in columns.items()})
        asked, numbers = ~missing_values(applies), known_numbers(applies)
        wrong = asked & ~np.isin(numbers, (0, 1))
        if wrong.any():
            at = int(wrong.argmax())
            raise BadInput(
                "Answers are 1 or True if the explanation applies to the row, 0 or False if not, NaN or None if that "
                f"was not asked; got {applies[wrong].tolist()[0]!r} at row {at} of column 'applies': map other words "
                "to these first, and say which probabilities mean yes (p >= 0.5)."
            )
        if not asked.any():
            raise BadInput("No pair has an answer: fill in True or False for the pairs that the judge was asked about.")
        self._row, self._explanation = (
            to_positions(columns[name][asked], f"The column {name!r} must hold {what}")
            for name, what in (("row", "positions of rows"), ("explanation", "numbers of explanations"))
        )
        self._applies, self._texts = numbers[asked] == 1, columns["text"][asked] if "text" in columns else ()

    def __repr__(self) -> str:
        return f"Judged({len(self._row):,} answers)"

    def about(self, explanations: Explanations, X: Any = None) -> "JudgedPairs":
        """The answers as those about these explanations, one per row that was handed over."""
        notes = same_rows(X=X, explanations=explanations)
        codes, first = explanations.group()
        if self._explanation.max() >= len(first):
            raise BadInput(
                f"An answer is about explanation {self._explanation.max():,}, but there are {len(first):,} different "
                "explanations, from 0 on: number those that are measured, after any discretizer, as fs.pairs_to_ask "
                "does."
            )
        for number, told in set(zip(self._explanation.tolist(), self._texts, strict=False)):
            here = _text_of(explanations, int(first[number]))
            if not is_missing(told) and fold(str(told)) != fold(here):
                asked, known = repr(str(told)[:60]), repr(here[:60])
                raise BadInput(
                    f"The judge was asked about {asked} as explanation {number}, which is {known} here: "
                    "pass the explanations in the order in which the pairs were drawn."
                )
        if self._row.max() >= len(codes):
            raise BadInput(f"An answer is about row {self._row.max():,}, but there are {len(codes):,} rows, from 0 on.")
        pair, place, times = np.unique(
            self._explanation * len(codes) + self._row, return_inverse=True, return_counts=True
        )
        yes = np.bincount(place.reshape(-1), self._applies)
        which, row = np.divmod(pair, len(codes))
        differ = np.flatnonzero((yes > 0) & (yes < times))
        if len(differ):
            raise BadInput(
                f"The judge answers yes and no about explanation {which[differ[0]]} and row {row[differ[0]]}: settle "
                "each pair first, such as by the majority, and pass one answer."
            )
        return JudgedPairs(self, explanations.take(first), len(codes), which, row, yes > 0, notes)


@dataclass(frozen=True)
class JudgedPairs(Relation):
    """Answers of a judge about known explanations and rows; two are equal if they are of the same `Judged`.

    Attributes
    ----------
    answers : Judged
    distinct : Explanations
        The different explanations, in order of first appearance.
    rows : int
        Number of rows.
    which, row, applies : (k,) arrays
        The explanation, the row and the answer of each pair that was asked; ascending.
    notes : tuple of str
    """

    answers: Judged
    distinct: Explanations = field(compare=False)
    rows: int = field(compare=False)
    which: Ints = field(compare=False)
    row: Ints = field(compare=False)
    applies: Bools = field(compare=False)
    notes: tuple[str, ...] = field(default=(), compare=False)

    def __repr__(self) -> str:
        return repr(self.answers)

    reads_rows = False

    @property
    def partial(self) -> bool:
        return len(self.row) < len(self.distinct) * self.rows

    def cover(self, distinct: Explanations, explanations: Explanations, X: Any) -> Blocks:
        """Which of the rows at the positions X each explanation covers."""
        numbers, rows = self.distinct.locate(distinct), len(X)
        if (numbers < 0).any():
            text = distinct.describe(int((numbers < 0).argmax()))
            raise Incompatible(f"The judge was asked about other explanations than {text!r}: pass answers about these.")
        code, place = np.full(len(self.distinct), -1), np.full(self.rows, -1)
        code[numbers], place[np.asarray(X)] = np.arange(len(distinct)), np.arange(rows)
        which, row = code[self.which], place[self.row]
        here = (which >= 0) & (row >= 0)
        asked = which[here], row[here]
        table = csr_array((self.applies[here], asked), shape=(len(distinct), rows))
        partial = len(asked[0]) < len(distinct) * rows
        return Blocks.of(lambda start, stop: table[start:stop].toarray(), asked=asked if partial else None)


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


def pairs_to_ask(explanations: Any, per_explanation: int | None = 20, *, seed: int = 0) -> "pd.DataFrame":
    """Pairs of an explanation and a row to ask a judge about, drawn at random: "does this explanation apply here?"

    For each different explanation, rows are drawn uniformly without replacement, whatever they are; so the filled-in
    table is what `Judged` takes for granted. A row that alone was given its explanation is not drawn for it, since no
    row is its own witness. A larger `per_explanation` with the same seed keeps the pairs of the smaller one, and adds
    to them.

    Parameters
    ----------
    explanations : array-like, table or Explanations, n rows
        As for `sufficiency`.
    per_explanation : int or None
        How many rows to draw for each different explanation; None for all rows, its own among them.
    seed : int

    Returns
    -------
    DataFrame
        Columns ``row`` (a position, to be looked up by ``X.iloc[row]``), ``explanation`` (its number, in order of first
        appearance), ``text`` (the explanation) and ``applies``, to be filled in with True and False: ``Judged(table)``.
        Pairs left empty count as not asked.

    Examples
    --------
    >>> table = pairs_to_ask(["late payments", "late payments", "high income", "low debt"], per_explanation=2)
    >>> table[["explanation", "text"]].drop_duplicates().values.tolist()
    [[0, 'late payments'], [1, 'high income'], [2, 'low debt']]
    >>> len(table)
    6
    """
    known = as_explanations(explanations)
    most = None if per_explanation is None else check_whole(per_explanation, "per_explanation")
    codes, first = known.group()
    if not len(codes):
        raise BadInput("There are no explanations to ask about: pass one per row.")
    many, given = len(codes) if most is None else most, np.bincount(codes)
    pairs = len(first) * min(many, len(codes))
    need(_PAIR_BYTES * pairs, f"{pairs:,} pairs", "draw fewer per explanation")
    seed, rows = check_whole(seed, "seed", 0), []
    for explanation, own in enumerate(first):
        order = np.random.default_rng([seed, explanation]).permutation(len(codes))  # its beginning is drawn
        if most is not None and given[explanation] == 1:
            order = order[order != own]
        rows.append(np.sort(order[:many]))
    which = np.repeat(np.arange(len(first)), [len(drawn) for drawn in rows])
    texts = np.array([_text_of(known, int(row)) for row in first], object)
    empty = np.full(len(which), None, object)
    return frame({"row": np.concatenate(rows), "explanation": which, "text": texts[which], "applies": empty})


def _text_of(explanations: Explanations, row: int) -> str:
    """The whole text of an explanation, as a judge reads it."""
    item = explanations.item(row)
    return visible(item) if isinstance(item, str) else explanations.describe(row)
