"""Conditions as lime and its kin print them: bounds in full where bins are known, categories with their codes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from faithscope.explanations.conditions.condition import BOUNDS, Triple
from faithscope.explanations.conditions.grammar import parse_rule
from faithscope.explanations.conditions.texts import ROUNDED

_EQUALS = " = "
ALIKE = "bounds that print alike to 2 decimals were taken as the widest of them"


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


def edges_of(discretizer: Any, feature: int) -> list[float]:
    """The bounds of a feature's bins, as lime's discretizers keep them; none if this is no such discretizer."""
    highest = getattr(discretizer, "maxs", None)
    known = highest.get(feature) if isinstance(highest, Mapping) else None
    return [] if known is None else [float(edge) for edge in list(known)[:-1]]


def in_full(triple: Triple, edges: Sequence[float]) -> tuple[Triple, str | None]:
    """A condition with the bound of which it prints two decimals, and what to say if that is not known for sure.

    Of several bounds that print alike the widest is taken, so that the rule covers the row that it explains.
    """
    name, operator, value = triple
    if operator not in BOUNDS:
        return triple, None
    alike = {edge for edge in edges if f"{edge:.2f}" == f"{value:.2f}"}
    if not alike:
        return triple, ROUNDED
    return (name, operator, max(alike) if "<" in operator else min(alike)), ALIKE if len(alike) > 1 else None
