"""One rationale of a log, and the fields of whatever holds it: keys of a dict, or attributes of an object."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from faithscope.inputs.missing import is_missing

MISSING = "missing"  # the label of a missing answer that is kept


@dataclass(frozen=True)
class Entry:
    """One rationale of a log.

    Attributes
    ----------
    row : int
        Which row or line of the log it comes from.
    answer, rationale : object
        What was decided, and why; None if missing.
    input, id : object
        What it was decided about, and which case that is; None if the log does not say.
    name : str, optional
        Whose rationale it is, if a log holds those of several judges.
    """

    row: int
    answer: Any
    rationale: Any
    input: Any = None
    id: Any = None
    name: str | None = None


@dataclass(frozen=True)
class AskedFields:
    """What the caller says of a log: which judge's rationales, and which fields hold what."""

    name: str | None = None
    answer: str | None = None
    explanation: str | None = None
    input: str | None = None
    id: str | None = None

    def about(self, row: Any, usual_input: Any = None, usual_id: Any = None) -> dict[str, Any]:
        """The input and the id of a row: where the caller says, or the usual ones."""
        return {
            "input": usual_input if self.input is None else field(row, self.input),
            "id": usual_id if self.id is None else field(row, self.id),
        }


def with_absent(listed: Sequence[Entry], cases: Mapping[int, dict[str, Any]]) -> list[Entry]:
    """The entries, and an empty one for every case that lacks a rationale of a name that other cases have.

    Parameters
    ----------
    listed : sequence of Entry
    cases : mapping from row to the input and id of the case at that row
    """
    names: list[str | None] = list(dict.fromkeys(entry.name for entry in listed)) or [None]
    present = {(entry.row, entry.name) for entry in listed}
    absent = [
        Entry(row, None, None, **about, name=name)
        for row, about in cases.items()
        for name in names
        if (row, name) not in present
    ]
    return sorted([*listed, *absent], key=lambda entry: entry.row)


def field(thing: Any, path: str) -> Any:
    """The value of a field, or of a field of a field (``"value.a"``); None if it is missing.

    Examples
    --------
    >>> field({"value": {"a": 3}}, "value.a"), field({"value.a": 4}, "value.a"), field({}, "value")
    (3, 4, None)
    """
    value = _own(thing, path)
    if value is None and "." in path:
        first, _, rest = path.partition(".")
        inner = opened(_own(thing, first))
        return None if inner is None else field(inner, rest)
    return value


def _own(thing: Any, name: str) -> Any:
    value = thing.get(name) if isinstance(thing, Mapping) else None if _is_value(thing) else getattr(thing, name, None)
    return None if is_missing(value) or callable(value) else value


def _is_value(thing: Any) -> bool:
    return thing is None or isinstance(thing, str | bytes | int | float | list | tuple)


def has(thing: Any, *names: str) -> bool:
    """Whether a row has all these fields, missing or not."""
    if isinstance(thing, Mapping):
        return all(name in thing for name in names)
    return not _is_value(thing) and all(hasattr(thing, name) for name in names)


def first_field(thing: Any, names: Iterable[str]) -> Any:
    """The first of these fields that is not missing."""
    return next((value for name in names if (value := field(thing, name)) is not None), None)


def opened(value: Any) -> Any:
    """What the JSON text of an object or a list holds; anything else as it is."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "["):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value
