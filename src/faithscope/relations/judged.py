"""Judged: a judge, such as a language model or a person, says which rows explanations apply to; pairs to ask about."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from faithscope.errors import BadInput, Incompatible, NotProven, WrongType
from faithscope.explanations.base import Explanations
from faithscope.inputs.array_types import Ints
from faithscope.inputs.arrays import frame_columns, is_frame, refuse_query
from faithscope.inputs.documents import fold
from faithscope.inputs.missing import is_missing, missing_values
from faithscope.inputs.numbers import known_numbers, to_positions
from faithscope.inputs.rows import rows_of
from faithscope.relations.base import Blocks, Relation
from faithscope.visible import visible

_COLUMNS = ("row", "explanation", "applies")


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
    answers : data frame
        One line per pair, as `pairs_to_ask` makes them: ``row`` (the position of the row), ``explanation`` (the number
        of the explanation among the different ones, in order of first appearance) and ``applies``, which is 1 or True
        if the explanation applies to the row, 0 or False if not, NaN or None if that was not asked. A column ``text``
        is held against the explanations. No pair is answered twice.

    Examples
    --------
    >>> import pandas as pd
    >>> import faithscope as fs
    >>> reasons = fs.Reasons(["late payments", "late payments", "high income"])
    >>> answers = {"row": [0, 1, 2, 0, 2], "explanation": [0, 0, 0, 1, 1], "applies": [1, 1, 0, 0, 1]}
    >>> fs.sufficiency(reasons, ["no", "no", "yes"], relation=fs.Judged(pd.DataFrame(answers))).value
    0.6666666666666666
    """

    def __init__(self, answers: Any) -> None:
        refuse_query(answers, "Answers")
        columns = dict(zip(*frame_columns(answers), strict=True)) if is_frame(answers) else {}
        if not set(_COLUMNS) <= set(columns):
            seen = f"columns {', '.join(map(repr, list(columns)[:6]))}" if columns else f"{type(answers).__name__}"
            raise WrongType(
                f"Answers must be a data frame of pairs with columns 'row', 'explanation' and 'applies', as "
                f"fs.pairs_to_ask makes it; got {seen}. Of a table of rows by explanations, row, explanation = "
                "np.indices(table.shape).reshape(2, -1), and applies = table.ravel()."
            )
        applies = columns["applies"]
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
        self.row, self.explanation = (
            to_positions(columns[name][asked], f"The column {name!r} must hold {what}")
            for name, what in (("row", "positions of rows"), ("explanation", "numbers of explanations"))
        )
        self.applies, self._texts = numbers[asked] == 1, columns["text"][asked] if "text" in columns else ()

    def __repr__(self) -> str:
        return f"Judged({len(self.row):,} answers)"

    def about(self, explanations: Explanations) -> "JudgedPairs":
        """The answers as those about these explanations, one per row that was handed over."""
        codes, first = explanations.group()
        if self.explanation.max() >= len(first):
            raise BadInput(
                f"An answer is about explanation {self.explanation.max():,}, but there are {len(first):,} different "
                "explanations, from 0 on: number those that are measured, after any discretizer, as fs.pairs_to_ask "
                "does."
            )
        for number, told in set(zip(self.explanation.tolist(), self._texts, strict=False)):
            here = text_of(explanations, int(first[number]))
            if not is_missing(told) and fold(str(told)) != fold(here):
                asked, known = repr(str(told)[:60]), repr(here[:60])
                raise BadInput(
                    f"The judge was asked about {asked} as explanation {number}, which is {known} here: "
                    "pass the explanations in the order in which the pairs were drawn."
                )
        if self.row.max() >= len(codes):
            raise BadInput(f"An answer is about row {self.row.max():,}, but there are {len(codes):,} rows, from 0 on.")
        pairs, times = np.unique(self.explanation * len(codes) + self.row, return_counts=True)
        if times.max() > 1:
            which, row = divmod(int(pairs[times.argmax()]), len(codes))
            raise BadInput(
                f"The judge answers more than once about explanation {which} and row {row}: settle each pair first, "
                "such as by the majority, and pass one answer."
            )
        return JudgedPairs(self, explanations.take(first), len(codes))


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
    """

    answers: Judged
    distinct: Explanations = field(compare=False)
    rows: int = field(compare=False)

    def __repr__(self) -> str:
        return repr(self.answers)

    reads_rows = False

    @property
    def partial(self) -> bool:
        return len(self.answers.row) < len(self.distinct) * self.rows

    def cover(self, distinct: Explanations, explanations: Explanations, X: Any) -> Blocks:
        """Which of the rows at the positions X each explanation covers."""
        numbers, rows = self.distinct.locate(distinct), len(X)
        if (numbers < 0).any():
            text = distinct.describe(int((numbers < 0).argmax()))
            raise Incompatible(f"The judge was asked about other explanations than {text!r}: pass answers about these.")
        code, place = np.full(len(self.distinct), -1), np.full(self.rows, -1)
        code[numbers], place[np.asarray(X)] = np.arange(len(distinct)), np.arange(rows)
        which, row = code[self.answers.explanation], place[self.answers.row]
        here = (which >= 0) & (row >= 0)
        asked = which[here], row[here]
        table = csr_array((self.answers.applies[here], asked), shape=(len(distinct), rows))
        partial = len(asked[0]) < len(distinct) * rows
        return Blocks.of(lambda start, stop: table[start:stop].toarray(), asked=asked if partial else None)


def bind(relation: Any, explanations: Explanations, positions: Ints | None = None) -> Any:
    """A relation that knows which explanations the answers of a judge are about; any other relation as it is."""
    if not isinstance(relation, Judged):
        return relation
    if positions is not None:
        raise NotProven(
            "Judged(answers) numbers the explanations of all rows, and a discretizer was chosen, or has learned, on "
            "half of them here: discretize first, and pass these explanations."
        )
    return relation.about(explanations)


def check_rows(X: Any, relation: Any) -> None:
    """Raise if there are no rows to be counted; answers of a judge do without."""
    if X is not None or not isinstance(relation, Judged):
        rows_of(X)


def text_of(explanations: Explanations, row: int) -> str:
    """The whole text of an explanation, as a judge reads it."""
    item = explanations.item(row)
    return visible(item) if isinstance(item, str) else explanations.describe(row)
