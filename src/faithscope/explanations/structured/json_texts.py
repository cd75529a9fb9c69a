"""JSON inside a text, as language models write it: alone, in a fence, or with words around it."""

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from faithscope.explanations.structured.unreadable import Unreadable

_FENCE = re.compile(r"```[^\S\n]*[\w+-]*[^\S\n]*\n?(.*?)```", re.DOTALL)
_START = re.compile(r'\{\s*"|\[\s*[\[{]')  # of an object, or of a list of objects or lists
_BETWEEN = re.compile(r"(?:\s|[,;&*•-]|\band\b|\d+[.)])*", re.IGNORECASE)  # what joins the items of one list
_SPACE = re.compile(r"[\s,]*")
_MOST = 100  # brackets of a text that begin no JSON, after which it is given up


def json_values(text: str) -> list[Any]:
    """The outermost objects and lists of a text, in their order; raises `Unreadable` if they cannot be told.

    Of a text with fences that hold JSON, only these count.

    Examples
    --------
    >>> json_values('Because: {"feature": "age", "op": ">", "value": 60}.')
    [{'feature': 'age', 'op': '>', 'value': 60}]
    """
    return [value for _, _, value in _placed(text)]


def adjoining_values(text: str, wanted: Any) -> list[Any]:
    """The values of a text for which ``wanted(value)``; raises if other words than those of a list part them."""
    chosen = [part for part in _placed(text) if wanted(part[2])]
    for (_, end, _), (start, _, _) in pairwise(chosen):
        if not _BETWEEN.fullmatch(text, end, start):
            raise Unreadable(f"it holds {len(chosen)} pieces of JSON with words between, which may not be one rule")
    return [value for _, _, value in chosen]


def _placed(text: str) -> list[tuple[int, int, Any]]:
    """Where each value begins and ends, and the value."""
    start, end = len(text) - len(text.lstrip("\ufeff \t\r\n")), len(text.rstrip())
    if text[start : start + 1] in ("{", "["):
        whole = _decoded(text, start)
        if not isinstance(whole, Unreadable) and whole[1] == end:
            return [(start, *reversed(whole))]
    fenced = [match for match in _FENCE.finditer(text) if match[1].lstrip()[:1] in ("{", "[")]
    if fenced:
        return [part for match in fenced for part in _in_fence(text, match)]
    return list(_scanned(text))


def _in_fence(text: str, match: "re.Match[str]") -> list[tuple[int, int, Any]]:
    """The values of one fence, which must hold nothing else."""
    place, values = _SPACE.match(text, match.start(1)).end(), []  # type: ignore[union-attr]
    while place < match.end(1):
        value = _decoded(text, place)
        if isinstance(value, Unreadable):
            raise value
        values.append((place, value[1], value[0]))
        place = _SPACE.match(text, value[1]).end()  # type: ignore[union-attr]
    return values


def _scanned(text: str) -> Iterator[tuple[int, int, Any]]:
    place, failures = 0, 0
    last: Unreadable | None = None
    reached = False
    while (match := _START.search(text, place)) is not None:
        value = _decoded(text, match.start())
        if isinstance(value, Unreadable):
            last, failures, place = value, failures + 1, match.start() + 1
            if failures > _MOST:
                raise Unreadable(f"it holds more than {_MOST} brackets that begin no JSON")
            continue
        reached, place = True, value[1]
        yield match.start(), value[1], value[0]
    if last is not None and not reached:
        raise last


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
