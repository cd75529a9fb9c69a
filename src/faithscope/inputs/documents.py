"""Documents as texts, and texts as words."""

from collections.abc import Callable, Iterable
from typing import Any

from faithscope.errors import WrongType
from faithscope.inputs.arrays import to_vector
from faithscope.inputs.checks import check_function

Tokenizer = Callable[[str], Iterable[str]]


def to_documents(X: Any) -> list[str]:
    """Documents as a list of strings; raises if one is not a text."""
    documents: list[Any] = to_vector(X, "Documents").tolist()
    wrong = next((row for row, document in enumerate(documents) if not isinstance(document, str)), None)
    if wrong is not None:
        raise WrongType(f"Documents must be texts; row {wrong} is {documents[wrong]!r}. Fill or drop such rows.")
    return documents


def words_of(tokenizer: Any, text: str) -> list[str]:
    """The words of a text, by a caller's tokenizer, whose answer is checked."""
    tokens = check_function(tokenizer, "tokenizer", "text")(text)
    words: list[Any] = list(tokens) if hasattr(tokens, "__iter__") else [None]
    if not all(isinstance(word, str) for word in words):
        raise WrongType(f"The tokenizer must give words; for {text!r} it gave {tokens!r}.")
    return words
