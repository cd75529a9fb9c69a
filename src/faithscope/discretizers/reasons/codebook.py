"""Codebook: reasons as the names of the patterns that they match.

Python's `re` reads what a caller writes; the library regex, which means the same and can be stopped, searches for it.
"""

import json
import os
import re
import time
import unicodedata
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

from faithscope.discretizers.base import Discretizer
from faithscope.discretizers.reasons import OTHER, keys_of, text_digest, to_reasons
from faithscope.errors import BadInput, WrongType
from faithscope.explanations.base import Explanations
from faithscope.explanations.keys import Plain
from faithscope.explanations.rule_json import once
from faithscope.inputs.array_types import Bools, Ints, Names
from faithscope.inputs.arrays import to_objects
from faithscope.inputs.checks import check_flag
from faithscope.inputs.documents import compatible
from faithscope.inputs.grouping import group
from faithscope.runtime.files import to_path
from faithscope.words import shorten

_SECONDS = 10.0  # that one pattern may take for a batch of texts, of which it should take less than one
_BATCH = 2**20  # characters
_MOST_COPIES = 10**5  # of one part of an expression, which the library writes out
_QUOTES = re.compile("['\"’“”]")  # which no folded text has
_OTHER_BRACE = re.compile(r"(?<!\\)(?<!\\N)\{(?![0-9]*,?[0-9]*\})")
_SHOWN = 6  # names that the repr writes out
_EXAMPLE = '{"negation": "not|never", "cause": "because|since"}'


@dataclass(frozen=True, init=False, repr=False)
class Codebook(Discretizer):
    r"""The set of names whose patterns a reason matches; "other" if it matches none.

    Patterns are regular expressions of Python, found anywhere in the text, in any case: write ``\b`` for the edge of a
    word. Some expressions, such as ``(a|aa)+b``, would take forever on some texts: a search that takes too long is
    stopped, with an error that names the pattern.

    Parameters
    ----------
    patterns : mapping from str to str
        A regular expression by the name of what it finds.
    folded : bool
        Whether texts are searched as they are compared: in lower case, without punctuation, "don't" as "dont". If not,
        they are searched as written, and reasons that differ in punctuation alone may get different names.

    Examples
    --------
    >>> from faithscope import Reasons
    >>> codebook = Codebook({"negation": r"\bnot?\b|\bnever\b", "cause": "because|since"})
    >>> codebook(Reasons(["Not so, because it rains.", "He sleeps."])).values.tolist() == [
    ...     frozenset({"negation", "cause"}), frozenset({"other"})]
    True
    """

    patterns: tuple[tuple[str, str], ...]
    folded: bool
    _compiled: tuple[Any, ...] = field(compare=False)

    def __init__(self, patterns: Mapping[str, str], folded: bool = True) -> None:
        if not isinstance(patterns, Mapping) or not patterns:
            raise WrongType(f"Codebook takes a pattern per name, such as {_EXAMPLE}; got {patterns!r}.")
        named = tuple((_name(name), pattern) for name, pattern in patterns.items())
        folded = check_flag(folded, "folded")
        compiled = tuple(_compiled(f"The pattern of {name!r}", pattern, folded) for name, pattern in named)
        self._fill(patterns=named, folded=folded, _compiled=compiled)

    @classmethod
    def load(cls, path: str | os.PathLike[str], folded: bool = True) -> "Codebook":
        """The codebook in a JSON file: one object with a pattern per name.

        Examples
        --------
        >>> import json, pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = pathlib.Path(folder, "codes.json")
        ...     _ = file.write_text(json.dumps({"cause": "because|since"}))
        ...     Codebook.load(file)
        Codebook({'cause': 'because|since'})
        """
        file = to_path(path)
        try:
            patterns = json.loads(file.read_text(encoding="utf-8-sig"), object_pairs_hook=once)
        except (OSError, ValueError, RecursionError) as why:
            told = f"{type(why).__name__}: {why}"
            raise BadInput(f"The codebook {str(file)!r} cannot be read as JSON ({told}): write {_EXAMPLE}.") from why
        return cls(patterns, folded)

    @property
    def names(self) -> Names:
        """The names, in the order in which they were given."""
        return tuple(name for name, _ in self.patterns)

    def __call__(self, explanations: Explanations) -> Plain:
        reasons = to_reasons(self, explanations)
        texts = reasons.folded if self.folded else reasons.texts
        codes, first = group([texts])
        mask, names = self._matches(texts[first].tolist()), to_objects(self.names)
        kinds, earliest = group([mask.astype(np.uint8)])
        sets = to_objects([frozenset(names[row]) or OTHER for row in mask[earliest]])
        rows = mask.T.astype(np.int64) @ np.bincount(codes, minlength=len(first))
        return keys_of(sets[kinds][codes], reasons, self._notes(rows, len(reasons)))

    def _matches(self, texts: Sequence[str]) -> Bools:
        """Which text has a match of which pattern; a search that takes too long is stopped."""
        mask = np.zeros((len(texts), len(self._compiled)), bool)
        batches = np.cumsum([len(text) for text in texts]) // _BATCH
        for rows in np.split(np.arange(len(texts)), np.flatnonzero(np.diff(batches)) + 1):
            batch = [texts[row] for row in rows]
            for column, expression in enumerate(self._compiled):
                began = time.monotonic()
                try:
                    mask[rows, column] = [
                        bool(expression.search(text, timeout=max(began + _SECONDS - time.monotonic(), 0.0)))
                        for text in batch
                    ]
                except TimeoutError:
                    raise BadInput(
                        f"The codebook took {time.monotonic() - began:.0f} seconds for a few reasons, up to the "
                        f"pattern of {self.names[column]!r}: bound its repeats, such as .{{0,100}}, or shorten the "
                        "reasons."
                    ) from None
        return mask

    def _notes(self, rows: Ints, n: int) -> tuple[str, ...]:
        """What a reader should know of patterns that tell no two reasons apart."""
        everywhere, nowhere = (
            [name for name, hits in zip(self.names, rows, strict=True) if hits == many] for many in (n, 0)
        )
        told = ((everywhere * (n > 1), "every reason, so that it tells nothing"), (nowhere, "no reason"))
        return tuple(f"the codebook's {_listed(names)} {what}" for names, what in told if names)

    def __repr__(self) -> str:
        shown = str(dict(self.patterns))
        if len(self.patterns) > _SHOWN:
            names = ", ".join(self.names[:_SHOWN])
            shown = f"<{len(self.patterns):,} patterns: {names}, …; digest {text_digest(shown)}>"
        return f"Codebook({shown}{'' if self.folded else ', folded=False'})"


