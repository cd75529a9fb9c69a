"""Scopes: rules that were fixed beforehand, whose sufficiency is watched.

A monitor with scopes is one whose cells hold patterns in place of explanations: rows of the same rule that lie in the
same scopes. Each row opens a pair of its own scope, or closes one of a scope that a coin chose.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from faithscope.errors import BadInput, WrongType
from faithscope.explanations.base import Explanations
from faithscope.explanations.conditions.condition import NOTHING, conjoin
from faithscope.explanations.conditions.holding import joined_categories
from faithscope.explanations.importances import Importances
from faithscope.explanations.rule_text import parse_rule, write_rule
from faithscope.explanations.rules import Rules
from faithscope.inputs.array_types import Bools, Floats, Ints
from faithscope.inputs.grouping import group as group_rows
from faithscope.monitor.canonical import Digests
from faithscope.monitor.pairing import OPENER_SHARE, Cells, sorted_places
from faithscope.monitor.queries import fetch_lines, fetch_table, insert, registered, setting
from faithscope.relations import Applies, Parts
from faithscope.runtime.memory import FEWER_ROWS, need

MOST_SCOPES = 500
_ALL = -1  # in place of a scope: all openers
_OPENERS = "SELECT grp, scope, sum(given)::BIGINT, sum(inside)::BIGINT FROM scoped_openers GROUP BY ALL"
_PATTERNS = "SELECT wanted.place, own, inside FROM wanted JOIN patterns USING (high, low) ORDER BY wanted.place"


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
        told = zip(self.own.tolist(), self.texts, strict=True)
        return Digests.of_bytes((f"{own}:{text}".encode() for own, text in told), len(self.own))


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
        own, inside = own[first], inside[first]
        for number in range(int(self.classes.max()) + 1):
            members = np.flatnonzero(self.classes == number)
            twice = np.flatnonzero(inside[:, members].sum(axis=1) > 1)
            if len(twice):
                one, other = (self.rules.describe(int(place)) for place in members[inside[twice[0], members]][:2])
                raise BadInput(
                    f"A row lies in the scopes {one!r} and {other!r}, which exclude each other but for rounding: make "
                    "their bounds equal."
                )
        return RowPatterns(own, inside), codes, first


def held_scopes(connection: Any) -> Scopes | None:
    """The scopes with which a store began; None if it has none."""
    text = setting(connection, "scopes")
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


def held_patterns(connection: Any, digests: Digests) -> RowPatterns | None:
    """Of what patterns are; None in a store without scopes."""
    scopes = held_scopes(connection)
    if scopes is None:
        return None
    columns = {"place": np.arange(len(digests.high)), "high": digests.high, "low": digests.low}
    with registered(connection, "wanted", columns):
        answer = fetch_table(connection, _PATTERNS)
    return RowPatterns.read(answer.column("own").to_numpy(), answer.column("inside").to_pylist(), len(scopes))


def held_openers(connection: Any) -> dict[int, Ints]:
    """What openers have told of scopes, by group: in the last place of each table is what all openers are."""
    scopes, known = held_scopes(connection), dict[int, Ints]()
    if scopes is not None:
        for code, scope, given, inside in fetch_lines(connection, _OPENERS):
            known.setdefault(code, np.zeros((2, len(scopes) + 1), np.int64))[:, scope] = given, inside
    return known


def replace_openers(connection: Any, known: dict[int, Ints]) -> None:
    """Keep what openers have told."""
    lines = [
        (code, scope if scope < table.shape[1] - 1 else _ALL, *told)
        for code, table in known.items()
        for scope, told in enumerate(table.T.tolist())
    ]
    connection.execute("DELETE FROM scoped_openers")
    columns = dict(zip(("grp", "scope", "given", "inside"), zip(*lines, strict=True), strict=True))
    insert(connection, "INSERT INTO scoped_openers SELECT * FROM telling", columns)


def assign(
    arrivals: Cells,
    inside: Bools,
    waiting: Cells,
    before: Mapping[int, Ints],
    classes: Ints,
    rng: np.random.Generator,
) -> tuple[Cells, dict[int, Ints]]:
    """Openers of their own scopes, and closers of the scopes that they serve; what the openers tell of scopes.

    A closer draws one class of scopes, whatever it is like, and serves the scope of that class in which it lies, if
    there is one; else nobody. So the labels of the closers of a scope are draws from those within the scope, and no
    closer serves two scopes. The answer depends on the rows and on `rng`, never on their order.

    Parameters
    ----------
    arrivals
        Rows by the number of the scope that they were given, in place of an explanation's bits.
    inside
        Whether they lie in each scope, shape (n_cells, n_scopes).
    waiting
        Rows that wait, by the number of their scope.
    before
        By group, what earlier openers told, shape (2, n_scopes + 1): how many were given each scope, and how many lie
        in each; last, how many there were. It only adds. Only openers are asked: whom a closer serves may depend on
        anything about openers, never on another closer.
    classes
        The class of each scope, shape (n_scopes,): no two scopes of a class share a row.
    """
    bits, own = np.packbits(inside, axis=1).T, arrivals.high.astype(np.int64)
    order, first = sorted_places(arrivals.groups, own, *bits, arrivals.days, arrivals.labels)
    counts = np.add.reduceat(arrivals.counts[order], first)
    arrivals, inside = replace(arrivals.take(order[first]), counts=counts), inside[order[first]]
    groups, starts = np.unique(arrivals.groups, return_index=True)
    cells, told = [], {}
    for group, start, stop in zip(groups.tolist(), starts, (*starts[1:], len(arrivals)), strict=True):
        part, within = arrivals.take(slice(start, stop)), inside[start:stop]
        known = before.get(group, np.zeros((2, len(classes) + 1), np.int64))
        # The probability by which closers suffice: `OPENER_SHARE` if scopes do not overlap.
        crowded = max(1.0, _crowding(known, classes).sum())
        openers = rng.binomial(part.counts, 1 / (1 + (1 / OPENER_SHARE - 1) * crowded))
        given = np.bincount(part.high.astype(np.int64), openers, len(classes)).astype(np.int64)
        told[group] = np.stack([np.append(given, openers.sum()), np.append(openers @ within, 0)])
        cells.append(replace(part, counts=openers, opening=openers))
        here = waiting.take(waiting.groups == group)
        assert here.opening is not None
        wait = np.bincount(here.high.astype(np.int64), 2 * here.opening - here.counts, len(classes))
        # The probability of each class for a closer: half by what is needed in the long run, half by who waits now.
        known = known + told[group]
        always = _crowding(known, classes)
        now = _largest(np.maximum(0, given + wait) * (known[0, -1] + 1) / (known[1, :-1] + 1), classes)
        now = now if now.any() else always
        chances = (always / always.sum() + now / now.sum()) / 2
        closers, rest = part.counts - openers, 1.0
        for number, chance in enumerate(chances):  # class after class among those that are left
            last = number == len(chances) - 1
            drawn = closers if last else rng.binomial(closers, chance / max(rest, chance))
            closers, rest = closers - drawn, rest - chance
            members = np.flatnonzero(classes == number)
            lies = within[:, members]
            serves = members[lies.argmax(axis=1)].astype(np.uint64)
            kept = np.where(lies.any(axis=1), drawn, 0)
            cells.append(replace(part, high=serves, counts=kept, opening=np.zeros_like(kept)))
    return Cells.joined(cells), told


def _crowding(openers: Ints, classes: Ints) -> Floats:
    """For each class of scopes, how many closers there must be per opener; its sum is at least about 1.

    It is the largest share of a scope's rows that were given it; 1 as long as nothing is known.
    """
    given, inside = openers[:, :-1]
    return _largest(np.minimum(1.0, (given + 1) / (inside + 1)), classes)


def _largest(values: Floats, classes: Ints) -> Floats:
    """The largest value of each class."""
    largest = np.zeros(int(classes.max()) + 1)
    np.maximum.at(largest, classes, values)
    return largest
