"""Canonical bytes of explanations: equal explanations have equal digests in every process, from memory or a log."""

import datetime
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import fields, is_dataclass
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import WrongType
from faithscope.explanations.base import Explanations
from faithscope.explanations.conditions.conjunctions import Shared
from faithscope.explanations.counterfactuals import Counterfactuals
from faithscope.explanations.importances import Importances
from faithscope.explanations.rules import Rules
from faithscope.inputs.array_types import Array
from faithscope.inputs.dates import Moment

Words = NDArray[np.uint64]

_STARTS = (0x243F6A8885A308D3, 0x13198A2E03707344)  # digits of pi: they are kept in files, so they never change


class Digests(NamedTuple):
    """128 bits per explanation, as two columns of 64 bits."""

    high: Words
    low: Words

    @classmethod
    def of_bytes(cls, items: Iterable[bytes], count: int) -> "Digests":
        """One digest for each of so many texts of bytes."""
        joined = b"".join(hashlib.blake2b(item, digest_size=16).digest() for item in items)
        words = np.frombuffer(joined, "<u8").astype(np.uint64).reshape(count, 2)
        return cls(np.ascontiguousarray(words[:, 0]), np.ascontiguousarray(words[:, 1]))


def mixed(words: Words) -> Words:
    """Words scattered by splitmix64's finalizer, so that their sums tell sets of words apart."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        words = (words ^ (words >> np.uint64(shift))) * np.uint64(factor)
    return words ^ (words >> np.uint64(31))


def explanation_digests(explanations: Explanations) -> Digests:
    """The digest of each explanation; kinds are not part of it.

    Examples
    --------
    >>> from faithscope.explanations.keys import Plain
    >>> number, decimal = (explanation_digests(Plain([value])) for value in (3, 3.0))
    >>> bool(number.low[0] == decimal.low[0])
    True
    """
    count = len(explanations)
    if isinstance(explanations, Importances):
        return _number_digests(explanations.values)
    if isinstance(explanations, Shared):
        plain = (
            map(_without_positions, explanations.distinct) if isinstance(explanations, Rules) else explanations.distinct
        )
        known = Digests.of_bytes(map(_bytes, plain), len(explanations.distinct))
        return Digests(known.high[explanations.codes], known.low[explanations.codes])
    return Digests.of_bytes(_object_rows(explanations.key), count)


def canonical_kind(explanations: Explanations) -> str:
    """The kind in words, without what may differ from day to day: the features of which the rules of a day speak.

    Examples
    --------
    >>> from faithscope.explanations.keys import Plain
    >>> canonical_kind(Plain(["leaf 3"]))
    'plain keys'
    """
    if isinstance(explanations, Rules):
        return "rules"
    if isinstance(explanations, Counterfactuals):
        return f"counterfactuals over {explanations.points.shape[1]} features"
    if isinstance(explanations, Importances) and explanations.shape is None:
        return explanations._with(names=None).kind
    return explanations.kind


def feature_names(explanations: Explanations) -> tuple[str, ...] | None:
    """The names of the features of importances, as a log has them in columns phi_…; None for others and without names.

    Examples
    --------
    >>> feature_names(Importances([[0.5, 0.1]], names=["phi_age", "phi_sex"]))
    ('age', 'sex')
    """
    names = explanations.names if isinstance(explanations, Importances) and explanations.shape is None else None
    return None if names is None else tuple(name.removeprefix("phi_") for name in names)


def named_features(explanations: Explanations, place: int) -> tuple[str, ...]:
    """The features of which an explanation speaks: those of its conditions, or those that a discretizer left.

    Examples
    --------
    >>> named_features(Rules.parse(["age <= 37 and job == clerk"]), 0)
    ('age', 'job')
    """
    if isinstance(explanations, Rules):
        return tuple(dict.fromkeys(part.feature for part in explanations.distinct[explanations.codes[place]]))
    if isinstance(explanations, Importances) and explanations.form and explanations.shape is None:
        told = np.flatnonzero(explanations.values[place])
        return tuple(explanations._label(int(feature)).removeprefix("phi_") for feature in told)
    return ()


def canonical(value: Any) -> str:
    """A text that equal values share, and no others.

    Numbers are equal if Python says so, whatever their types; a moment is its nanoseconds since 1970.

    Examples
    --------
    >>> canonical(1.0) == canonical(True), canonical("1") == canonical(1), canonical(("a", 0.5))
    (True, False, '(2:s1:an1/2)')
    """
    if value is None:
        return "0"
    if isinstance(value, str | np.str_):
        return f"s{len(value)}:{value}"
    if isinstance(value, bool | int | float | Decimal | np.bool_ | np.integer | np.floating):
        return _number(value)
    if isinstance(value, bytes):
        return f"b{value.hex()};"
    if isinstance(value, datetime.date | np.datetime64) and (moment := Moment.of(value)) is not None:
        value = moment
    if isinstance(value, Moment):
        return f"t{value.nanoseconds}{'Z' * value.zoned};"
    if isinstance(value, datetime.timedelta | np.timedelta64):
        return f"d{np.timedelta64(value, 'ns').astype(np.int64)};"
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return f"({len(value)}:{''.join(map(canonical, value))})"
    if isinstance(value, set | frozenset):
        return f"{{{len(value)}:{''.join(sorted(map(canonical, value)))}}}"
    if is_dataclass(value) and type(value).__module__.startswith("faithscope."):
        return f"{type(value).__name__}{canonical(tuple(getattr(value, field.name) for field in fields(value)))}"
    raise WrongType(
        f"A monitor must know {type(value).__name__} again on another day, and objects have no canonical text: pass "
        "texts, numbers, dates, or tuples and sets of these."
    )


def _number(value: Any) -> str:
    try:
        top, bottom = (int(value), 1) if isinstance(value, bool | np.bool_ | int) else value.as_integer_ratio()
    except AttributeError:  # NumPy's integers before they were rational
        top, bottom = int(value), 1
    except (ValueError, OverflowError):  # NaN, infinite
        return f"n{value};"
    return f"n{top}/{bottom}" if bottom != 1 else f"n{top};"


def _without_positions(parts: Iterable[Any]) -> list[str]:
    """The conditions of a rule in an order that does not depend on the order of features, nor on their positions."""
    named = ({field.name: getattr(part, field.name) for field in fields(part)} for part in parts)
    return sorted(canonical(tuple(value for name, value in each.items() if name != "position")) for each in named)


def _bytes(value: Any) -> bytes:
    return canonical(value).encode("utf-8", "surrogatepass")


def _number_digests(values: Array) -> Digests:
    """Of rows of numbers, by the bits of float64, all rows at once; -0.0 is 0.0, and there is one NaN.

    Importances hold no integers that float64 cannot tell apart. Two chains of words that begin differently: rows that
    differ have different digests but for a chance of about 2**-128.
    """
    rows: Array = values.astype(np.float64) + 0.0
    rows[np.isnan(rows)] = np.nan
    words = np.ascontiguousarray(rows.T).view(np.uint64)
    chains = [np.full(len(rows), start, np.uint64) for start in _STARTS]
    for word in words:
        chains = [mixed(chain ^ word) for chain in chains]
    return Digests(*chains)


def _object_rows(key: Sequence[Array]) -> Iterable[bytes]:
    """Each row of key columns; one column of width 1 is its values alone, so that 3 and a column of 3s are one."""
    columns = [column[:, 0] if column.ndim == 2 and column.shape[1] == 1 else column for column in key]
    if len(columns) == 1:
        return (_bytes(item) for item in columns[0].tolist())
    return (_bytes(items) for items in zip(*(column.tolist() for column in columns), strict=True))
