"""One regular expression of a codebook: compiled if it cannot take forever, and searched in many texts."""

import re
import unicodedata
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from math import inf
from typing import Any

from faithscope.discretizers.reasons.backtracking import (
    REPEATS,
    Ambiguous,
    Cost,
    Node,
    search_cost,
    unknown_operations,
)
from faithscope.discretizers.reasons.deadline import Deadline
from faithscope.discretizers.reasons.elsewhere import search_elsewhere
from faithscope.discretizers.reasons.shortcuts import is_within_word, required_texts
from faithscope.errors import BadInput, WrongType
from faithscope.inputs.folding import compatible

_LONGEST = 2_000  # characters of an expression
_FEWEST = 500  # characters of texts that every expression must be able to search
_TEXTS = 100  # after so many the deadline is checked
_IN_NUMBERS = ".,:/%-"  # signs that folding keeps in numbers
_ONE_WAY = r"so that the next character settles each step, such as (?:\w+\s)+ or, possessive, \w++"


@dataclass(frozen=True)
class Pattern:
    """A compiled expression.

    Attributes
    ----------
    required : tuple of str
        Texts in lower case of which one must occur in a match; empty if they are not known.
    within_word : bool
        Whether each match lies within one word, so that words can be searched in place of texts.
    longest, quick : float
        Texts longer than `longest` might take too long; those longer than `quick` are searched in a Python of their
        own, which can be stopped.
    """

    name: str
    expression: re.Pattern[str]
    required: tuple[str, ...]
    within_word: bool
    longest: float
    quick: float

    @classmethod
    def of(cls, name: str, text: Any, *, folded: bool) -> "Pattern":
        """The expression of a codebook, or one sentence why it cannot be used."""
        called = f"The pattern of {name!r}"
        if not isinstance(text, str):
            raise WrongType(f"{called} must be a text, a regular expression; got {text!r} ({type(text).__name__}).")
        if not text.strip():
            raise BadInput(f"{called} is empty, which matches everything: write what to look for.")
        if len(text) > _LONGEST:
            raise BadInput(f"{called} has {len(text):,} characters, more than {_LONGEST:,}: split it.")
        written = _folded_letters(text, called) if folded else text
        expression = _compiled(written, called)
        tree = _parsed(written, called)
        if tree is None:  # nothing is known of how long it takes
            return cls(name, expression, (), within_word=False, longest=inf, quick=0)
        if folded:
            _refuse_folded_signs(tree, text, called)
        within_word = not expression.flags & re.ASCII and is_within_word(tree)
        cost = _cost(tree, text, called)
        return cls(name, expression, required_texts(tree), within_word, cost.longest, cost.quick)

    def among(self, texts: Sequence[str], lower: Sequence[str], deadline: Deadline) -> list[bool]:
        """Which texts have a match; `lower` are the same texts in lower case."""
        search = self.expression.search
        matched = [False] * len(texts)
        likely = self._likely(lower) if self.required else range(len(texts))
        self._refuse_long([texts[place] for place in likely])
        slow: list[int] = []
        for number, place in enumerate(likely, 1):
            if len(texts[place]) > self.quick:
                slow.append(place)
                continue
            matched[place] = search(texts[place]) is not None
            if number % _TEXTS == 0 or len(texts[place]) * _TEXTS > self.quick:
                deadline.check(self.name)
        deadline.check(self.name)
        for place, has_match in zip(slow, self._elsewhere([texts[place] for place in slow], deadline), strict=True):
            matched[place] = has_match
        return matched

    def _elsewhere(self, texts: Sequence[str], deadline: Deadline) -> list[bool]:
        """Which of the texts that may take long have a match."""
        matched = search_elsewhere(self.expression, texts, deadline.left) if texts else []
        if matched is None:
            deadline.check(self.name)
            raise AssertionError("a search was stopped before its time")
        return matched

    def _likely(self, lower: Sequence[str]) -> list[int]:
        """Texts that have what a match takes, or letters of other scripts, which may match though written otherwise."""
        places = {place for wanted in self.required for place, text in enumerate(lower) if wanted in text}
        places.update(place for place, text in enumerate(lower) if not text.isascii())
        return sorted(places)

    def _refuse_long(self, texts: Sequence[str]) -> None:
        size = max(map(len, texts), default=0)
        if size > self.longest:
            raise BadInput(
                f"The pattern of {self.name!r} may take too long on a reason of {size:,} characters (it is safe up to "
                f"{int(self.longest):,}): shorten such reasons, or bound its repeats, such as .{{0,100}}."
            )


