"""The conditions of one anchor of a table: bins with their bounds in full, categories with their codes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from faithscope.errors import BadInput
from faithscope.explanations.conditions.condition import Triple
from faithscope.explanations.conditions.grammar import parse_rule
from faithscope.readers.conditions import edges_of, in_full

_EQUALS = " = "


@dataclass(frozen=True)
class Anchor:
    """One anchor, whichever library made it.

    Attributes
    ----------
    conditions : list of str
        As the library prints them: conditions of a table, or words of a text.
    positions : list of int
        The column of each condition.
    instance : array, or str
        The row explained, categories as codes; or the text.
    precision, coverage : float
        What the library claims.
    explainer : object
        anchor-exp's, which knows the bins in full; None of alibi's, whose objects do not lead back to it.
    """

    conditions: list[str]
    positions: list[int]
    instance: Any
    precision: float
    coverage: float
    explainer: Any = None


@dataclass(frozen=True)
class Column:
    """One column of the rows that an anchor is about.

    Attributes
    ----------
    name : str, optional
    edges : list of float
        The bounds of its bins; none if they are not known.
    texts : dict
        The categories that its codes stand for, as far as they are known.
    code : float, optional
        Its value in the row explained.
    """

    name: str | None
    edges: Sequence[float]
    texts: dict[int, str]
    code: float | None


def names_of(explainer: Any) -> tuple[str, ...] | None:
    """The names of all columns, as the explainer has them."""
    names = getattr(explainer, "feature_names", None)
    return None if names is None else tuple(map(str, names))


def column_of(anchor: Anchor, position: int, names: Sequence[str] | None) -> Column:
    """What is known of a column."""
    name = names[position] if names is not None and position < len(names) else None
    given = anchor.instance
    value = given[position] if given is not None and position < len(given) else None
    code = float(value) if isinstance(value, int | float | np.number) and np.isfinite(value) else None
    ordinal = position in getattr(anchor.explainer, "ordinal_features", ())
    named = {} if ordinal else getattr(anchor.explainer, "categorical_names", {}).get(position, ())
    texts = {place: str(text) for place, text in enumerate(named)}
    return Column(name, edges_of(getattr(anchor.explainer, "disc", None), position), texts, code)


@dataclass(frozen=True)
class Read:
    """One condition as it was read.

    Attributes
    ----------
    triples : list of (feature, operator, value)
    remarks : tuple of str
        What to say of its bounds.
    category : (feature, dict), optional
        What codes stand for.
    """

    triples: list[Triple]
    remarks: tuple[str, ...] = ()
    category: tuple[str, dict[int, str]] | None = None


def read_condition(text: str, column: Column, names: Sequence[str] | None) -> Read:
    """One condition, from its text and what is known of its column."""
    category = _category(text, column)
    if category is None:
        full = [in_full(triple, column.edges) for triple in parse_rule(text, names)]
        return Read([triple for triple, _ in full], tuple(remark for _, remark in full if remark))
    name, value = category
    whole = column.code is not None and column.code.is_integer()
    texts = column.texts or ({int(column.code): value} if whole and column.code is not None else {})
    return Read([(name, "==", value)], category=(name, texts))


def _category(text: str, column: Column) -> tuple[str, str] | None:
    """The feature and the category of a condition such as "job = clerk"; None if it is a bin."""
    if column.name is not None and column.texts:
        return column.name, column.texts[int(column.code or 0)]
    if column.name is not None:
        if text.startswith(column.name + _EQUALS):
            return column.name, text.removeprefix(column.name + _EQUALS)
        return None if column.name in text else (column.name, text)  # a category with < in it stands alone
    name, equals, value = text.partition(_EQUALS)
    return (name, value) if equals else None


def joined_texts(conditions: Iterable[Read]) -> dict[str, dict[int, str]]:
    """What the codes of each feature stand for; nothing if one code seems to stand for two texts."""
    joined: dict[str, dict[int, str]] = {}
    for name, texts in (read.category for read in conditions if read.category is not None):
        known = joined.setdefault(name, {})
        unclear = any(known.get(code, text) != text for code, text in texts.items())
        joined[name] = known | (dict.fromkeys(texts, "") if unclear else texts)
    return {name: texts for name, texts in joined.items() if "" not in texts.values()}


def read_row(row: int, anchor: Anchor, names: Sequence[str] | None) -> list[Read]:
    """The conditions of one row's anchor."""
    if len(anchor.positions) != len(anchor.conditions):
        raise BadInput(
            f"Row {row} is an anchor of {len(anchor.conditions)} conditions on {len(anchor.positions)} features: "
            "pass it as it was made."
        )
    try:
        return [
            read_condition(text, column_of(anchor, position, names), names)
            for text, position in zip(anchor.conditions, anchor.positions, strict=True)
        ]
    except BadInput as problem:
        raise BadInput(f"Row {row}: {problem} Name the columns: fs.read(anchors, features=[...]).") from None
