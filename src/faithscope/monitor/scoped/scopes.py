"""Scopes that were fixed beforehand: rules whose sufficiency is watched, and which of them can never share a row."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput, WrongType
from faithscope.explanations.base import Explanations
from faithscope.explanations.conditions.condition import NOTHING, conjoin
from faithscope.explanations.conditions.holding import joined_categories
from faithscope.explanations.importances import Importances
from faithscope.explanations.rule_text import parse_rule, write_rule
from faithscope.explanations.rules import Rules
from faithscope.monitor.queries import fetch_value
from faithscope.relations import Applies, Parts

Ints = NDArray[np.int64]

MOST_SCOPES = 500


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

    def written(self) -> str:
        """All of it as JSON, the same for the same scopes."""
        rules = self.rules
        pairs = {
            feature: [[int(code), text] for code, text in sorted(texts.items())]
            for feature, texts in sorted(rules.categories.items())
        }
        texts = [write_rule(rules.item(place)) for place in range(len(rules))]
        known = {"features": rules.features, "positional": rules.positional, "tree": rules.tree, "categories": pairs}
        return json.dumps({"rules": texts, **known, "classes": self.classes.tolist()})

    @classmethod
    @lru_cache(maxsize=32)
    def read(cls, text: str) -> "Scopes":
        """From what `written` gave."""
        told = json.loads(text)
        rules = Rules.from_conditions([parse_rule(rule) for rule in told["rules"]], told["features"])
        categories = {feature: dict(pairs) for feature, pairs in told["categories"].items()}
        known = {"tree": told["tree"], "positional": told["positional"], "categories": categories}
        return cls(rules._with(**known), np.array(told["classes"], np.int64))

    def same(self, other: "Scopes") -> bool:
        """Whether both are the same rules."""
        return self._places.keys() == other._places.keys()

    @cached_property
    def _places(self) -> dict[Any, int]:
        """The number of each rule, whatever the positions of its features."""
        return {_meaning(self.rules.conjunction(place)): place for place in range(len(self))}

    def number(self, explanations: Rules) -> Ints:
        """The number of each row's rule among the scopes; raises if one of them is none."""
        known = np.array([self._places.get(_meaning(parts), -1) for parts in explanations.distinct], np.int64)
        numbers = known[explanations.codes]
        strange = np.flatnonzero(numbers < 0)
        if len(strange):
            raise BadInput(
                f"The rule {explanations.describe(int(strange[0]))!r} is not among the {len(self)} scopes that were "
                "fixed beforehand, by which this monitor measures sufficiency: begin another state with all rules."
            )
        return numbers

    def inside(self, explanations: Rules, X: Any, rows: int) -> NDArray[np.bool_]:
        """Whether each row of X lies in each scope, shape (n_rows, n_scopes)."""
        rules, others = self.rules._over_one_list(explanations)
        rules = rules._with(categories=joined_categories(rules.categories, others.categories))
        covers = Applies().cover(rules, explanations, X)
        assert isinstance(covers, Parts)
        inside = np.ones((rows, len(self)), bool)
        scopes_of: list[list[int]] = [[] for _ in covers.parts]
        for scope, parts in enumerate(covers.lists):
            for part in parts:
                scopes_of[part].append(scope)
        for part, mask in covers.masks(None):
            inside[:, scopes_of[part]] &= mask[:, None]
        return inside

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

    def refuse_overlap(self, inside: NDArray[np.bool_]) -> None:
        """Raise if a row lies in two scopes whose conditions exclude each other."""
        for number in range(int(self.classes.max()) + 1):
            members = np.flatnonzero(self.classes == number)
            twice = np.flatnonzero(inside[:, members].sum(axis=1) > 1)
            if len(twice):
                first, second = members[inside[twice[0], members]][:2]
                raise BadInput(
                    f"A row lies in the scopes {self.rules.describe(int(first))!r} and "
                    f"{self.rules.describe(int(second))!r}, which exclude each other but for rounding: make their "
                    "bounds equal."
                )


def held_scopes(connection: Any) -> Scopes | None:
    """The scopes with which a store began; None if it has none."""
    text = fetch_value(connection, "SELECT value FROM settings WHERE name = 'scopes'")
    return None if text is None else Scopes.read(text)


def settled_scopes(given: Scopes | None, began: Mapping[str, str], name: str) -> Scopes | None:
    """The scopes with which a store began; raises if others were given."""
    held = Scopes.read(began["scopes"]) if "scopes" in began else None
    if given is None:
        return held
    if held is None:
        raise BadInput(f"{name!r} was begun without scopes: leave scopes away, or begin another state.")
    if not held.same(given):
        raise BadInput(
            f"{name!r} was begun with other scopes ({len(held)}, here {len(given)}): leave scopes away, or begin "
            "another state."
        )
    return held


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


def _meaning(conditions: Any) -> frozenset[Any]:
    """The conditions of a rule by the names of their features."""
    return frozenset(replace(condition, position=0) for condition in conditions)


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