def _folded_letters(text: str, called: str) -> str:
    """The expression with letters as folded texts have them: ß as ss, and ſ as s."""
    if text.isascii():
        return text
    parts, in_set, escaped = [], False, False
    for character in unicodedata.normalize("NFC", text):
        folded = character if character.isascii() or not character.isalpha() else compatible(character)
        if in_set and len(folded) > 1:
            raise BadInput(
                f"{called}, {text!r}, has {character!r} inside [], which folded texts have as {folded!r}: write "
                f"(?:{folded}|...) in place of [{character}...]."
            )
        parts.append(f"(?:{folded})" if len(folded) > 1 else folded)
        if not escaped:
            in_set = character == "[" or (in_set and character != "]")
        escaped = character == "\\" and not escaped
    return "".join(parts)


def _compiled(text: str, called: str) -> re.Pattern[str]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # of sets inside sets
            return re.compile(text, re.IGNORECASE)
    except (re.error, RecursionError, OverflowError, MemoryError) as problem:
        raise BadInput(f"{called}, {text!r}, is no regular expression of Python ({problem}): correct it.") from None


def _parsed(text: str, called: str) -> list[Node] | None:
    """The parse tree of an expression; None in a Python that does not tell it, since its parser is not public."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            tree: list[Node] = list(import_module("re._parser").parse(text, re.IGNORECASE))
    except (ImportError, AttributeError, TypeError):
        return None
    except RecursionError:
        raise BadInput(f"{called} is nested too deeply: split it.") from None
    unknown = next(unknown_operations(tree), None)
    if unknown is not None:
        raise BadInput(f"{called}, {text!r}, uses {unknown}, which a codebook does not know: write it in another way.")
    return tree


def _cost(tree: list[Node], text: str, called: str) -> Cost:
    try:
        cost = search_cost(tree)
    except Ambiguous:
        raise BadInput(
            f"{called}, {text!r}, repeats something that can match the same text in several ways, which may take "
            f"forever: write it {_ONE_WAY}."
        ) from None
    except RecursionError:
        raise BadInput(f"{called} is nested too deeply: split it.") from None
    if cost.longest < _FEWEST:
        raise BadInput(
            f"{called}, {text!r}, leaves so many ways open that it may take forever: bound its repeats, such as "
            ".{0,30}, or split it."
        )
    return cost


def _refuse_folded_signs(nodes: Sequence[Node], text: str, called: str) -> None:
    """Raise if an expression needs a sign that no folded text has, so that it, or a branch of it, never matches."""
    for node in nodes:
        operation, argument = str(node[0]), node[1]
        if operation == "LITERAL" and _is_folded(chr(argument)):
            raise BadInput(
                f'{called}, {text!r}, looks for {chr(argument)!r}, which folded texts do not have ("don\'t" is '
                "'dont'): leave it out, or pass folded=False to search texts as written."
            )
        if operation in REPEATS and int(argument[0]) > 0:
            _refuse_folded_signs(argument[2], text, called)
        elif operation == "SUBPATTERN":
            _refuse_folded_signs(argument[-1], text, called)
        elif operation == "BRANCH":
            for branch in argument[1]:
                _refuse_folded_signs(branch, text, called)


def _is_folded(character: str) -> bool:
    kind = unicodedata.category(character)
    return character not in _IN_NUMBERS and (kind[0] == "P" or kind in ("Cc", "Cf"))
