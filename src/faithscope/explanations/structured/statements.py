"""Conditions as objects of JSON: {"feature", "op", "value"}, alone, in a list, or in an object beside other things."""

from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from faithscope.explanations.conditions.condition import OR_MISSING, Triple
from faithscope.explanations.structured.operators import to_operator
from faithscope.explanations.structured.unreadable import Unreadable

_FEATURE = ("feature", "feature_name", "column", "field", "attribute", "variable", "name")
_OPERATOR = ("op", "operator", "comparator", "comparison", "relation")
_VALUE = ("value", "values", "threshold", "bound")
_ENDS = (("low", "high"), ("lower", "upper"), ("min", "max"), ("from", "to"))
_LISTS = ("reasons", "conditions", "rules", "rationale", "explanation", "because", "and", "all")  # which may be empty
_NOT_A_CONJUNCTION = {"or", "any", "any_of", "anyof", "either", "not", "none", "none_of", "nor", "xor", "one_of"}
_NEGATIONS = {"not", "negate", "negated", "negation", "inverted", "exclude"}
_TURNING = _NOT_A_CONJUNCTION | _NEGATIONS  # beside conditions, as keys of true
_DEEPEST = 4  # objects inside objects that are looked into


def is_structured(value: Any, depth: int = 0) -> bool:
    """Whether this is a condition, a list of conditions, or an object that holds either."""
    if isinstance(value, Mapping):
        inner = depth < _DEEPEST and any(is_structured(part, depth + 1) for part in value.values())
        return _is_condition(value) or inner or _is_empty(value)
    return isinstance(value, list | tuple) and any(_is_condition(item) or _is_triple(item) for item in value)


def may_be_condition(value: Any) -> bool:
    """Whether this object has the keys of a condition, of which some may be missing or hold something else."""
    if not isinstance(value, Mapping) or _key(value, _FEATURE) is None:
        return False
    return _key(value, _OPERATOR) is not None or _key(value, _VALUE) is not None


def triples_of(value: Any, habits: Counter[str], depth: int = 0) -> list[Triple]:
    """The conditions of one rationale, as (feature, operator, value); raises `Unreadable` if it holds none.

    Parameters
    ----------
    value : dict, list or tuple
    habits : Counter
        Counts what is left aside.
    """
    if isinstance(value, Mapping) and _is_condition(value):
        return [_triple(value, habits)]
    if isinstance(value, Mapping):
        return _held(value, habits, depth)
    if not isinstance(value, list | tuple):
        raise Unreadable(f"it is {_shown(value)}, no condition")
    return [_item(place, item, habits) for place, item in enumerate(value)]


def _item(place: int, item: Any, habits: Counter[str]) -> Triple:
    if _is_condition(item):
        return _triple(item, habits)
    if _is_triple(item):
        return item[0], *_operator_and_value(item[1], item[2])
    raise Unreadable(f'item {place} is no condition ({_shown(item)}): it needs "feature", "op" and "value"')


def _held(value: Mapping[Any, Any], habits: Counter[str], depth: int) -> list[Triple]:
    """The conditions of the only part of an object that holds any."""
    parts = [key for key, part in value.items() if is_structured(part, depth + 1)] or _empty_keys(value)
    if len(parts) != 1 or depth >= _DEEPEST:
        what = f"conditions under {parts[0]!r} and {parts[1]!r}" if parts else "no condition"
        raise Unreadable(f'its JSON holds {what}: it needs {{"feature", "op", "value"}}, or one list of them')
    others = [part for key, part in value.items() if key != parts[0] and isinstance(part, str)]
    word = next((text for text in (parts[0], *others) if _plain(text) in _NOT_A_CONJUNCTION), None)
    if word is not None:
        raise Unreadable(f"its conditions are joined by {word!r}, but a rule is a conjunction")
    turned = next((key for key, part in value.items() if part is True and _plain(key) in _TURNING), None)
    if turned is not None:
        raise Unreadable(f"its conditions are turned by {turned!r}, but a rule is a conjunction")
    return triples_of(value[parts[0]], habits, depth + 1)


