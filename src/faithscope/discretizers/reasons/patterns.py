"""The regular expressions of a codebook, searched in many texts, none of them without end.

Python's `re` reads what a caller writes; the library regex, which means the same and can be stopped, searches for it.
"""

import re
import time
import unicodedata
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from itertools import chain, pairwise
from math import prod
from typing import Any

import numpy as np

from faithscope.errors import BadInput, WrongType
from faithscope.inputs.array_types import Bools
from faithscope.inputs.folding import compatible

Node = tuple[Any, Any]  # an operation of `re._parser` and its argument

_LONGEST = 2_000  # characters of an expression
_SECONDS = 10.0  # that one expression may take for a batch of texts, of which it should take less than one
_MOST_COPIES = 10**5  # of one part of an expression, which the library writes out
_MOST_REQUIRED = 8  # texts of which one must occur in a match
_IN_NUMBERS = ".,:/%-"  # signs that folding keeps in numbers
_REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")
# Letters, digits, edges of words, sets of ASCII's letters and digits, branches, groups and repeats: no match of these
# reaches over white space or depends on what is beyond.
_WITHIN_WORD = re.compile(r"(?:\w|[-|)*+?]|\\[bdw]|\((?:\?:)?|\{[0-9]*,?[0-9]*\}|\[[A-Za-z0-9_]+(?:-[A-Za-z0-9]+)*\])+")
_OTHER_BRACE = re.compile(r"(?<!\\)(?<!\\N)\{(?![0-9]*,?[0-9]*\})")


@dataclass(frozen=True)
class Pattern:
    """A compiled expression.

    Attributes
    ----------
    expression : regex.Pattern
        What is searched for.
    required : tuple of str
        Texts in lower case of which one must occur in a match; empty if they are not known.
    within_word : bool
        Whether each match lies within one word, so that a text has one exactly if one of its words has.
    """

    name: str
    expression: Any
    required: tuple[str, ...]
    within_word: bool

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
        expression, tree = _compiled(written, called)
        if folded:
            _refuse_folded_signs(tree, text, called)
        return cls(name, expression, _required_texts(tree), _WITHIN_WORD.fullmatch(written) is not None)

    def among(self, texts: "Texts") -> list[bool]:
        """Which texts have a match."""
        matched = [False] * len(texts.written)
        began = time.monotonic()
        for place in texts.likely(self.required):
            left = max(began + _SECONDS - time.monotonic(), 0.0)
            try:
                matched[place] = self.expression.search(texts.written[place], timeout=left) is not None
            except TimeoutError:
                raise BadInput(
                    f"The codebook took {time.monotonic() - began:.0f} seconds for a few reasons, up to the pattern of "
                    f"{self.name!r}: bound its repeats, such as .{{0,100}}, or shorten the reasons."
                ) from None
        return matched


class Texts:
    """Texts that are searched, as written and in lower case."""

    def __init__(self, written: Sequence[str]) -> None:
        self.written = written

    @cached_property
    def _lower(self) -> list[str]:
        return [text.lower() for text in self.written]

    @cached_property
    def _strange(self) -> list[int]:
        return [place for place, text in enumerate(self._lower) if not text.isascii()]

    def likely(self, required: Sequence[str]) -> Iterable[int]:
        """Texts that have what a match takes, or letters of other scripts, which may match though written otherwise."""
        if not required:
            return range(len(self.written))
        found = (place for wanted in required for place, text in enumerate(self._lower) if wanted in text)
        return sorted({*found, *self._strange})


