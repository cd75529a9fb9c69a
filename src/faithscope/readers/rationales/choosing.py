"""Which entries of a log are measured: those of one name, with an answer and a rationale."""

from collections.abc import Mapping, Sequence
from typing import Any

from faithscope.errors import BadInput, UnknownName
from faithscope.explanations.base import several
from faithscope.inputs.hints import hint
from faithscope.readers.rationales.entries import MISSING, AskedFields, Entry

_PARTS = {"answer": "answer", "explanation": "rationale", "input": "input", "id": "id"}


def of_name(listed: Sequence[Entry], name: str | None) -> list[Entry]:
    """The entries of one name: the one asked for, or the only one that has rationales."""
    names = list(dict.fromkeys(entry.name for entry in listed if entry.name is not None))
    telling = list(
        dict.fromkeys(entry.name for entry in listed if entry.name is not None and entry.rationale is not None)
    )
    if name is None:
        if len(telling) > 1:
            shown = ", ".join(map(repr, telling[:12]))
            raise BadInput(f"The log holds rationales by {shown}: choose one, such as name={telling[0]!r}.")
        nameless = sum(entry.name is None and entry.rationale is not None for entry in listed)
        if telling and nameless:
            count = several(nameless, "rationale", "rationales")
            raise BadInput(f"The log holds {count} of nobody beside those by {telling[0]!r}: pass name={telling[0]!r}.")
        name = next(iter(telling or names), None)
    elif name not in names:
        raise UnknownName(f"The log holds no rationales by {name!r}. {hint(name, names)}")
    return [entry for entry in listed if entry.name == name]


def refuse_unknown(listed: Sequence[Entry], asked: AskedFields, rows: Sequence[Any]) -> None:
    """Raise if no row holds anything in a field that the caller names, such as one whose name is misspelled."""
    for option, part in _PARTS.items():
        given = getattr(asked, option)
        if given is not None and listed and all(getattr(entry, part) is None for entry in listed):
            names = dict.fromkeys(str(name) for row in rows if isinstance(row, Mapping) for name in row)
            raise UnknownName(
                f"No row of the log holds anything in the field {given!r}, {option}=. {hint(given, names)}"
            )


def present(listed: Sequence[Entry], nulls: str) -> tuple[list[Entry], tuple[str, ...]]:
    """The entries with an answer and a rationale, and a remark on the others."""
    missing = [entry for entry in listed if entry.answer is None or entry.rationale is None]
    if not missing:
        return list(listed), ()
    count = f"{len(missing):,} of {several(len(listed), 'row', 'rows')} without an answer or a rationale"
    what = " and ".join(f"its {word}" for word in ("answer", "rationale") if getattr(missing[0], word) is None)
    kept = [entry for entry in listed if entry.answer is not None and entry.rationale is not None]
    if nulls == "error" and kept:
        first = f"the first is row {missing[0].row}, without {what}"
        raise BadInput(f'The log has {count}; {first}: pass nulls="drop" to leave such rows out.')
    if nulls == "key":
        return list(listed), (f'{count} were kept, with an empty rationale or the answer "{MISSING}"',)
    if not kept:
        raise BadInput(f"The log has {count}, so no row is left to measure: read one that holds both.")
    return kept, (f"{count} were left out",)
