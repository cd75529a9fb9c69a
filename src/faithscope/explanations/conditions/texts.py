"""Rules as texts, one per row, as people hold them: printed by this package, by lime, or by anchor-exp."""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

from faithscope.errors import BadInput, WrongType
from faithscope.explanations.conditions.condition import Triple
from faithscope.explanations.conditions.grammar import rule_reader
from faithscope.explanations.conditions.shown import NUMBER
from faithscope.inputs.arrays import to_items
from faithscope.inputs.checks import is_real

NOTHING = "nothing"  # what `describe` prints for a rule that no row satisfies
ROUNDED = "bounds are as printed, to 2 decimals, so that a rule may not cover the row that it explains"
_UNWEIGHED = "the weights of conditions were left out"
_BOUND = re.compile(rf"(?:[<>≤≥]=?\s*(?P<right>{NUMBER}))|(?:(?P<left>{NUMBER})\s*[<>≤≥])")
_TWO_DECIMALS = re.compile(r"[+-]?\d+\.\d\d")

Conditions = list[Triple]


def read_texts(rows: Any, features: Sequence[str] | None) -> tuple[list[Conditions], tuple[str, ...]]:
    """The conditions of each row, and how they were read.

    Parameters
    ----------
    rows : list of str, or of lists of str or of (str, weight)
        The rule of each row as one text, or as one text per condition.
    features : sequence of str, optional
    """
    if isinstance(rows, str):
        raise WrongType(f"Rules are a list with one text per row; got the text {rows!r}: pass [{rows!r}].")
    given = [_pieces(row, item) for row, item in enumerate(to_items(rows, "Rules, one text per row,"))]
    read = cache(rule_reader(features))
    conditions = [_conditions(row, pieces, read) for row, (pieces, _) in enumerate(given)]
    texts = dict.fromkeys(piece for pieces, _ in given for piece in pieces)
    empty = sum(not "".join(pieces).strip() for pieces, _ in given)
    remarks = [ROUNDED] if _are_rounded(texts) else []
    remarks += [f"{empty:,} of {len(given):,} rows have no condition, and cover every row"] if empty else []
    remarks += [_UNWEIGHED] if any(weighed for _, weighed in given) else []
    return _with_nothing(conditions, features), tuple(remarks)


def _pieces(row: int, item: Any) -> tuple[tuple[str, ...], bool]:
    """The texts of one row's conditions, and whether they had weights."""
    if isinstance(item, str):
        return (item,), False
    pieces = list(item) if isinstance(item, list | tuple) else [item]
    weighed = bool(pieces) and all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in pieces)
    if weighed and all(isinstance(text, str) and is_real(weight) for text, weight in pieces):
        return tuple(text for text, _ in pieces), True
    odd = next((piece for piece in pieces if not isinstance(piece, str)), None)
    if odd is not None or pieces == [None]:
        raise WrongType(
            f"Rules, row {row}: a rule is a text, or a list of one text per condition; got {item!r}. A rule that "
            "covers every row is 'everything'."
        )
    return tuple(pieces), False


def _conditions(row: int, pieces: Iterable[str], read: Callable[[str], Conditions]) -> Conditions:
    conditions: Conditions = []
    for piece in pieces:
        if piece.strip() == NOTHING:
            conditions.append((NOTHING, "", ()))
        elif piece.strip():
            try:
                conditions += read(piece)
            except BadInput as problem:
                raise type(problem)(f"Rules, row {row}: {problem}") from None
    return conditions


def _with_nothing(rows: list[Conditions], features: Sequence[str] | None) -> list[Conditions]:
    """The same, with an empty set of values for rules that no row satisfies."""
    if not any(not operator for row in rows for _, operator, _ in row):
        return rows
    named = features or [name for row in rows for name, operator, _ in row if operator]
    if not named:
        raise BadInput("Rules that hold on nothing, and name no feature: pass features=, the names of the columns.")
    never = (named[0], "in", ())
    return [[triple if triple[1] else never for triple in row] for row in rows]


def _are_rounded(texts: Iterable[str]) -> bool:
    """Whether all bounds have two decimals, as lime and anchor-exp print them."""
    bounds = [match["left"] or match["right"] for text in texts for match in _BOUND.finditer(text)]
    return bool(bounds) and all(_TWO_DECIMALS.fullmatch(bound) for bound in bounds)
