"""Codebook: reasons as the names of the patterns that they match."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from faithscope.discretizers.base import Discretizer
from faithscope.discretizers.reasons.keys import OTHER, keys_of, text_digest, to_reasons
from faithscope.discretizers.reasons.patterns import Pattern
from faithscope.errors import BadInput, WrongType
from faithscope.explanations.base import Explanations, shorten
from faithscope.explanations.keys import Plain
from faithscope.explanations.rule_json import once
from faithscope.inputs.array_types import Bools, Ints, Names
from faithscope.inputs.arrays import to_objects
from faithscope.inputs.checks import check_flag, one_sentence
from faithscope.inputs.grouping import group
from faithscope.runtime.files import to_path

_BATCH = 2**20  # characters that are searched before each pattern gets new time
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
    _compiled: tuple[Pattern, ...] = field(compare=False)

    def __init__(self, patterns: Mapping[str, str], folded: bool = True) -> None:
        if not isinstance(patterns, Mapping) or not patterns:
            raise WrongType(f"Codebook takes a pattern per name, such as {_EXAMPLE}; got {patterns!r}.")
        check_flag(folded, "folded")
        named = tuple((_name(name), pattern) for name, pattern in patterns.items())
        compiled = tuple(Pattern.of(name, pattern, folded=folded) for name, pattern in named)
        self._fill(patterns=named, folded=bool(folded), _compiled=compiled)

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
        return cls(_read(path), folded)

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
        """Which text has a match of which pattern."""
        mask = np.zeros((len(texts), len(self._compiled)), bool)
        batches = np.cumsum([len(text) for text in texts]) // _BATCH
        for rows in np.split(np.arange(len(texts)), np.flatnonzero(np.diff(batches)) + 1):
            batch = [texts[row] for row in rows]
            for column, pattern in enumerate(self._compiled):
                mask[rows, column] = pattern.among(batch)
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


def _read(path: str | os.PathLike[str]) -> Any:
    """What a JSON file holds, each name once."""
    file = to_path(path)
    said = f"The codebook {str(file)!r} cannot be read as JSON (WHY): write {_EXAMPLE}."
    with one_sentence(said.replace("{", "{{").replace("}", "}}").replace("WHY", "{why}")):
        return json.loads(file.read_text(encoding="utf-8-sig"), object_pairs_hook=once)
