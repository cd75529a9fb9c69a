"""Scopes: rules that were fixed beforehand, whose sufficiency is watched.

A monitor with scopes is one whose cells hold patterns in place of explanations: rows of the same rule that lie in the
same scopes. Each row opens a pair of its own scope, or closes one of a scope that a coin chose.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from faithscope.counting.coverage import cover
from faithscope.errors import BadInput, WrongType
from faithscope.explanations.arrow import METADATA, from_arrow, to_arrow
from faithscope.explanations.base import Explanations
from faithscope.explanations.conditions.condition import NOTHING, conjoin, joined_categories
from faithscope.explanations.rule_text import write_rule
from faithscope.explanations.rules import Rules
from faithscope.inputs.array_types import Array, Bools, Ints
from faithscope.inputs.grouping import group as group_rows
from faithscope.measures.covered import coverage_estimate
from faithscope.measures.estimate import Estimate
from faithscope.monitor.canonical import Digests, Words, meaning
from faithscope.monitor.store import fetched, registered
from faithscope.relations import Applies, Blocks, Parts, Relation
from faithscope.runtime.memory import FEWER_ROWS, need
from faithscope.sample import Sample

MOST_SCOPES = 500


class Patterns(NamedTuple):
    """Different patterns: the scope that rows were given, (p,), and whether they lie in each scope, (p, n_scopes)."""

    own: Ints
    inside: Bools

    def digests(self) -> Digests:
        """What tells them apart in every process that has the same scopes."""
        bits = np.packbits(self.inside, axis=1)
        return Digests.of_texts(
            f"{own}:{row.tobytes().hex()}" for own, row in zip(self.own.tolist(), bits, strict=True)
        )


@dataclass(frozen=True, eq=False)
class Scopes:
    """Different rules in an order of their own, and the class of each: rules of one class exclude each other.

    Examples
    --------
    >>> scopes = Scopes.of(["age > 40", "age <= 40", "job == clerk", "age > 40"])
    >>> [scopes.rules.describe(place) for place in range(len(scopes))], scopes.classes.tolist()
    (['age <= 40', 'age > 40', 'job == clerk'], [0, 0, 1])
    >>> Scopes.read(scopes.written()).written() == scopes.written()
    True
    """

    rules: Rules
    classes: Ints

    def __len__(self) -> int:
        return len(self.rules)

    @classmethod
    def of(cls, given: Any) -> "Scopes":
        """From rules or their texts, each once and in an order that does not depend on theirs."""
        rules = to_rules(given, "scopes")
        rules = rules.take(rules.group()[1])
        if not 0 < len(rules) <= MOST_SCOPES:
            raise BadInput(
                f"scopes are 1 to {MOST_SCOPES} rules that were fixed beforehand; got {len(rules):,}: pass so many, "
                "and add the rows that were given them."
            )
        rules = rules if rules.positional else rules._over(tuple(sorted(rules.features)), False)
        texts = [write_rule(rules.item(place)) for place in range(len(rules))]
        rules = rules.take(np.array(sorted(range(len(texts)), key=texts.__getitem__)))
        return cls(rules, _classes(rules))

    def written(self) -> dict[str, Any]:
        """All of it as JSON holds it, the same for the same scopes."""
        table = to_arrow(self.rules)
        about = {"settings": table.schema.metadata[METADATA].decode(), "classes": self.classes.tolist()}
        return {"rules": table["rule"].to_pylist(), **about}

    @classmethod
    def read(cls, told: Mapping[str, Any]) -> "Scopes":
        """From what `written` gave."""
        import pyarrow as pa

        table = pa.table({"rule": told["rules"]}).replace_schema_metadata({METADATA: told["settings"].encode()})
        rules = from_arrow(table)
        assert isinstance(rules, Rules)
        return cls(rules, np.array(told["classes"], np.int64))

    @cached_property
    def places(self) -> dict[Any, int]:
        """The number of each rule, whatever the positions of its features."""
        return {meaning(self.rules.conjunction(place)): place for place in range(len(self))}

    def number(self, explanations: Rules) -> Ints:
        """The number of each row's rule among the scopes; raises if one of them is none."""
        numbers = np.array([self.places.get(meaning(parts), -1) for parts in explanations.distinct], np.int64)
        numbers = numbers[explanations.codes]
        for strange in np.flatnonzero(numbers < 0)[:1].tolist():
            raise BadInput(
                f"The rule {explanations.describe(strange)!r} is not among the {len(self)} scopes that were fixed "
                "beforehand, by which this monitor measures sufficiency: begin another state with all rules."
            )
        return numbers

    def inside(self, explanations: Rules, X: Any, rows: int) -> Bools:
        """Whether each row of X lies in each scope, shape (n_rows, n_scopes)."""
        rules, others = self.rules._over_one_list(explanations)
        rules = rules._with(categories=joined_categories(rules.categories, others.categories))
        covers = Applies().cover(rules, explanations, X)
        assert isinstance(covers, Parts)
        return covers.whole(rows)

    def patterns(self, explanations: Rules, X: Any) -> tuple[Patterns, Ints, Ints]:
        """The patterns of rows, the number of each row's pattern, and a row of each pattern.

        Raises if a row lies in two scopes whose conditions exclude each other.
        """
        rows = len(explanations)
        need(3 * rows * len(self), f"{rows:,} rows by {len(self):,} scopes", FEWER_ROWS)
        own, inside = self.number(explanations), self.inside(explanations, X, rows)
        codes, first = group_rows([own[:, None], np.packbits(inside, axis=1)])
        patterns = Patterns(own[first], inside[first])
        serves = self.serves(patterns)
        twice = patterns.inside & (serves[:, self.classes] != np.arange(len(self)))
        for place, scope in np.argwhere(twice)[:1].tolist():
            one, other = (self.rules.describe(each) for each in (scope, int(serves[place, self.classes[scope]])))
            raise BadInput(
                f"A row lies in the scopes {one!r} and {other!r}, which exclude each other but for rounding: make "
                "their bounds equal."
            )
        return patterns, codes, first

    def serves(self, patterns: Patterns) -> Ints:
        """The scope of each class in which rows of a pattern lie, shape (p, n_classes); -1 if they lie in none."""
        lies = np.where(patterns.inside, np.arange(len(self)), -1)
        return np.stack([lies[:, self.classes == each].max(axis=1) for each in range(self.classes.max() + 1)], axis=1)

    def sufficiency(self, patterns: Patterns, labels: Array, given: Ints, confidence: float) -> Estimate:
        """The sufficiency of so many rows of patterns with these labels."""
        row = np.repeat(np.arange(len(given)), given)
        sample = Sample(self.rules.take(patterns.own[row]), labels[row], row)
        return coverage_estimate(cover(sample, _Lying(self, patterns.inside)), "sufficiency", confidence)


