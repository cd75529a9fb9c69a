"""Draws of one's own, from a generator, a simulator or a language model; pairs drawn for a judge."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from faithscope.errors import BadInput
from faithscope.explanations.base import Explanations
from faithscope.explanations.concepts import Concepts
from faithscope.explanations.conditions.conjunctions import Conjunctions
from faithscope.explanations.counterfactuals import Counterfactuals
from faithscope.explanations.prototypes import Prototypes
from faithscope.explanations.rules import Rules
from faithscope.inputs.alignment import same_rows
from faithscope.inputs.array_types import Bools, Ints
from faithscope.inputs.arrays import is_frame, to_vector
from faithscope.inputs.checks import check_flag, check_whole, same_length
from faithscope.inputs.frames import frame
from faithscope.inputs.models import Model
from faithscope.inputs.numbers import to_positions
from faithscope.inputs.rows import rows_of
from faithscope.populations.base import Drawer, Population, conditions_of, met
from faithscope.readers import as_explanations
from faithscope.relations.judged import text_of
from faithscope.runtime.memory import need

if TYPE_CHECKING:
    import pandas as pd

_PAIR_BYTES = 64  # of a drawn pair, with its text and its answer
_ROWS = (Rules, Concepts, Counterfactuals, Prototypes)  # kinds that explain rows of features, not texts


@dataclass(frozen=True, eq=False)
class OwnDraws(Population):
    """What `drawn` makes: rows that a caller drew, each for one explanation, and their predictions.

    Attributes
    ----------
    explanations : Explanations
    rows : rows
        All draws, one after the other, as the caller holds them.
    of : (m,) array of int
        The position of the explanation that each was drawn for.
    predictions : list or array, optional
        What the model predicts for each draw; None if it is still to be asked.
    only_covered : bool
        Whether draws to which their explanation does not apply are left out.
    """

    explanations: Explanations
    rows: Any
    of: Ints
    predictions: Any = None
    only_covered: bool = True
    model: Any = None

    what: ClassVar[str] = "own draws"

    def __repr__(self) -> str:
        return f"drawn({len(self.of):,} draws for {len(self.explanations):,} explanations)"

    def _drawer(self, explanations: Explanations, X: Any) -> Drawer:
        raise BadInput("These draws were made elsewhere: read them from `rows` and `of`.")

    def check(self, explanations: Explanations) -> None:
        """Raise if these are other explanations than those that rows were drawn for."""
        same_length(explanations=len(explanations), **{"the explanations of fs.drawn": len(self.explanations)})
        if explanations is self.explanations:
            return
        codes = self.explanations.join(explanations).group()[0]
        wrong = np.flatnonzero(codes[: len(explanations)] != codes[len(explanations) :])
        if len(wrong):
            row = int(wrong[0])
            raise BadInput(
                f"fs.drawn was given other explanations: {self.explanations.describe(row)!r} at row {row}, and here it "
                f"is {explanations.describe(row)!r}: pass the explanations that rows were drawn for."
            )

    @cached_property
    def covered(self) -> Bools:
        """Which draws their explanation applies to; all of them, if the kind does not say."""
        kind = self.explanations.take(self.of)
        if not self.only_covered or not isinstance(kind, Conjunctions) or not len(kind):
            return np.ones(len(kind), bool)
        return met(kind, conditions_of(kind, 0, len(kind)), self.rows)

    def _sentence(self, *, of_words: bool) -> str:
        return "as they were handed over"


def drawn(
    explanations: Any, rows: Any, predictions: Any = None, *, of: Any = None, only_covered: bool = True
) -> OwnDraws:
    """Draws of one's own as a population of sufficiency: from a generator, a simulator, a language model.

    Parameters
    ----------
    explanations : Explanations, or what `sufficiency` takes as such
        The n explanations that rows were drawn for. They may be of any kind, since the draws say where they apply.
    rows : table, array or list, m rows
        All draws, one below the other: as many of an explanation as one likes, with `of`.
    predictions : array-like, (m,), or a model, optional
        What the model predicts for the draws, in their order. A model is asked for them; by default the model that
        `sufficiency` is given in place of predictions is.
    of : array-like, (m,), optional
        The position of the explanation that each draw was made for, from 0. Without it, there is one draw per
        explanation, in their order.
    only_covered : bool
        Whether to leave out draws to which their explanation does not apply, as rules and highlights tell; the result
        says how many. False counts them all.

    Returns
    -------
    OwnDraws
        For ``fs.sufficiency(explanations, predictions, X, population=...)``, which then needs no X.

    Examples
    --------
    >>> import faithscope as fs
    >>> words = fs.Highlights([{"great"}, {"dull"}])
    >>> told = fs.drawn(words, ["a great film", "great fun", "a dull film"], ["good"] * 3, of=[0, 0, 1])
    >>> fs.sufficiency(words, ["good", "bad"], population=told).value
    0.5
    """
    kind = as_explanations(explanations)
    same_length(explanations=len(kind))
    check_flag(only_covered, "only_covered")
    same_rows(explanations=kind if of is None else None, rows=rows, predictions=predictions, of=of)
    _refuse_nested(rows, texts=of is None and not isinstance(kind, _ROWS))
    places = (
        np.arange(len(kind))
        if of is None
        else to_positions(to_vector(of, "of"), "of must hold the positions of the draws' explanations", len(kind))
    )
    if rows_of(rows) != len(places):
        raise BadInput(
            f"There are {rows_of(rows):,} draws and {len(places):,} {'explanations' if of is None else 'positions'}: "
            "pass of=, the position of the explanation that each draw was made for."
        )
    asked = predictions is not None and not isinstance(predictions, type) and Model(predictions).find() is not None
    if predictions is not None and not asked:
        same_length(draws=len(places), predictions=rows_of(predictions))
    known, model = (None, predictions) if asked else (predictions, None)
    return OwnDraws(kind, rows, places, known, only_covered, model)


def _refuse_nested(rows: Any, *, texts: bool) -> None:
    """Raise if draws come as one table or list per explanation; `texts` says that a list of words may be several."""
    axes = getattr(rows, "ndim", 1)
    inner = (list, tuple, np.ndarray, str) if texts else (list, tuple, np.ndarray)
    several = (
        is_frame(part)
        or (isinstance(part, list | tuple | np.ndarray) and any(isinstance(item, inner) for item in part))
        for part in (rows if rows_of(rows) and axes == 1 else ())
    )
    words = texts and axes == 2 and getattr(rows, "dtype", np.dtype(float)).kind in "OUT"
    if not is_frame(rows) and (axes > 2 or words or any(several)):
        raise BadInput(
            "Draws come as a list or table per explanation: put all of them into one, and pass of=, the position of "
            "the explanation that each was made for, such as of=np.repeat(np.arange(n), k)."
        )


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
    texts = np.array([text_of(known, int(row)) for row in first], object)
    empty = np.full(len(which), None, object)
    return frame({"row": np.concatenate(rows), "explanation": which, "text": texts[which], "applies": empty})
