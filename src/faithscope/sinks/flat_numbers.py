"""The numbers of a result's `to_dict` under flat names, as experiment trackers take them."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from faithscope.explanations.base import readable

_MEASURED = frozenset({"value", "low", "high", "unverifiable", "verified", "chance", "n"})
_MEASURED_LOCALLY = frozenset({"others", "agreeing", "seen"})
_SETTINGS = frozenset(
    {
        "name",
        "explainer",
        "discretizer",
        "subject",
        "method",
        "agreement",
        "confidence",
        "seed",
        "every",
        "n",
    }
)
_BY_GROUP = ("sufficiency_populations", "necessity_populations")
_NOT_ASKED = frozenset({"populations", *_BY_GROUP, "windows", "differences", "difference", "backtest"})
_NO_NUMBERS = frozenset({"seed", "confidence", "mean", "prediction", "group", "a", "b", "window"})
_SHORTER = {"evaluations": "", "groups": "", "estimates": "", "estimate": ""} | dict.fromkeys(_BY_GROUP, "populations")
_UNNAMEABLE = re.compile(r"[^\w \-:]")
_LONGEST = 80  # characters of one part of a name


@dataclass(frozen=True)
class FlatNumber:
    """One number under its name; None if it is undefined. `step` counts windows of time and points of a curve."""

    name: str
    value: float | None
    step: int = 0


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
    return _numbers(told, (prefix,), 0)


def settings(told: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, str]]:
    """Names and values of what was measured and how: explainer, discretizer, number of rows, method, agreement."""
    return _settings(told, (prefix,))


def _numbers(told: Mapping[str, Any], path: tuple[str, ...], step: int) -> Iterator[FlatNumber]:
    path, labels = _of_measure(told, path), nameable(list(told))
    for label, (name, value) in zip(labels, told.items(), strict=True):
        if isinstance(value, Mapping):
            yield from _numbers(value, _longer(path, name, label), step)
        elif isinstance(value, list) and not (name in ("differences", "lower") and "groups" in told):
            yield from _listed(value, _longer(path, name, label))
        elif _is_number(told, name, value):
            yield FlatNumber(".".join([*path, label]), _finite(value), step)


def _listed(items: Sequence[Any], path: tuple[str, ...]) -> Iterator[FlatNumber]:
    """Numbers of a list: named by group, discretizer or pair if it has such names, otherwise counted as steps."""
    names = [_name_of(item) for item in items if isinstance(item, Mapping)]
    labels = iter(nameable([name for name in names if name]))
    for step, item in enumerate(items):
        if isinstance(item, Mapping):
            yield from _numbers(item, (*path, next(labels)), 0) if _name_of(item) else _numbers(item, path, step)
        elif isinstance(item, int | float):
            yield FlatNumber(".".join(path), _finite(item), step)


def _settings(told: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    path, labels = _of_measure(told, path), nameable(list(told))
    for label, (name, value) in zip(labels, told.items(), strict=True):
        if isinstance(value, Mapping):
            yield from _settings(value, _longer(path, name, label))
        elif name in _SETTINGS and value is not None:
            yield ".".join([*path, label]), str(value)


def _of_measure(told: Mapping[str, Any], path: tuple[str, ...]) -> tuple[str, ...]:
    """The path with the name of the measure at its end, if these are the numbers of one."""
    if "measure" not in told:
        return path
    (measure,) = nameable([told["measure"]])
    return path if path[-1] == measure else (*path, measure)


def _longer(path: tuple[str, ...], name: str, label: str) -> tuple[str, ...]:
    word = _SHORTER.get(name, label)
    return (*path, word) if word and path[-1] != word else path


def _is_number(told: Mapping[str, Any], name: str, value: Any) -> bool:
    if value is None:
        return name not in _NOT_ASKED | _NO_NUMBERS and ("measure" not in told or name in _MEASURED)
    if isinstance(value, bool) or not isinstance(value, int | float) or name in _NO_NUMBERS:
        return False
    return "measure" not in told or name in _MEASURED | _MEASURED_LOCALLY


def _finite(value: Any) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)


def _name_of(item: Mapping[str, Any]) -> str:
    if "group" in item:
        group = item["group"]
        return readable(tuple(group) if isinstance(group, list) else group) or "(empty)"
    if "a" in item and "b" in item and "same" in item:  # two explainers, of which neither is subtracted
        return f"{readable(item['a'])} and {readable(item['b'])}"
    if "a" in item and "b" in item:
        return f"{readable(item['a'])} less {readable(item['b'])}"
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