def _triple(item: Mapping[Any, Any], habits: Counter[str]) -> Triple:
    feature, operator = _key(item, _FEATURE), _key(item, _OPERATOR)
    low, high = next(((a, b) for a, b in _ENDS if a in item and b in item), (None, None))
    value = _key(item, _VALUE) if low is None or _key(item, _VALUE) else None
    negated = next((key for key in item if _plain(key) in _NEGATIONS and item[key]), None)
    if negated is not None:
        raise Unreadable(f"a condition is negated by {negated!r}: write the opposite operator")
    used = {feature, operator, value, *((low, high) if value is None else ())}
    for key in item:
        if key not in used:
            habits[f"what conditions say under {str(key)[:40]!r} was left aside"] += 1
    given = item[value] if value is not None else [item[low], item[high]] if low is not None else _ABSENT
    return item[feature], *_operator_and_value(item[operator], given)


_ABSENT = object()


def _operator_and_value(written: Any, given: Any) -> tuple[str, Any]:
    """The operator and the value in the form that rules take them."""
    operator = to_operator(written)
    plain, suffix = operator.removesuffix(OR_MISSING), OR_MISSING * operator.endswith(OR_MISSING)
    if plain in ("missing", "present"):
        return ("==" if plain == "missing" else "!=") + suffix, None
    if given is _ABSENT:
        raise Unreadable(f"a condition with {written!r} has no value")
    if plain == "between":
        return plain + suffix, _range(given)
    if isinstance(given, Mapping):
        raise Unreadable(f"the value of a condition is an object ({_shown(given)})")
    if isinstance(given, list | tuple):
        plain = {"==": "in", "!=": "not in"}.get(plain, plain)
        if plain not in ("in", "not in"):
            raise Unreadable(f"{written!r} needs one value, not a list ({_shown(given)})")
        return plain + suffix, tuple(given)
    if plain in ("in", "not in"):
        if isinstance(given, str) and ("," in given or given[:1] in "[{("):
            raise Unreadable(f"{written!r} needs a list of values; it has the text {given[:40]!r}")
        return plain + suffix, (given,)
    return plain + suffix, given


def _range(given: Any) -> tuple[Any, Any]:
    if isinstance(given, Mapping):
        ends = next(((given[a], given[b]) for a, b in _ENDS if a in given and b in given), None)
        if ends is not None:
            return ends
    if not isinstance(given, list | tuple) or len(given) != 2:
        raise Unreadable(f"between needs [low, high]; it has {_shown(given)}")
    return given[0], given[1]


def _is_condition(item: Any) -> bool:
    """Whether this object names a feature and an operator."""
    if not isinstance(item, Mapping):
        return False
    feature, operator = _key(item, _FEATURE), _key(item, _OPERATOR)
    named = feature is not None and isinstance(item[feature], str | int) and not isinstance(item[feature], bool)
    return named and operator is not None and isinstance(item[operator], str)


def _is_triple(item: Any) -> bool:
    return isinstance(item, list | tuple) and len(item) == 3 and all(isinstance(part, str) for part in item[:2])


def _is_empty(value: Mapping[Any, Any]) -> bool:
    return bool(_empty_keys(value))


def _empty_keys(value: Mapping[Any, Any]) -> list[Any]:
    """Keys under which conditions are expected, and which hold an empty list."""
    return [key for key, part in value.items() if _plain(key) in _LISTS and isinstance(part, list) and not part]


def _key(item: Mapping[Any, Any], names: tuple[str, ...]) -> Any:
    """The first of these keys that an object has, in whatever case; None if it has none."""
    if names[0] in item:
        return names[0]
    plain = {_plain(key): key for key in item}
    return next((plain[name] for name in names if name in plain), None)


def _plain(key: Any) -> str:
    return _normal(key) if isinstance(key, str) else ""


@lru_cache(1000)
def _normal(key: str) -> str:
    return key.strip().lower().replace(" ", "_").replace("-", "_")


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"
