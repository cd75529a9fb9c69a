"""JSON inside a text, as language models write it: alone, in a fence, or with words around it."""

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from faithscope.explanations.structured.unreadable import Unreadable

_FENCE = re.compile(r"```[^\S\n]*(?:[\w+-]+[^\S\n]*)?\n?")  # how a fence begins
# Of an object, or of a list of objects or lists; as JSON, or as it is written by mistake: {'age': 3}, {age: 3}.
_START = re.compile(r"""\{\s*(?:["'\u201c]|\w+\s*:)|\[\s*[\[{](?:\s*["'\u201c])?""")
_BETWEEN = re.compile(r"(?:\s|[,;&*•-]|\band\b|\d+[.)])*", re.IGNORECASE)  # what joins the items of one list
_SPACE = re.compile(r"[\s,]*")
_MOST = 100  # brackets of a text that begin no JSON, after which it is given up


def json_values(text: str) -> list[Any]:
    """The outermost objects and lists of a text, in their order; raises `Unreadable` if none can be read.

    Of a text with fences that hold JSON, only these count.

    Examples
    --------
    >>> json_values('Because: {"feature": "age", "op": ">", "value": 60}.')
    [{'feature': 'age', 'op': '>', 'value': 60}]
    """
    values = [value for _, _, value in _placed(text)]
    whole = [value for value in values if not isinstance(value, Unreadable)]
    if values and not whole:
        raise values[0]
    return whole


def adjoining_values(text: str, wanted: Any) -> list[Any]:
    """The values of a text for which ``wanted(value)``.

    Raises if one that may be wanted is broken, or if other words than those of a list part them.
    """
    parts = _placed(text)
    for _, _, value in parts:
        if isinstance(value, Unreadable):
            raise value
    chosen = [part for part in parts if wanted(part[2])]
    for (_, end, _), (start, _, _) in pairwise(chosen):
        if not _BETWEEN.fullmatch(text, end, start):
            raise Unreadable(f"it holds {len(chosen)} pieces of JSON with words between, which may not be one rule")
    return [value for _, _, value in chosen]


def _placed(text: str) -> list[tuple[int, int, Any]]:
    """Where each value begins and ends, and the value, or why what begins like one is none."""
    start, end = len(text) - len(text.lstrip("\ufeff \t\r\n")), len(text.rstrip())
    if text[start : start + 1] in ("{", "["):
        whole = _decoded(text, start)
        if not isinstance(whole, Unreadable) and whole[1] == end:
            return [(start, end, whole[0])]
    fences, place = [], 0
    while (opening := _FENCE.search(text, place)) and (closing := text.find("```", opening.end())) >= 0:
        fences.append((opening.end(), closing))
        place = closing + 3
    holding = [fence for fence in fences if text[slice(*fence)].lstrip()[:1] in ("{", "[")]
    if not holding:
        return list(_scanned(text, 0))
    unclosed = opening.start() if opening else len(text)
    return [*(part for fence in holding for part in _in_fence(text, *fence)), *_scanned(text, unclosed)]


def _in_fence(text: str, place: int, end: int) -> Iterator[tuple[int, int, Any]]:
    """The values of one fence, which must hold nothing else."""
    while (place := _SPACE.match(text, place).end()) < end:  # type: ignore[union-attr]
        value = _decoded(text, place)
        if isinstance(value, Unreadable):
            raise value
        yield place, value[1], value[0]
        place = value[1]


def _scanned(text: str, place: int) -> Iterator[tuple[int, int, Any]]:
    """The values from here on, with words around them."""
    failures = 0
    while (match := _START.search(text, place)) is not None:
        value = _decoded(text, match.start())
        if not isinstance(value, Unreadable):
            yield match.start(), value[1], value[0]
            place = value[1]
            continue
        failures, place = failures + 1, match.start() + 1
        if failures > _MOST:
            raise Unreadable(f"it holds more than {_MOST} brackets that begin no JSON")
        if match[0][0] == "{" or match[0][-1] not in "[{":  # others may be a link or a footnote, [[1]
            yield match.start(), place, value


def _decoded(text: str, start: int) -> tuple[Any, int] | Unreadable:
    """The value that begins here and where it ends, or why there is none."""
    try:
        value, end = _DECODER.raw_decode(text, start)
    except RecursionError:
        return Unreadable("its JSON nests too deeply")
    except ValueError as why:
        return Unreadable(f"its JSON is broken ({why})")
    return value, end


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON; raises if a key stands twice, of which Python would keep the last without a word."""
    held = dict(pairs)
    if len(held) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {max(keys, key=keys.count)!r} stands twice in one object")
    return held


_DECODER = json.JSONDecoder(object_pairs_hook=once)
