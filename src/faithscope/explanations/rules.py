"""Rules: conjunctions of conditions on features, which say themselves which rows they apply to."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain
from typing import Any, Self

import numpy as np

from faithscope.errors import BadInput
from faithscope.explanations.conditions.condition import (
    NOTHING,
    Condition,
    conjoin,
    decoded,
    holds,
    is_triple,
    joined_categories,
    to_condition,
    written_row,
)
from faithscope.explanations.conditions.conjunctions import Conjunction, Conjunctions, number_conjunctions
from faithscope.explanations.rule_text import NEVER, OR_MISSING, RuleReader, Triple
from faithscope.inputs.array_types import Bools, Ints, Names
from faithscope.inputs.arrays import to_items
from faithscope.inputs.checks import is_whole
from faithscope.inputs.columns import Column, Rows, default_names, distinct_names
from faithscope.visible import visible
from faithscope.words import hint, shorten

_MOST_FEATURES = 1_000_000  # that are named x0, x1, … if only positions are given


@dataclass(frozen=True, eq=False, repr=False)
class Rules(Conjunctions):
    """One conjunction of conditions per row, such as "education-num <= 9 and capital-gain <= 0".

    Equal rules are equal however they were written: order, repetition and redundant bounds do not count.
    Make them with `parse` or `from_conditions`.

    Attributes
    ----------
    features : tuple of str
        The features that conditions may be on.
    tree : str, optional
        A digest of the splits of the tree that these are paths of, if they are: such rules cover every row once.
    positional : bool
        Whether rows given as a plain array have their columns in the order of `features`.
    categories : mapping from feature to a mapping from code to text
        Of features that rows may hold as whole numbers, while conditions name what the numbers stand for.

    Examples
    --------
    >>> rules = Rules.from_conditions([[("age", "<=", 7), ("age", ">", 3), ("age", "<", 9)], []], features=["age"])
    >>> rules.describe(0), rules.describe(1)
    ('3 < age <= 7', 'everything')
    """

    features: Names
    tree: str | None = None
    positional: bool = True
    categories: Mapping[str, Mapping[int, str]] = field(default_factory=dict)

    _settings = ("features", "tree", "positional", "categories")
    _alike = (("features", "features"),)

    @classmethod
    def from_conditions(
        cls, conditions: Iterable[Iterable[Sequence[Any]]], features: Sequence[Hashable] | None = None
    ) -> Self:
        """Rules from a list of (feature, operator, value) per row.

        Parameters
        ----------
        conditions : list of lists of triples
            Operators are ``<= < >= > == != in``, ``not in`` and ``between`` with (low, high), both included. Values
            are numbers, texts, truth values and dates. ``== None`` (or NaN, or pd.NA) asks for missing, ``!= None``
            for present. On a missing value any other condition is false, ``!=`` too; an operator such as
            ``"<= or missing"`` makes it true there. An empty list covers everything.
        features : sequence of names, optional
            Conditions name one of them, or give its position. By default the names in order of appearance; then
            rows must be a table with these columns, unless all names are integers, which are positions.

        Examples
        --------
        >>> rules = Rules.from_conditions([[("age", "<=", 37.0), ("job", "==", "clerk")], []], features=["age", "job"])
        >>> rules.describe(0), rules.describe(1)
        ('age <= 37 and job == clerk', 'everything')
        """
        given = to_items(conditions, "Rules, one list of conditions per row,")
        rows, codes = number_conjunctions(list(map(written_row, given)))
        named, positional = (features, True) if features is not None else _appearing(rows)
        names = distinct_names(named)
        read = _reader(names, named)
        conjunctions: list[Conjunction] = []
        for number, row in enumerate(rows):
            try:
                conjunctions.append(conjoin(map(read, row)))
            except BadInput as error:
                raise type(error)(f"Rules, row {int((codes == number).argmax())}: {error}") from None
        distinct, numbers = number_conjunctions(conjunctions)
        return cls(numbers[codes], distinct, names, positional=positional)._labelled(conditions)

    @classmethod
    def parse(cls, texts: Iterable[str | Iterable[Any]], features: Sequence[Hashable] | None = None) -> Self:
        """Rules from one text per row, or one list of condition texts per row.

        Reads what `describe` and every table of this package print, what logs hold, and what lime and anchor-exp
        print: ``27.1 < bmi <= 31.3 and job == clerk``, ``petal width (cm) <= 0.80``, ``age > 48.00 AND job = clerk``,
        ``(age <= 37 or missing) and job in {clerk, cook}``, ``age is missing``, ``everything``.

        A bare value that could be a number, a date, true, false or missing is one, and a text in quotes is a text:
        ``ward == 37`` and ``ward == "37"`` differ, as the column does. A bound is as printed: `describe` prints seven
        digits of one that has more than eight, lime and anchor-exp two decimals, so a rule that was printed may not
        cover the row that it explains, which measures count as `missed`. `to_conditions` and files keep bounds in full.

        Parameters
        ----------
        texts : list of str, or of lists of str
            Conditions are joined by ``and``, ``&``, ``,`` or ``;``.
        features : sequence of names, optional
            The names of the columns in order, as in `from_conditions`. They decide a text that could be read
            differently: a name may then hold anything, and the longest that fits is read.

        Examples
        --------
        >>> rules = Rules.parse(["age <= 37 and job == clerk", "9.5 < education-num <= 12.5", "everything"])
        >>> rules.describe(1), rules.features
        ('9.5 < education-num <= 12.5', ('age', 'job', 'education-num'))
        >>> Rules.parse([["0.00 < salt and pepper <= 37.00"]], features=["salt and pepper"]).describe(0)
        '0 < "salt and pepper" <= 37'
        """
        names = None if features is None else distinct_names(features)
        read, conditions, empty = cache(RuleReader(names)), list[list[Triple]](), 0
        for row, item in enumerate(to_items(texts, "Rules, one text per row,")):
            given = item if isinstance(item, list | tuple) else [item]
            pieces = [piece for piece in given if not isinstance(piece, str) or piece.strip()]
            try:
                parts = ((read if isinstance(piece, str) else read.__wrapped__)(piece) for piece in pieces)
                conditions.append([*chain.from_iterable(parts)])
            except BadInput as problem:
                raise type(problem)(f"Rules, row {row}: {problem}") from None
            empty += not pieces
        told = f"{empty:,} of {len(conditions):,} rows have no condition, and cover every row"
        rules = cls.from_conditions(conditions, names)._with(remarks=(told,) if empty else ())
        return rules._labelled(texts)

    @property
    def kind(self) -> str:
        return f"rules over {len(self.features)} features ({shorten(self.features)})"

    @property
    def partitions(self) -> bool:
        """Whether these are paths of one tree, so that every row is covered by exactly one of them."""
        return self.tree is not None

    def join(self, other: Self) -> Self:
        both = super().join(other)
        tree = self.tree if self.tree == other.tree else None
        return both._with(tree=tree, categories=joined_categories(self.categories, other.categories))

    def _aligned(self, other: Any) -> tuple[Self, Any]:
        """Both over the same features if a list of features is only that of names in order of appearance.

        Such a list differs from one set of rules to the next, though the columns that they name are the same.
        """
        first, second = self, other
        if isinstance(other, Rules) and self.features != other.features:
            both = tuple(dict.fromkeys([*self.features, *other.features]))
            lists = [each.features for each in (self, other) if each.positional and each.features]
            features = lists[0] if lists else both
            if len(lists) < 2 and set(both) <= set(features):
                first, second = self._over(features, bool(lists)), other._over(features, bool(lists))
        return Conjunctions._aligned(first, second)

    def _over(self, features: Names, positional: bool) -> Self:
        """The same rules over these features, in this order."""
        places = {name: place for place, name in enumerate(features)}
        moved = (
            [each if each == NOTHING else replace(each, position=places[each.feature]) for each in conjunction]
            for conjunction in self.distinct
        )
        return self._with(distinct=tuple(map(conjoin, moved)), features=features, positional=positional)

    def describe(self, row: int) -> str:
        parts = list(map(str, self.conjunction(row)))
        joined = [f"({part})" if part.endswith(OR_MISSING) and len(parts) > 1 else part for part in parts]
        return visible(" and ".join(joined)) or "everything"

    def item(self, row: int) -> Any:
        return self.triples(self.conjunction(row))

    def to_conditions(self) -> list[list[Triple]]:
        """One list of (feature, operator, value) per row, from which `from_conditions` makes the same rules."""
        written = list(map(self.triples, self.distinct))
        return [list(written[code]) for code in self.codes]

    def triples(self, conjunction: Conjunction) -> list[Triple]:
        """One of these conjunctions as (feature, operator, value)."""
        if conjunction == (NOTHING,):
            return [(self.features[0], "in", ()) if self.features else NEVER]
        return [triple for condition in conjunction for triple in condition.triples()]

    @property
    def content(self) -> Sequence[Any]:  # whatever the order of features
        return [tuple(sorted(map(repr, self.triples(each)))) for each in self.distinct]

    def masks(self, conditions: Sequence[Any], X: Any, order: Ints | None) -> Iterator[tuple[int, Bools]]:
        rows, needed = Rows(X), {c.position: c for c in conditions if c != NOTHING}
        width, expected = len(rows.names), len(self.features)
        if needed and not rows.named and not self.positional:
            raise BadInput(
                f"Rows are a plain array, and the rules do not say which column is {self.features[0]!r}: pass "
                "features=, the names in the order of the columns, when you make the rules, or rows as a table."
            )
        # Rules that only know positions may leave the last columns out.
        beyond = width > expected and self.features != default_names(expected)
        if not rows.named and (width < expected or beyond):
            raise BadInput(f"Rows have {width} columns but rules are over {expected} features: pass those, in order.")
        places = {
            at: rows.place(each.feature, f"{str(each)!r} needs") if rows.named else at for at, each in needed.items()
        }
        known: dict[int, tuple[Column, Column]] = {}
        numbers: Sequence[int] = range(len(conditions))
        if order is not None:  # one column after the other, so that only one at a time is held in this order
            numbers = sorted(numbers, key=lambda number: conditions[number].position)
        for number in numbers:
            asked = conditions[number]
            if asked == NOTHING:
                yield number, np.zeros(len(rows) if order is None else len(order), bool)
                continue
            if asked.position not in known:
                column = decoded(rows.column(places[asked.position]), self.categories.get(asked.feature, {}))
                if order is not None:
                    known.clear()
                known[asked.position] = column, column if order is None else column.take(order)
            yield number, holds(asked, *known[asked.position])


def _appearing(rows: Iterable[tuple[Any, ...]]) -> tuple[Sequence[Hashable], bool]:
    """The features in order of appearance, and whether they are positions of columns."""
    names = list(dict.fromkeys(triple[0] for row in rows for triple in row if is_triple(triple) and triple != NEVER))
    positions = [int(name) for name in names if is_whole(name)]
    if not positions:
        return names, not names
    if len(positions) < len(names) or max(positions) > _MOST_FEATURES:
        raise BadInput(
            f"Conditions give some features by name and some by position, or one beyond {_MOST_FEATURES:,}: pass "
            "features=, the names in order."
        )
    return default_names(max(positions) + 1), True


def _reader(names: Sequence[str], given: Sequence[Hashable]) -> Callable[[Any], Condition]:
    """A function from a triple to a condition; it finds features by the name given, by its text, or by position."""
    lists: tuple[Sequence[Hashable], ...] = (range(len(names)), names, given)
    places = {name: position for known in lists for position, name in enumerate(known)}

    @cache
    def read(triple: Any) -> Condition:
        if not is_triple(triple):
            raise BadInput(f"A condition must be (feature, operator, value); got {triple!r}.")
        feature, operator, value = triple
        if feature not in places:
            if triple == NEVER:
                return NOTHING
            raise BadInput(
                f"Condition {triple!r} is on {feature!r}, which is not among the features. {hint(feature, names)}"
            )
        return to_condition(places[feature], names[places[feature]], operator, value)

    return read
