"""Tokens with a number each, as text explainers give them, as highlights of the words largest in size."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput
from faithscope.explanations.highlights import Highlights
from faithscope.explanations.tokenizers import split_lower_words, split_words
from faithscope.readers.shared.wanted import Wanted

_SPECIAL = re.compile(r"\[(?:CLS|SEP|PAD|UNK|MASK|BOS|EOS)\]|<[^<>\s]*>|<\|[^|]*\|>")
_STARTS = ("Ġ", "▁")  # before the first piece of a word, in byte-pair and SentencePiece vocabularies
_CONTINUES = "##"  # before a later piece of a word, in WordPiece vocabularies


def highlighted(tokens: Sequence[Iterable[str]], scores: Sequence[NDArray[Any]], wanted: Wanted) -> Highlights:
    """The words largest in size of every text, as many as are wanted.

    Pieces of a word count together, and so do its occurrences; among words of the same size the earlier one is kept; a
    word of size 0 is not highlighted. Special tokens, such as [CLS], are left out.

    Parameters
    ----------
    tokens : sequence of lists of str
        The tokens of each text.
    scores : sequence of (tokens,) arrays
        A number for each.
    """
    weighed = [_weighed(row, *pair) for row, pair in enumerate(zip(tokens, scores, strict=True))]
    lower = not any(word != word.lower() for words in weighed for word in words)
    tokenizer = split_lower_words if lower else split_words
    remark = f"highlights are the {wanted.tokens} words largest in size of every text"
    return Highlights([_largest(words, wanted.tokens) for words in weighed], tokenizer)._with(remarks=(remark,))


def _largest(words: dict[str, float], top: int) -> list[str]:
    said = [word for word, size in words.items() if size]
    return sorted(said, key=lambda word: -abs(words[word]))[:top]


def _weighed(row: int, tokens: Iterable[str], scores: NDArray[Any]) -> dict[str, float]:
    """Every word of a text with the sum of its tokens' numbers, in the order of the text."""
    pieces, numbers = list(map(str, tokens)), np.asarray(scores, np.float64).reshape(-1)
    if len(pieces) != len(numbers):
        raise BadInput(f"Row {row} has {len(pieces)} tokens but {len(numbers)} numbers: pass one number per token.")
    if not np.isfinite(numbers).all():
        raise BadInput(f"Row {row} has a number that is NaN or infinite: pass one finite number per token.")
    words: dict[str, float] = {}
    for word, number in _joined(pieces, numbers.tolist()):
        for part in split_words(word):
            words[part] = words.get(part, 0.0) + number
    return words


def _joined(pieces: Sequence[str], numbers: Sequence[float]) -> list[tuple[str, float]]:
    """Pieces of words put together, each word with the sum of their numbers."""
    marked = any(piece.startswith(_STARTS) for piece in pieces)
    spaced = not marked and any(piece != piece.rstrip() for piece in pieces)  # shap leaves the space after a word
    words: list[tuple[str, float]] = []
    for place, (piece, number) in enumerate(zip(pieces, numbers, strict=True)):
        if _SPECIAL.fullmatch(piece.strip()):
            continue
        text = piece.strip().removeprefix(_CONTINUES).lstrip("".join(_STARTS))
        later = piece.startswith(_CONTINUES) or (marked and not piece.startswith(_STARTS))
        later = later or (spaced and place > 0 and pieces[place - 1] == pieces[place - 1].rstrip())
        if later and words:
            words[-1] = words[-1][0] + text, words[-1][1] + number
        else:
            words.append((text, number))
    return words
