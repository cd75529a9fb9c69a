"""Notes: what a reader should know before trusting a result, as texts that know their kind."""

from collections.abc import Iterable
from typing import Literal, cast

Kind = Literal["remark", "interval", "rows", "repeated", "restates", "dropped", "constant", "unasked", "unjudged"]
DOUBTS = frozenset({"interval", "rows", "repeated", "restates"})  # may look more faithful than they are
MAY_MISS = "the interval may miss the truth"  # what notes of the kind "interval" say; no verdict rests on it
TOO_HIGH = "the estimate tends to be too high"  # what notes of the kinds "rows" and "repeated" say
NO_MERIT = "perfect consistency is then no merit"  # what notes of the kind "restates" say, or
RESTATE = "restate the prediction if"


Notes = tuple[str, ...]  # what a reader should know: a `Note` each, or plain text


class Note(str):
    """A text with its kind, and with what to type at the command line in place of Python's arguments.

    Parameters
    ----------
    fact : str
        What was seen.
    kind : str
        "interval" if the interval may miss the truth, "rows" if rows are not independent of each other or of the
        explainer, "repeated" if whole rows repeat, "restates" if explanations may restate the prediction, "dropped" if
        rows were left out, "constant" if predictions do not vary, "unasked" if a guard would pass without a question,
        "unjudged" if it does not ask how high a measure is; anything else is a "remark".
    option : (str, str), optional
        Words of the advice, and those of the command line for them.
    advice : str
        What it means and what to do, which follows the fact after a colon.

    Examples
    --------
    >>> note = Note("2% of rows repeat", "repeated", ("clusters=", "--cluster"), "drop them, or pass clusters=")
    >>> note
    '2% of rows repeat: drop them, or pass clusters='
    >>> note.kind, note.typed()
    ('repeated', '2% of rows repeat: drop them, or pass --cluster')
    """

    fact: str
    kind: Kind
    option: tuple[str, str] | None

    def __new__(
        cls, fact: str, kind: Kind = "remark", option: tuple[str, str] | None = None, advice: str = ""
    ) -> "Note":
        """The text of the fact and the advice."""
        note = super().__new__(cls, f"{fact}: {advice}" if advice else fact)
        note.fact, note.kind, note.option = fact, kind, option
        return note

    def typed(self) -> "Note":
        """The same note for who types commands."""
        return Note(self.replace(*self.option), self.kind) if self.option else self


def reworded(note: str, text: str) -> str:
    """Another text of the same kind, such as what can be shown of the note."""
    return Note(text, note.kind, note.option) if isinstance(note, Note) else text


def of_kind(notes: Iterable[str], *kinds: Kind) -> tuple[Note, ...]:
    """The notes of some kinds, each once."""
    return tuple(dict.fromkeys(note for note in notes if isinstance(note, Note) and note.kind in kinds))


def doubts(notes: Iterable[str]) -> tuple[str, ...]:
    """The notes by which explanations may look more faithful than they are, each once.

    An assumption or the interval may not hold, or explanations may restate the prediction.
    """
    return of_kind(notes, *cast("frozenset[Kind]", DOUBTS))
