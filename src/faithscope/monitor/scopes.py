"""Scopes: rules that were fixed beforehand, whose sufficiency is watched.

A monitor with scopes is one whose cells hold patterns in place of explanations: rows of the same rule that lie in the
same scopes. Each row opens a pair of its own scope, or closes one of a scope that a coin chose.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from faithscope.errors import BadInput, WrongType
from faithscope.explanations.base import Explanations
from faithscope.explanations.conditions.condition import NOTHING, conjoin, joined_categories
from faithscope.explanations.importances import Importances
from faithscope.explanations.rule_text import parse_rule, write_rule
from faithscope.explanations.rules import Rules
from faithscope.inputs.array_types import Bools, Ints
from faithscope.inputs.grouping import group as group_rows
from faithscope.monitor.canonical import Digests, meaning
from faithscope.relations import Applies, Parts
from faithscope.runtime.memory import FEWER_ROWS, need

MOST_SCOPES = 500


@dataclass(frozen=True, eq=False)
class RowPatterns:
    """Different patterns: the scope that rows were given, and whether they lie in each scope.

    Attributes
    ----------
    own : (p,) array
    inside : (p, n_scopes) array of bool

    Examples
    --------
    >>> patterns = RowPatterns(np.array([1]), np.array([[True, False, True]]))
    >>> patterns.texts, RowPatterns.read([1], patterns.texts, 3).inside.tolist()
    (['a0'], [[True, False, True]])
    """

    own: Ints
    inside: Bools

    @classmethod
    def read(cls, own: Any, texts: list[str], scopes: int) -> "RowPatterns":
        """From what a store holds."""
        width = -(-scopes // 8)
        packed = np.frombuffer(bytes.fromhex("".join(texts)), np.uint8).reshape(len(texts), width)
        return cls(np.asarray(own, np.int64), np.unpackbits(packed, axis=1, count=scopes).astype(bool))

    @property
    def texts(self) -> list[str]:
        """The scopes in which each lies, as bits."""
        return [row.tobytes().hex() for row in np.packbits(self.inside, axis=1)]

    def digests(self) -> Digests:
        """What tells them apart in every process that has the same scopes."""
        return Digests.of_texts(f"{own}:{text}" for own, text in zip(self.own.tolist(), self.texts, strict=True))


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
        if not len(rules):
            raise BadInput("scopes are the rules that were fixed beforehand; got none: pass at least one.")
        if len(rules) > MOST_SCOPES:
            raise BadInput(
                f"A monitor watches at most {MOST_SCOPES} scopes; got {len(rules):,}: pass fewer rules, and add the "
                "rows that were given them."
            )
        rules = rules if rules.positional else rules._over(tuple(sorted(rules.features)), False)
        texts = [write_rule(rules.item(place)) for place in range(len(rules))]
        rules = rules.take(np.array(sorted(range(len(texts)), key=texts.__getitem__)))
        return cls(rules, _classes(rules))

    def written(self) -> dict[str, Any]:
        """All of it as JSON holds it, the same for the same scopes."""
        rules = self.rules
        pairs = {
            feature: [[int(code), text] for code, text in sorted(texts.items())]
            for feature, texts in sorted(rules.categories.items())
        }
        texts = [write_rule(rules.item(place)) for place in range(len(rules))]
        known = {"features": rules.features, "positional": rules.positional, "tree": rules.tree, "categories": pairs}
        return {"rules": texts, **known, "classes": self.classes.tolist()}

    @classmethod
    def read(cls, told: Mapping[str, Any]) -> "Scopes":
        """From what `written` gave."""
        rules = Rules.from_conditions([parse_rule(rule) for rule in told["rules"]], told["features"])
        categories = {feature: dict(pairs) for feature, pairs in told["categories"].items()}
        known = {"tree": told["tree"], "positional": told["positional"], "categories": categories}
        return cls(rules._with(**known), np.array(told["classes"], np.int64))

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

    def alike(self, importances: Importances, X: Any) -> Rules:
        """For each row, the scope of just the features that it names, in which it lies: bins are those of the scopes.

        So rows are alike on every day by the bins with which the store began. As many features are named as scopes
        speak of at most.
        """
        own = [_features(self.rules.conjunction(place)) for place in range(len(self))]
        rough = importances.to_rules(X, max(1, *map(len, own)))
        named = [_features(parts) for parts in rough.distinct]
        same = np.array([[scope == features for scope in own] for features in named]).reshape(-1, len(own))
        fits = same[rough.codes] & self.inside(rough, X, len(importances))
        odd = np.flatnonzero(fits.sum(axis=1) != 1)
        if len(odd):
            row = int(odd[0])
            features = " and ".join(map(repr, sorted(named[rough.codes[row]]))) or "no feature"
            lies = "two scopes" if fits[row].any() else "no scope"
            raise BadInput(
                f"Row {row} names {features}, and lies in {lies} of just these: begin another state with "
                "scopes=importances.to_rules(X_train, k, bins) of rows that name all that is named, such as with k=1."
            )
        return self.rules.take(fits.argmax(axis=1))

    def patterns(self, explanations: Rules, X: Any) -> tuple[RowPatterns, Ints, Ints]:
        """The patterns of rows, the number of each row's pattern, and a row of each pattern.

        Raises if a row lies in two scopes whose conditions exclude each other.
        """
        rows = len(explanations)
        need(3 * rows * len(self), f"{rows:,} rows by {len(self):,} scopes", FEWER_ROWS)
        own, inside = self.number(explanations), self.inside(explanations, X, rows)
        codes, first = group_rows([own[:, None], np.packbits(inside, axis=1)])
        patterns = RowPatterns(own[first], inside[first])
        serves = self.serves(patterns)
        twice = patterns.inside & (serves[:, self.classes] != np.arange(len(self)))
        for place, scope in np.argwhere(twice)[:1].tolist():
            one, other = (self.rules.describe(each) for each in (scope, int(serves[place, self.classes[scope]])))
            raise BadInput(
                f"A row lies in the scopes {one!r} and {other!r}, which exclude each other but for rounding: make "
                "their bounds equal."
            )
        return patterns, codes, first

    def serves(self, patterns: RowPatterns) -> Ints:
        """The scope of each class in which rows of a pattern lie, shape (p, n_classes); -1 if they lie in none."""
        lies = np.where(patterns.inside, np.arange(len(self)), -1)
        return np.stack([lies[:, self.classes == each].max(axis=1) for each in range(self.classes.max() + 1)], axis=1)


def features_of(scopes: Scopes) -> list[str]:
    """The features that scopes speak of."""
    return list(dict.fromkeys(feature for parts in scopes.rules.distinct for feature in _features(parts)))


def _features(conditions: Any) -> dict[str, None]:
    """The features that conditions speak of, in order."""
    return dict.fromkeys(part.feature for part in conditions if part.position >= 0)


def to_rules(given: Any, what: str = "explanations") -> Rules:
    """Rules as they are, or read from texts."""
    if isinstance(given, Rules):
        return given
    if isinstance(given, Explanations):
        advice = " such as importances.to_rules(X_train, k, bins)," if isinstance(given, Importances) else ""
        raise WrongType(
            f"A monitor with scopes watches rules; these {what} are {given.kind}: pass fs.Rules,{advice} or texts."
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
