"""Words of a text, with and without their case: tokenizers that highlights read from other libraries use."""

import re
from collections.abc import Callable, Iterable

_WORDS = re.compile(r"\w+(?:['’]\w+)*|[^\w\s]")


def split_words(text: str) -> list[str]:
    """The words of a text and its signs, each by itself.

    Examples
    --------
    >>> split_words("A dull plot, isn't it?")
    ['A', 'dull', 'plot', ',', "isn't", 'it', '?']
    """
    return _WORDS.findall(text)


def split_lower_words(text: str) -> list[str]:
    """The words of a text in lower case, and its signs.

    Examples
    --------
    >>> split_lower_words("Great!")
    ['great', '!']
    """
    return _WORDS.findall(text.lower())


# By the name under which a table stores them; a function of a caller's own cannot be stored.
TOKENIZERS: dict[str, Callable[[str], Iterable[str]]] = {
    "split": str.split,
    "words": split_words,
    "lower-words": split_lower_words,
}