def _name(name: object) -> str:
    if not isinstance(name, str) or not name.strip():
        raise WrongType(f"The names of a codebook must be texts; got {name!r}.")
    if name in OTHER:
        raise BadInput(f"The name {name!r} is kept for reasons that match no pattern: give the pattern another name.")
    return name


def _listed(names: Sequence[str]) -> str:
    shown = shorten(list(map(repr, names)), _SHOWN)
    return f"pattern {shown} matches" if len(names) == 1 else f"patterns {shown} match"


def _compiled(called: str, text: Any, folded: bool) -> Any:
    """The expression for regex, or one sentence why it cannot be used.

    What Python refuses is refused, and so is what the two would read differently: a set inside a set, and a brace that
    bounds no repeat, which regex takes for an allowance of misprints.
    """
    import regex  # here, since only codebooks need it

    if not isinstance(text, str):
        raise WrongType(f"{called} must be a text, a regular expression; got {text!r} ({type(text).__name__}).")
    if not text.strip():
        raise BadInput(f"{called} is empty, which matches everything: write what to look for.")
    if folded:
        sign = _QUOTES.search(text)
        if sign is not None:
            raise BadInput(
                f"{called}, {text!r}, looks for {sign[0]!r}, which folded texts do not have (don't is dont there): "
                "leave it out, or pass folded=False to search texts as written."
            )
        text = _folded_letters(text, called)
    if _OTHER_BRACE.search(text.replace(r"\\", "")):
        raise BadInput(f"{called}, {text!r}, has a {{ that bounds no repeat: write \\{{ to look for the sign itself.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", FutureWarning)
            re.compile(text, re.IGNORECASE)
        copies = prod(max(1, int(least)) for least in re.findall(r"\{([0-9]+)", text))
        if copies > _MOST_COPIES:
            raise BadInput(f"{called}, {text!r}, repeats a part more than {_MOST_COPIES:,} times: lower the numbers.")
        return regex.compile(text, regex.IGNORECASE | regex.VERSION0)
    except FutureWarning as problem:
        raise BadInput(f"{called}, {text!r}, is unclear ({problem}): write \\ before the sign that is meant.") from None
    except (re.error, regex.error, RecursionError, OverflowError, MemoryError) as problem:
        raise BadInput(f"{called}, {text!r}, is no regular expression of Python ({problem}): correct it.") from None


def _folded_letters(text: str, called: str) -> str:
    """The expression with letters as folded texts have them: ß as ss, and ſ as s."""
    letters = unicodedata.normalize("NFC", text)
    folded = [letter if letter.isascii() or not letter.isalpha() else compatible(letter) for letter in letters]
    long = next((pair for pair in zip(letters, folded, strict=True) if len(pair[1]) > 1), None)
    if long is not None and "[" in letters:
        raise BadInput(
            f"{called}, {text!r}, has {long[0]!r} beside [], which folded texts have as {long[1]!r}: write "
            f"(?:{long[1]}) for it."
        )
    return "".join(letter if len(letter) == 1 else f"(?:{letter})" for letter in folded)