@dataclass(frozen=True, eq=False)
class _Lying(Relation):
    """A scope covers the rows that lie in it: rows are the numbers of their patterns."""

    known: Scopes
    inside: Bools

    @property
    def partitions(self) -> bool:
        return self.known.rules.partitions

    def cover(self, distinct: Any, explanations: Explanations, X: Any) -> Blocks:
        inside = self.inside[:, self.known.number(distinct)].T
        return Blocks.of(lambda start, stop: inside[start:stop, X])


def held_patterns(connection: Any, scopes: Scopes, high: Words, low: Words) -> Patterns:
    """Of what patterns with these digests are, as a store has them."""
    query = "SELECT own, inside FROM wanted JOIN patterns USING (high, low) ORDER BY place"
    with registered(connection, "wanted", {"place": np.arange(len(high)), "high": high, "low": low}):
        own, inside = fetched(connection, query).values()
    return Patterns(np.asarray(own, np.int64), np.array(inside.tolist(), bool).reshape(-1, len(scopes)))


def features_of(scopes: Scopes) -> list[str]:
    """The features that scopes speak of."""
    parts = (part for parts in scopes.rules.distinct for part in parts)
    return list(dict.fromkeys(part.feature for part in parts if part.position >= 0))


def to_rules(given: Any, what: str = "explanations") -> Rules:
    """Rules as they are, or read from texts."""
    if isinstance(given, Rules):
        return given
    if isinstance(given, Explanations):
        raise WrongType(
            f"A monitor with scopes watches rules; these {what} are {given.kind}: pass fs.Rules or texts, of "
            "importances importances.to_rules(X, k, bins, X_train)."
        )
    if given is None or isinstance(given, str):
        raise WrongType(f"{what} are an fs.Rules, or a list of one text per rule; got {given!r}.")
    return Rules.parse(given)


def _classes(rules: Rules) -> Ints:
    """The class of each rule: the first of whose rules it excludes every one."""
    classes, members = np.zeros(len(rules), np.int64), list[list[int]]()
    for place in range(len(rules)):
        number = next((j for j, each in enumerate(members) if all(_exclude(rules, place, k) for k in each)), None)
        if number is None:
            members.append([])
            number = len(members) - 1
        members[number].append(place)
        classes[place] = number
    return classes


def _exclude(rules: Rules, first: int, second: int) -> bool:
    """Whether no row can lie under both."""
    both: Any = (*rules.conjunction(first), *rules.conjunction(second))
    try:
        return conjoin(both) == (NOTHING,)
    except WrongType:  # one compares a feature with texts, the other with numbers: what it holds will tell
        return False
