"""The numbers of a result's `to_dict` under flat names, as experiment trackers take them."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from faithscope.explanations.base import readable

_MEASURED = {"value", "low", "high", "unverifiable", "verified", "chance", "n", "others", "agreeing", "seen"}
_SETTINGS = {"name", "explainer", "discretizer", "subject", "method", "agreement", "confidence", "seed", "every", "n"}
_BY_GROUP = ("sufficiency_populations", "necessity_populations")
_NO_NUMBERS = {"seed", "confidence", "mean", "prediction", "group", "a", "b", "window"}
_NOT_ASKED = {
    *_BY_GROUP,
    "populations",
    "windows",
    "differences",
    "difference",
    "backtest",
    *("others", "agreeing", "seen"),
}
_SHORTER = {"evaluations": "", "groups": "", "estimates": "", "estimate": ""} | dict.fromkeys(_BY_GROUP, "populations")
_UNNAMEABLE = re.compile(r"[^\w \-:]")
_LONGEST = 80  # characters of one part of a name


class FlatNumber(NamedTuple):
    """One number under its name; None if it is undefined. `step` counts windows of time and points of a curve."""

    name: str
    value: float | None
    step: int = 0


class _Leaf(NamedTuple):
    """A value that is neither a mapping nor a list: its path, its own name, its place in a list, and what it is of."""

    path: str
    name: str
    value: Any
    step: int
    listed: bool
    measured: bool  # one of the numbers of a measure


def flat_numbers(told: Mapping[str, Any], prefix: str) -> Iterator[FlatNumber]:
    """Every measured number of a result.

    Parameters
    ----------
    told : mapping
        A result's `to_dict`.
    prefix : str
        What every name begins with.

    Examples
    --------
    >>> from faithscope import consistency
    >>> told = consistency(["old", "old", "young"], [1, 1, 0]).to_dict()
    >>> [(number.name, round(number.value, 2)) for number in flat_numbers(told, "faithscope")][:2]
    [('faithscope.consistency.value', 0.67), ('faithscope.consistency.low', 0.0)]
    """
    for leaf in _leaves(told, (prefix,)):
        value, undefined = leaf.value, leaf.value is None and leaf.name not in _NOT_ASKED
        number = isinstance(value, int | float) and not isinstance(value, bool)
        known = leaf.name in _MEASURED if leaf.measured else leaf.name not in _NO_NUMBERS
        if known and (number or undefined):
            yield FlatNumber(leaf.path, float(value) if number and math.isfinite(value) else None, leaf.step)


def settings(told: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, str]]:
    """Names and values of what was measured and how: explainer, discretizer, number of rows, method, agreement."""
    for leaf in _leaves(told, (prefix,)):
        if leaf.name in _SETTINGS and leaf.value is not None and not leaf.listed:
            yield leaf.path, str(leaf.value)


def _leaves(told: Mapping[str, Any], path: tuple[str, ...], step: int = 0, listed: bool = False) -> Iterator[_Leaf]:
    """All values; of a list named by group, discretizer or pair if it has such names, otherwise counted as steps."""
    measured = "measure" in told  # these are the numbers of a measure, whose name ends the path
    path = _longer(path, *nameable([told["measure"]])) if measured else path
    for label, (name, value) in zip(nameable(list(told)), told.items(), strict=True):
        further = _longer(path, _SHORTER.get(name, label))
        if isinstance(value, Mapping):
            yield from _leaves(value, further, step, listed)
        elif not isinstance(value, list):
            yield _Leaf(".".join([*path, label]), name, value, step, listed, measured)
        elif "groups" not in told or name not in ("differences", "lower"):
            names = [_name_of(item) if isinstance(item, Mapping) else "" for item in value]
            labels = iter(nameable(list(filter(None, names))))
            for place, (item, own) in enumerate(zip(value, names, strict=True)):
                if isinstance(item, Mapping):
                    yield from _leaves(item, (*further, next(labels)) if own else further, 0 if own else place, True)
                elif item is not None:
                    yield _Leaf(".".join(further), "", item, place, True, False)


def _longer(path: tuple[str, ...], word: str) -> tuple[str, ...]:
    return (*path, word) if word and path[-1] != word else path


def _name_of(item: Mapping[str, Any]) -> str:
    if "group" in item:
        group = item["group"]
        return readable(tuple(group) if isinstance(group, list) else group) or "(empty)"
    if "a" in item and "b" in item:  # of two that are alike neither is subtracted
        return f"{readable(item['a'])} {'and' if 'same' in item else 'less'} {readable(item['b'])}"
    return str(item.get("discretizer", ""))


def nameable(names: Sequence[str]) -> list[str]:
    """Names of letters, digits, spaces, dashes, colons and underscores, no two alike whatever their case.

    Examples
    --------
    >>> nameable(["a|b", "a/b", "A_b", "37.5"])
    ['a_b', 'a_b-2', 'A_b-3', '37_5']
    """
    taken: set[str] = set()
    unique = []
    for name in names:
        plain = _UNNAMEABLE.sub("_", name)[:_LONGEST].strip() or "_"
        label, number = plain, 1
        while label.casefold() in taken:
            number += 1
            label = f"{plain}-{number}"
        taken.add(label.casefold())
        unique.append(label)
    return unique
