"""How long a regular expression of Python may take at worst: read from its parse tree, before any text is searched.

Python's `re` tries one way after the other, and there may be exponentially many. A decision (which branch, once more or
not) costs nothing if the next character settles it. Expressions with other decisions inside a loop are refused, and so
are repeats of what may be empty; other decisions outside of loops multiply the time, by the length of the text if they
have no bound.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import factorial
from typing import Any

Node = tuple[Any, Any]  # an operation of `re._parser` and its argument
Characters = frozenset[str]

_COMMON = frozenset(map(chr, range(128))) | frozenset(
    "\u00e9\u00df\u0130\u017f\u212a\u03b1\u4e2d\u0640\u0663\u00a0\u2028\u00bd"
)
_LOOPING = 8  # times that something is repeated before it is taken for a loop
_MOST_CHOICES = 10**6
_MOST_STEPS = 5 * 10**9  # of one search, which is one to three minutes if all are needed
_QUICK_STEPS = 10**7  # which take less than a second; a search of more is done elsewhere, where it can be stopped
REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")


# Every operation of a parse tree, from Python 3.11 to 3.14; another one might take forever.
_ONE_CHARACTER = ("ANY", "CATEGORY", "IN", "LITERAL", "NEGATE", "NOT_LITERAL", "RANGE")
_LOOKING = ("ASSERT", "ASSERT_NOT", "AT", "FAILURE")
_GROUPING = ("ATOMIC_GROUP", "BRANCH", "GROUPREF", "GROUPREF_EXISTS", "SUBPATTERN")
_KNOWN = frozenset([*REPEATS, *_ONE_CHARACTER, *_LOOKING, *_GROUPING])


class Ambiguous(Exception):
    """A loop in which several ways match the same characters."""


@dataclass(frozen=True)
class Cost:
    """What a part of an expression costs at one place of a text.

    Attributes
    ----------
    ways, choices : int and float
        It matches in at most ``choices * length ** ways`` ways.
    steps : int
        To try them all takes at most ``choices * length ** steps`` steps.
    looks : int
        Likewise, of what looks ahead or behind inside it, which is done anew each time that it is repeated.
    """

    ways: int = 0
    choices: float = 1
    steps: int = 0
    looks: int = 0

    def then(self, other: "Cost") -> "Cost":
        """Of this and then the other, which is tried for each way of this."""
        steps = max(self.steps, self.ways + other.steps)
        return Cost(self.ways + other.ways, self.choices * other.choices, steps, max(self.looks, other.looks))

    def either(self, other: "Cost", overlap: bool) -> "Cost":
        """Of this or the other."""
        choices = self.choices + other.choices if overlap else max(self.choices, other.choices)
        most = (max(getattr(self, name), getattr(other, name)) for name in ("ways", "steps", "looks"))
        ways, steps, looks = most
        return Cost(ways, choices, steps, looks)

    @property
    def settled(self) -> bool:
        """Whether every decision is settled by the next character."""
        return self.ways == 0 and self.choices == 1

    @property
    def longest(self) -> float:
        """The length of texts up to which a search takes no longer than it may."""
        return self._length(_MOST_STEPS)

    @property
    def quick(self) -> float:
        """The length of texts up to which a search takes no time worth speaking of."""
        return self._length(_QUICK_STEPS)

    def _length(self, most: float) -> float:
        """The length of texts up to which a search takes at most so many steps."""
        if self.choices > _MOST_CHOICES:
            return 0
        power = 1 + max(self.steps, self.ways)  # one for the places at which a search may start
        return float((most / self.choices * factorial(power)) ** (1 / power))


def search_cost(tree: Sequence[Node]) -> Cost:
    """The cost of searching a parsed expression; raises `Ambiguous` if it may be exponential."""
    nodes = list(tree)
    alphabet = _COMMON.union(*map(_cases, _mentioned(nodes)))
    return _Reader(alphabet).sequence(nodes, frozenset(), 1)


@dataclass(frozen=True)
class _Reader:
    """Reads the cost from a parse tree; `alphabet` are characters that stand for all.

    Two sets of an expression overlap exactly if they do so at a character that it mentions, or at a common one.
    """

    alphabet: Characters

    def sequence(self, nodes: Sequence[Node], after: Characters, times: int) -> Cost:
        """The cost of nodes in turn; `after` are the characters that may follow, `times` how often all may repeat."""
        cost = Cost()
        for place, node in enumerate(nodes):
            following, empty = self.first_of(nodes[place + 1 :])
            cost = cost.then(self._node(node, following | after if empty else following, times))
        if times > _LOOPING and not cost.settled:
            raise Ambiguous
        return cost

    def _node(self, node: Node, after: Characters, times: int) -> Cost:
        operation, argument = str(node[0]), node[1]
        if operation in REPEATS:
            return self._repeat(operation, argument, after, times)
        if operation == "BRANCH":
            return self._branch(argument[1], after, times)
        if operation == "GROUPREF_EXISTS":
            return self._branch([argument[1], argument[2] or []], after, times)
        if operation == "SUBPATTERN":
            return self.sequence(argument[-1], after, times)
        if operation == "ATOMIC_GROUP":
            return self.sequence(argument, after, times)
        if operation in ("ASSERT", "ASSERT_NOT"):
            looking = self.sequence(argument[1], frozenset(), times)
            return Cost(choices=looking.choices, steps=looking.steps, looks=looking.steps)
        return Cost(steps=1) if operation == "GROUPREF" else Cost()

    def _repeat(self, operation: str, argument: Any, after: Characters, times: int) -> Cost:
        least, most, body = int(argument[0]), int(argument[1]), argument[2]
        begin, empty = self.first_of(body)
        if empty and most > 1:
            raise Ambiguous  # nothing, any number of times
        endless = most - least > _MOST_CHOICES
        inner = self.sequence(body, begin | after if most > 1 else after, times * most)
        several = min(most, _LOOPING)
        within = Cost(inner.ways * several, inner.choices**several, inner.steps, inner.looks)
        within = replace(
            within, steps=max(inner.steps, 1 + inner.looks) if endless else inner.ways * (several - 1) + inner.steps
        )
        if least == most or operation == "POSSESSIVE_REPEAT" or not begin & after:
            return within
        return replace(within, ways=within.ways + 1) if endless else within.then(Cost(choices=most - least + 1))

    def _branch(self, branches: Sequence[Sequence[Node]], after: Characters, times: int) -> Cost:
        costs = [self.sequence(branch, after, times) for branch in branches]
        starts = [begin | after if empty else begin for begin, empty in map(self.first_of, branches)]
        total, seen = costs[0], starts[0]
        for cost, start in zip(costs[1:], starts[1:], strict=True):
            total = total.either(cost, bool(seen & start))
            seen |= start
        return total

    def first_of(self, nodes: Sequence[Node]) -> tuple[Characters, bool]:
        """The characters with which a match of these nodes may begin, and whether it may be empty."""
        begin: Characters = frozenset()
        for node in nodes:
            own, empty = self._first(node)
            begin |= own
            if not empty:
                return begin, False
        return begin, True

    def _first(self, node: Node) -> tuple[Characters, bool]:
        operation, argument = str(node[0]), node[1]
        if operation in REPEATS:
            begin, empty = self.first_of(argument[2])
            return begin, empty or int(argument[0]) == 0
        if operation == "BRANCH":
            return self._either(argument[1])
        if operation == "GROUPREF_EXISTS":
            return self._either([argument[1], argument[2] or []])
        if operation in ("SUBPATTERN", "ATOMIC_GROUP"):
            return self.first_of(argument[-1] if operation == "SUBPATTERN" else argument)
        if operation in ("AT", "ASSERT", "ASSERT_NOT"):
            return frozenset(), True
        return (self.alphabet, True) if operation == "GROUPREF" else (self._characters(node), False)

    def _either(self, branches: Sequence[Sequence[Node]]) -> tuple[Characters, bool]:
        parts = [self.first_of(branch) for branch in branches]
        return frozenset().union(*(begin for begin, _ in parts)), any(empty for _, empty in parts)

    def _characters(self, node: Node) -> Characters:
        """The characters that a node for one character matches, in any case."""
        operation, argument = str(node[0]), node[1]
        if operation == "LITERAL":
            return _cases(chr(argument))
        if operation == "RANGE":
            inside = (_cases(c) for c in self.alphabet if argument[0] <= ord(c) <= argument[1])
            return frozenset().union(*inside)
        if operation == "CATEGORY":
            return self._category(str(argument))
        if operation == "IN":
            negated = bool(argument) and str(argument[0][0]) == "NEGATE"
            members = frozenset().union(*map(self._characters, argument[negated:]))
            return self.alphabet - members if negated else members
        return self.alphabet  # of ANY and NOT_LITERAL: a character too many does no harm

    def _category(self, name: str) -> Characters:
        kind = next(test for word, test in _KINDS.items() if name.endswith(word))
        inside = frozenset(filter(kind, self.alphabet))
        return self.alphabet - inside if "NOT" in name else inside


_KINDS: dict[str, Callable[[str], bool]] = {
    "DIGIT": str.isdecimal,
    "SPACE": str.isspace,
    "WORD": lambda character: character.isalnum() or character == "_",
}


def _cases(character: str) -> Characters:
    return frozenset({character, *character.lower(), *character.upper(), *character.casefold()})


def unknown_operations(thing: Any) -> Iterator[str]:
    """Operations of a parse tree that are none of the known ones."""
    if isinstance(thing, tuple) and len(thing) == 2 and is_operation(thing[0]) and str(thing[0]) not in _KNOWN:
        yield str(thing[0])
    for part in thing if isinstance(thing, list | tuple) or hasattr(thing, "data") else ():
        yield from unknown_operations(part)


def is_operation(thing: Any) -> bool:
    """Whether this is one of the named constants of `re`, not a number."""
    return isinstance(thing, int) and not str(thing).lstrip("-").isdecimal()


def _mentioned(thing: Any) -> set[str]:
    """The characters that an expression names, the ends of its ranges and what lies next to them."""
    if isinstance(thing, tuple) and len(thing) == 2 and str(thing[0]) in ("LITERAL", "NOT_LITERAL"):
        return {chr(thing[1])}
    if isinstance(thing, tuple) and len(thing) == 2 and str(thing[0]) == "RANGE":
        codes = (code + step for code in thing[1] for step in (-1, 0, 1))
        return {chr(code) for code in codes if 0 <= code < sys.maxunicode}
    parts = thing if isinstance(thing, list | tuple) or hasattr(thing, "data") else ()
    return set().union(*map(_mentioned, parts))