class WordMatches:
    """Which patterns each different word matches, found out when it is first met.

    Examples
    --------
    >>> words = WordMatches([Pattern.of("old", "old", folded=True), Pattern.of("red", "red", folded=True)])
    >>> words.among(["an old man", "", "a redder older man"]).tolist()
    [[True, False], [False, False], [True, True]]
    """

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        self._patterns = patterns
        self._numbers: dict[str, int] = {}
        self._bits = np.zeros((0, -(-len(patterns) // 8)), np.uint8)  # of each word, one per pattern

    def among(self, texts: Sequence[str]) -> Bools:
        """Which text has a match of which pattern."""
        if not self._patterns or not texts:
            return np.zeros((len(texts), len(self._patterns)), bool)
        words = [text.split() or [""] for text in texts]
        self._learn(dict.fromkeys(chain.from_iterable(words)))
        sizes = np.fromiter(map(len, words), np.int64, len(words))
        numbers = np.fromiter(map(self._numbers.__getitem__, chain.from_iterable(words)), np.int64, int(sizes.sum()))
        matched = np.bitwise_or.reduceat(self._bits[numbers], np.cumsum(sizes) - sizes, axis=0)
        return np.unpackbits(matched, axis=1, count=len(self._patterns)).astype(bool)

    def _learn(self, words: Iterable[str]) -> None:
        """Search the words that are new."""
        new = [word for word in words if word not in self._numbers]
        texts, mask = Texts(new), np.zeros((len(new), len(self._patterns)), bool)
        for column, pattern in enumerate(self._patterns):
            mask[:, column] = pattern.among(texts)
        self._numbers.update(zip(new, range(len(self._bits), len(self._bits) + len(new)), strict=True))
        self._bits = np.concatenate([self._bits, np.packbits(mask, axis=1)])


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


def _compiled(text: str, called: str) -> tuple[Any, list[Node]]:
    """The expression for regex, and its parse tree.

    What Python refuses is refused, and so is what the two would read differently: a set inside a set, and a brace that
    bounds no repeat, which regex takes for an allowance of misprints.
    """
    import regex  # here, since only codebooks need it

    if _OTHER_BRACE.search(text.replace(r"\\", "")):
        raise BadInput(f"{called}, {text!r}, has a {{ that bounds no repeat: write \\{{ to look for the sign itself.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", FutureWarning)
            re.compile(text, re.IGNORECASE)
            tree = _parsed(text)
        copies = prod(max(1, int(least)) for least in re.findall(r"\{([0-9]+)", text))
        if copies > _MOST_COPIES:
            raise BadInput(f"{called}, {text!r}, repeats a part more than {_MOST_COPIES:,} times: lower the numbers.")
        expression = regex.compile(text, regex.IGNORECASE | regex.VERSION0)
    except FutureWarning as problem:
        raise BadInput(f"{called}, {text!r}, is unclear ({problem}): write \\ before the sign that is meant.") from None
    except (re.error, regex.error, RecursionError, OverflowError, MemoryError) as problem:
        raise BadInput(f"{called}, {text!r}, is no regular expression of Python ({problem}): correct it.") from None
    return expression, tree


def _parsed(text: str) -> list[Node]:
    """The parse tree of an expression, empty in a Python that does not tell it: its parser is not public."""
    try:
        return list(import_module("re._parser").parse(text, re.IGNORECASE))
    except (ImportError, AttributeError, TypeError):
        return []


def _required_texts(nodes: Sequence[Node]) -> tuple[str, ...]:
    """Texts of which one must occur, in any case, wherever these nodes match; none if that cannot be told."""
    options: list[tuple[str, ...]] = [(run,) for run in _runs(nodes)]
    for node in nodes:
        branches = [_required_texts(branch) for branch in _branches(node)]
        options.append(tuple(text for texts in branches for text in texts) if all(branches) else ())
    known = [texts for texts in options if texts and len(texts) <= _MOST_REQUIRED]
    return max(known, key=lambda texts: (min(map(len, texts)), -len(texts)), default=())


def _branches(node: Node) -> list[Any]:
    """Sequences of nodes, one of which matches wherever the node does; none if that cannot be told."""
    operation, argument = str(node[0]), node[1]
    if operation == "BRANCH":
        return list(argument[1])
    if operation in _REPEATS and int(argument[0]) > 0:
        return [argument[2]]
    return [argument[-1]] if operation == "SUBPATTERN" else []


def _runs(nodes: Sequence[Node]) -> list[str]:
    """The runs of letters that follow each other, all of ASCII."""
    literal = [str(node[0]) == "LITERAL" and node[1] < 128 for node in nodes]
    ends = [0, *(j for j, (a, b) in enumerate(pairwise(literal), 1) if a != b), len(nodes)]
    pieces = [nodes[start:stop] for start, stop in pairwise(ends) if stop > start and literal[start]]
    return ["".join(chr(code) for _, code in piece).lower() for piece in pieces]


def _refuse_folded_signs(nodes: Sequence[Node], text: str, called: str) -> None:
    """Raise if an expression needs a sign that no folded text has, so that it, or a branch of it, never matches."""
    for node in nodes:
        if str(node[0]) == "LITERAL" and _is_folded(chr(node[1])):
            raise BadInput(
                f'{called}, {text!r}, looks for {chr(node[1])!r}, which folded texts do not have ("don\'t" is '
                "'dont'): leave it out, or pass folded=False to search texts as written."
            )
        for branch in _branches(node):
            _refuse_folded_signs(branch, text, called)


def _is_folded(character: str) -> bool:
    kind = unicodedata.category(character)
    return character not in _IN_NUMBERS and (kind[0] == "P" or kind in ("Cc", "Cf"))
