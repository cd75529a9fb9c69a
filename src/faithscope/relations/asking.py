"""Pairs to ask a judge about: rows drawn at random for each explanation."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput
from faithscope.explanations.base import Explanations
from faithscope.inputs.checks import check_flag, check_whole
from faithscope.inputs.frames import frame
from faithscope.readers import as_explanations
from faithscope.runtime.memory import need
from faithscope.visible import visible

if TYPE_CHECKING:
    import pandas as pd

Ints = NDArray[np.int64]

_EARLY = 256  # numbers that are drawn one after the other for all explanations at once
_PAIR_BYTES = 64  # of a drawn pair, with its text and its answer


def pairs_to_ask(
    explanations: Any, per_explanation: int | None = 20, *, seed: int = 0, own: bool = False
) -> "pd.DataFrame":
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
    own : bool
        Whether to ask in addition whether explanations apply to the row that they were given to; only of explanations
        that one row alone was given, since other rows would be drawn too often.

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
    check_flag(own, "own")
    most = None if per_explanation is None else check_whole(per_explanation, "per_explanation")
    codes, first = known.group()
    if not len(codes):
        raise BadInput("There are no explanations to ask about: pass one per row.")
    alone = (np.bincount(codes) == 1) & (most is not None)  # whose own row is not drawn
    each = len(codes) - alone if most is None else np.minimum(min(most, len(codes)), len(codes) - alone)
    need(_PAIR_BYTES * int(each.sum()), f"{int(each.sum()):,} pairs", "draw fewer per explanation")
    rows = _draw(each, len(codes) - alone, check_whole(seed, "seed", 0))
    which = np.repeat(np.arange(len(first)), each)
    rows += alone[which] & (rows >= first[which])  # skip the row that the explanation was given to
    if own:
        which, rows = np.append(which, np.flatnonzero(alone)), np.append(rows, first[alone])
    order = np.lexsort((rows, which))
    which, rows = which[order], rows[order]
    texts = np.array([text_of(known, int(row)) for row in first], object)
    empty = np.full(len(rows), None, object)
    return frame({"row": rows, "explanation": which, "text": texts[which], "applies": empty})


def text_of(explanations: Explanations, row: int) -> str:
    """The whole text of an explanation, as a judge reads it."""
    item = explanations.item(row)
    return visible(item) if isinstance(item, str) else explanations.describe(row)


def _draw(each: Ints, among: Ints, seed: int) -> Ints:
    """For each explanation, `each` different numbers below `among`, one explanation after the other.

    One more is drawn at a time for all explanations, and drawn again until it is new; after `_EARLY` of them, or half
    of all numbers, the rest are shuffled. So the k-th draw depends on the seed and on those before it alone.
    """
    if (each == among).all():
        return np.concatenate([np.arange(size) for size in among.tolist()])
    early = np.minimum(among // 2, _EARLY)
    drawn = _draw_early(int(np.minimum(each, early).max(initial=0)), early, among, seed)
    parts = []
    for row, (many, soon) in enumerate(zip(each.tolist(), early.tolist(), strict=True)):
        part = drawn[row, : min(many, soon)]
        if many > soon:
            rest = np.setdiff1d(np.arange(among[row]), part, assume_unique=True)
            part = np.append(part, _generator(seed, 1, row).permutation(rest)[: many - soon])
        parts.append(part)
    return np.concatenate(parts).astype(np.int64)


def _draw_early(steps: int, early: Ints, among: Ints, seed: int) -> Ints:
    drawn = np.full((len(among), steps), -1)
    for step in range(steps):
        rng, again = _generator(seed, 0, step), np.flatnonzero(early > step)
        while len(again):
            drawn[again, step] = rng.integers(0, among[again])
            again = again[(drawn[again, :step] == drawn[again, step, None]).any(axis=1)]
    return drawn


def _generator(seed: int, *key: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))
