"""The numbers of a result's `to_dict` under flat names, as experiment trackers take them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from faithscope.explanations.base import readable

_MEASURED = {"value", "low", "high", "unverifiable", "verified", "chance", "n", "others", "agreeing", "seen"}
_SETTINGS = {"name", "explainer", "discretizer", "subject", "method", "agreement", "confidence", "seed", "every", "n"}
_NO_NUMBERS = {"seed", "confidence", "mean", "prediction", "group", "a", "b", "window"}
_UNSAID = {"evaluations", "groups", "estimates", "estimate"}  # in a name
_UNNAMEABLE = re.compile(r"[^\w \-:]")
_LONGEST = 80  # characters of one part of a name


class Leaf(NamedTuple):
    """A value that is neither a mapping nor a list: its flat name, its own, and whether it is one of a measure's."""

    path: str
    name: str
    value: Any
    measured: bool
    listed: bool


def flat_numbers(told: Mapping[str, Any], prefix: str) -> dict[str, float]:
    """Every measured number of a result by its flat name; what is undefined is left out.

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
    >>> [(name, round(value, 2)) for name, value in flat_numbers(told, "faithscope").items()][:2]
    [('faithscope.consistency.value', 0.67), ('faithscope.consistency.low', 0.0)]
    """
    return {
        leaf.path: float(leaf.value)
        for leaf in _leaves(told, (prefix,))
        if isinstance(leaf.value, int | float) and not isinstance(leaf.value, bool)
        if (leaf.name in _MEASURED if leaf.measured else leaf.name not in _NO_NUMBERS)
    }


def settings(told: Mapping[str, Any], prefix: str) -> dict[str, str]:
    """What was measured and how, by flat names: explainer, discretizer, method, agreement."""
    leaves = _leaves(told, (prefix,))
    return {
        leaf.path: str(leaf.value)
        for leaf in leaves
        if leaf.name in _SETTINGS and leaf.value is not None and not leaf.listed
    }


def _leaves(told: Mapping[str, Any], path: tuple[str, ...], listed: bool = False) -> Iterator[Leaf]:
    """All values; what a list holds is named by its group, window, discretizer or pair, or else by its place."""
    if "measure" in told and told["measure"] != path[-1]:
        path = (*path, *nameable([told["measure"]]))
    for label, (name, value) in zip(nameable(list(told)), told.items(), strict=True):
        further = path if name in _UNSAID else (*path, "populations" if name.endswith("_populations") else label)
        if isinstance(value, Mapping):
            yield from _leaves(value, further, listed)
        elif not isinstance(value, list):
            yield Leaf(".".join([*path, label]), name, value, "measure" in told, listed)
        elif "groups" not in told or name not in ("differences", "lower"):  # of every two groups there are too many
            items = [item for item in value if isinstance(item, Mapping)]
            for own, item in zip(nameable(list(map(_name_of, items, range(len(items))))), items, strict=True):
                yield from _leaves(item, (*further, own), True)


def _name_of(item: Mapping[str, Any], place: int) -> str:
    if "a" in item and "b" in item:  # of two that are alike neither is subtracted
        return f"{readable(item['a'])} {'and' if 'same' in item else 'less'} {readable(item['b'])}"
    known = next((item[name] for name in ("group", "window", "discretizer") if name in item), place)
    return readable(tuple(known) if isinstance(known, list) else known) or "(empty)"


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
