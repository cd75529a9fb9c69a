"""Canonical bytes of explanations: equal explanations have equal digests in every process, from memory or a log."""

import datetime
import hashlib
import json
from collections.abc import Iterable
from dataclasses import fields, is_dataclass, replace
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
from faithscope.inputs.seeds import mixed

Words = NDArray[np.uint64]

_STARTS = (0x243F6A8885A308D3, 0x13198A2E03707344)  # digits of pi: they are kept in files, so they never change


class Digests(NamedTuple):
    """128 bits per explanation, as two columns of 64 bits."""

    high: Words
    low: Words

    @classmethod
    def of_texts(cls, texts: Iterable[str]) -> "Digests":
        """One digest for each text."""
        joined = b"".join(hashlib.blake2b(text.encode(), digest_size=16).digest() for text in texts)
        words = np.frombuffer(joined, "<u8").astype(np.uint64)
        return cls(words[::2], words[1::2])

    def take(self, places: Any) -> "Digests":
        """The digests at these places."""
        return Digests(self.high[places], self.low[places])


def explanation_digests(explanations: Explanations) -> Digests:
    """The digest of each explanation; kinds are not part of it.

    Examples
    --------
    >>> from faithscope.explanations.keys import Plain
    >>> number, decimal = (explanation_digests(Plain([value])) for value in (3, 3.0))
    >>> bool(number.low[0] == decimal.low[0])
    True
    """
    if isinstance(explanations, Importances):
        # By the bits of float64, all rows at once; -0.0 is 0.0, and there is one NaN. Importances hold no integers that
        # float64 cannot tell apart. Two chains of words begin differently, so rows that differ have different digests
        # but for a chance of about 2**-128.
        rows: Array = explanations.values.astype(np.float64) + 0.0
        rows[np.isnan(rows)] = np.nan
        chains = [np.full(len(rows), start, np.uint64) for start in _STARTS]
        for word in np.ascontiguousarray(rows.T).view(np.uint64):
            chains = [mixed(chain ^ word) for chain in chains]
        return Digests(*chains)
    if isinstance(explanations, Shared):
        distinct: Iterable[Any] = explanations.distinct
        if isinstance(explanations, Rules):
            # A rule is the same whatever the order of its conditions and the positions of their features.
            distinct = (frozenset(replace(condition, position=0) for condition in rule) for rule in distinct)
        return Digests.of_texts(map(canonical, distinct)).take(explanations.codes)
    # A column of width 1 is its values alone, so that 3 and a column of 3s are one.
    columns = [column[:, 0] if column.ndim == 2 and column.shape[1] == 1 else column for column in explanations.key]
    items = zip(*(column.tolist() for column in columns), strict=True)
    return Digests.of_texts(canonical(item if len(columns) > 1 else item[0]) for item in items)


def described(explanations: Explanations) -> dict[str, Any]:
    """The kind in words, without what may differ from day to day; and the names of the features of importances.

    The rules of a day may speak of some features only. Names are without the phi_ that columns of a log have; None if
    there are none.

    Examples
    --------
    >>> described(Importances([[0.5, 0.1]], names=["phi_age", "phi_sex"]))
    {'kind': 'importances over 2 features', 'features': ['age', 'sex']}
    """
    names = None
    if isinstance(explanations, Importances) and explanations.shape is None:
        names, explanations = explanations.names, explanations._with(names=None)
    kind = explanations.kind
    if isinstance(explanations, Rules):
        kind = "rules"
    elif isinstance(explanations, Counterfactuals):
        kind = f"counterfactuals over {explanations.points.shape[1]} features"
    return {"kind": kind, "features": None if names is None else [name.removeprefix("phi_") for name in names]}


def canonical(value: Any) -> str:
    """A text that equal values share, and no others.

    Numbers are equal if Python says so, whatever their types; a moment is its nanoseconds since 1970.

    Examples
    --------
    >>> canonical(1.0) == canonical(True), canonical("1") == canonical(1), canonical(("a", 0.5))
    (True, False, '(2:s"a"n1/2;)')
    """
    if value is None:
        return "0"
    if isinstance(value, str | np.str_):
        return f"s{json.dumps(str(value))}"
    if isinstance(value, bool | int | float | Decimal | np.bool_ | np.integer | np.floating):
        try:
            top, bottom = value.as_integer_ratio() if hasattr(value, "as_integer_ratio") else (int(value), 1)
        except (ValueError, OverflowError):  # NaN, infinite
            return f"n{value};"
        return f"n{top}/{bottom};"
    if isinstance(value, datetime.date | np.datetime64) and (moment := Moment.of(value)) is not None:
        value = moment
    if isinstance(value, Moment):
        return f"t{value.nanoseconds}{'Z' * value.zoned};"
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
