"""What makes searching for a regular expression fast: texts that must occur in a match, and matches within one word."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from faithscope.discretizers.reasons.backtracking import REPEATS, Node, is_operation

_SPACES = tuple(code for code in range(0x3001) if chr(code).isspace())  # all that there are
_ELSEWHERE = ("ANY", "NOT_LITERAL", "ASSERT", "ASSERT_NOT", "GROUPREF_EXISTS")


def required_texts(nodes: Sequence[Node], most: int = 8) -> tuple[str, ...]:
    """Texts of which one must occur, in any case, wherever these nodes match; none if that cannot be told."""
    options: list[tuple[str, ...]] = [(run,) for run in _runs(nodes)]
    for node in nodes:
        operation, argument = str(node[0]), node[1]
        if operation == "SUBPATTERN":
            options.append(required_texts(argument[-1], most))
        elif operation in REPEATS and int(argument[0]) > 0:
            options.append(required_texts(argument[2], most))
        elif operation == "BRANCH":
            branches = [required_texts(branch, most) for branch in argument[1]]
            options.append(tuple(text for texts in branches for text in texts) if all(branches) else ())
    known = [texts for texts in options if texts and len(texts) <= most]
    return max(known, key=lambda texts: (min(map(len, texts)), -len(texts)), default=())


def _runs(nodes: Sequence[Node]) -> list[str]:
    """The runs of letters that follow each other, all of ASCII."""
    literal = [str(node[0]) == "LITERAL" and node[1] < 128 for node in nodes]
    ends = [0, *(j for j, (a, b) in enumerate(pairwise(literal), 1) if a != b), len(nodes)]
    pieces = [nodes[start:stop] for start, stop in pairwise(ends) if stop > start and literal[start]]
    return ["".join(chr(code) for _, code in piece).lower() for piece in pieces]


def is_within_word(thing: Any) -> bool:
    """Whether a match lies between two spaces and depends on nothing beyond them.

    Then a text has a match exactly if one of the words has that are left if it is split at white space.
    """
    if not isinstance(thing, tuple) or len(thing) != 2 or not is_operation(thing[0]):
        parts = thing if isinstance(thing, list | tuple) or hasattr(thing, "data") else ()
        return all(map(is_within_word, parts))
    operation, argument = str(thing[0]), thing[1]
    if operation == "LITERAL":
        return argument not in _SPACES
    if operation == "RANGE":
        return not any(argument[0] <= code <= argument[1] for code in _SPACES)
    if operation == "CATEGORY":
        return str(argument) in ("CATEGORY_WORD", "CATEGORY_DIGIT", "CATEGORY_NOT_SPACE")
    if operation == "AT":
        return str(argument) == "AT_BOUNDARY"
    if operation == "SUBPATTERN" and argument[1] & re.ASCII:
        return False  # its \S matches spaces of other scripts
    return operation not in (*_ELSEWHERE, "NEGATE") and is_within_word(argument)
