"""Records of a file: JSON lines, JSON or CSV, in UTF-8, with or without a mark at its beginning."""

import csv
import io
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from faithscope.errors import BadInput
from faithscope.explanations.structured.json_texts import once

_LINES, _WHOLE, _CELLS = (".jsonl", ".ndjson"), (".json",), (".csv", ".tsv")
_LONGEST = 2**31 - 1  # characters of a cell; Python's own limit is 131,072


def read_file(path: Any) -> Any:
    """The records of a file, or the JSON that it holds."""
    place = Path(os.fspath(path))
    ending = place.suffix.lower()
    if ending not in (*_LINES, *_WHOLE, *_CELLS):
        advice = " (read it with inspect_ai.log.read_eval_log, and pass that)" if ending == ".eval" else ""
        known = ", ".join((*_LINES, *_WHOLE, *_CELLS))
        raise BadInput(f"Rationales are read from files that end in {known}; got {str(place)!r}{advice}.")
    try:
        content = place.read_bytes()
    except (OSError, ValueError) as why:
        raise BadInput(f"The file {str(place)!r} cannot be read ({why}): pass the path of a log.") from None
    content = content.removeprefix(b"\xef\xbb\xbf")
    if ending in _CELLS:
        return list(_cells(place.name, content))
    whole = _one_value(place.name, content) if ending in _WHOLE else None
    return list(_lines(place.name, content)) if whole is None else whole


def _one_value(name: str, content: bytes) -> Any:
    """The value of a file that holds one; None if it holds one per line, as some exports called .json do."""
    try:
        return json.loads(content, object_pairs_hook=once)
    except (ValueError, RecursionError):
        if content.lstrip()[:1] == b"[" or b"\n" not in content.strip():
            return [_value(name, 1, content)]
        return None


def _lines(name: str, content: bytes) -> Iterator[Any]:
    for number, line in enumerate(content.split(b"\n"), 1):
        if line.strip():
            yield _value(name, number, line)


def _value(name: str, number: int, line: bytes) -> Any:
    try:
        return json.loads(_decoded(name, number, line), object_pairs_hook=once)
    except RecursionError:
        why = "it nests too deeply"
    except ValueError as problem:
        if isinstance(problem, BadInput):
            raise
        why = str(problem)
    raise BadInput(f"Line {number:,} of {name} is no JSON ({why}): mend it, or leave it out if the log was cut short.")


def _decoded(name: str, number: int, line: bytes) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError as why:
        raise BadInput(f"Line {number:,} of {name} is not UTF-8 ({why.reason}): save the file in UTF-8.") from None


def _cells(name: str, content: bytes) -> Iterator[dict[str, Any]]:
    """The lines of a CSV file as dicts; an empty cell is missing."""
    text = "\n".join(_decoded(name, number, line) for number, line in enumerate(content.split(b"\n"), 1))
    header = text.partition("\n")[0]
    limit = csv.field_size_limit(_LONGEST)
    try:
        lines = csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=header.count), strict=True)
        names = next(lines, [])
        if len(set(names)) < len(names):
            raise BadInput(f"Two columns of {name} are called {max(names, key=names.count)!r}: rename one of them.")
        for line in lines:
            if line and len(line) != len(names):
                raise BadInput(
                    f"Line {lines.line_num:,} of {name} has {len(line)} cells, but there are {len(names)} columns."
                )
            if line:
                yield {column: cell or None for column, cell in zip(names, line, strict=True)}
    except csv.Error as why:
        raise BadInput(
            f"Line {lines.line_num:,} of {name} is no CSV ({why}): mend it, or save the log as JSON lines."
        ) from None
    finally:
        csv.field_size_limit(limit)
