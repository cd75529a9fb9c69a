"""Tokens with a number each, of captum, ferret, inseq and interpreto, as highlights of the words largest in size."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from faithscope.errors import BadInput
from faithscope.explanations.highlights import Highlights
from faithscope.explanations.tokenizers import split_lower_words, split_words
from faithscope.inputs.tensors import to_host
from faithscope.readers.wanted import Wanted

_TOP = 5  # words that are highlighted if the caller does not say how many
_SPECIAL = re.compile(r"\[(?:CLS|SEP|PAD|UNK|MASK|BOS|EOS)\]|<[^<>\s]*>|<\|[^|]*\|>")
_STARTS = ("Ġ", "▁")  # before the first piece of a word, in byte-pair and SentencePiece vocabularies
_CONTINUES = "##"  # before a later piece of a word, in WordPiece vocabularies

Parts = tuple[Iterable[str], Any]  # the tokens of one text, and an array of a number for each, or of one per class


def highlighted(texts: Iterable[Parts], wanted: Wanted) -> Highlights:
    """The words largest in size of every text, as many as are wanted.

    Pieces of a word count together, and so do its occurrences; among words of the same size the earlier one is kept; a
    word of size 0 is not highlighted. Special tokens, such as [CLS], are left out.

    Parameters
    ----------
    texts : iterable of (tokens, numbers)
        The tokens of each text, and numbers of shape (tokens,) or (tokens, classes).
    """
    weighed = [_weighed(row, list(tokens), numbers, wanted) for row, (tokens, numbers) in enumerate(texts)]
    lower = all(word == word.lower() for words in weighed for word in words)
    top = wanted.top or _TOP
    largest = [
        sorted((word for word, size in words.items() if size), key=lambda word: -abs(words[word]))[:top]
        for words in weighed
    ]
    highlights = Highlights(largest, split_lower_words if lower else split_words)
    return highlights._with(remarks=(f"highlights are the {top} words largest in size of every text",))


def _weighed(row: int, pieces: list[str], given: Any, wanted: Wanted) -> dict[str, float]:
    """Every word of a text with the sum of its tokens' numbers, in the order of the text."""
    numbers = np.asarray(given, np.float64)
    if numbers.ndim == 2:
        numbers = numbers[:, wanted.position(numbers.shape[1])]
    else:
        wanted.refuse("these explanations are of one class", "class_index")
    if not all(isinstance(piece, str) for piece in pieces):
        raise BadInput(f"The tokens of row {row} are no texts: decode them first.")
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
    ended = True
    for piece, number in zip(pieces, numbers, strict=True):
        glued, ended = spaced and not ended, piece != piece.rstrip()
        if _SPECIAL.fullmatch(piece.strip()):
            continue
        text = piece.strip().removeprefix(_CONTINUES).lstrip("".join(_STARTS))
        later = glued or piece.startswith(_CONTINUES) or (marked and not piece.startswith(_STARTS))
        if later and words:
            words[-1] = words[-1][0] + text, words[-1][1] + number
        else:
            words.append((text, number))
    return words


# -- libraries: the tokens of the object of one text, and a number for each -------------------------------------------


def captum(row: Any) -> Parts:
    """Of `LLMAttributionResult`: what the whole answer owes to each token of the prompt."""
    return row.input_tokens, to_host(row.seq_attr)


def ferret(row: Any) -> Parts:
    """Of ferret: the scores of one method, for one target."""
    return row.tokens, row.scores


def inseq(row: Any) -> Parts:
    """Of inseq: tokens of the source, or of the prompt if there is no source, over all that was generated."""
    if row.source_attributions is not None:
        tokens, values = row.source, to_host(row.source_attributions)
    else:  # a model without an encoder: what was generated is explained by the prompt before it
        start = int(row.attr_pos_start)
        tokens, values = row.target[:start], to_host(row.target_attributions)[:start]
    if values.ndim == 3:  # a number per dimension of the embedding: inseq takes the norm, too
        values = np.linalg.norm(values, axis=2)
    return [str(getattr(token, "token", token)) for token in tokens], np.nansum(values, axis=1)


def interpreto(row: Any) -> Parts:
    """Of interpreto: attributions are (elements,) or (classes, elements)."""
    return row.elements, to_host(row.attributions).T
