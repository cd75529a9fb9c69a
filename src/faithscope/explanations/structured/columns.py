"""What is known of the features: their names, and of a table the families of their values."""

import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.explanations.conditions.condition import BOUNDS, OR_MISSING, Triple
from faithscope.explanations.conditions.features import distinct_names
from faithscope.explanations.conditions.shown import NUMBER
from faithscope.explanations.structured.unreadable import Unreadable
from faithscope.inputs.arrays import frame_columns, is_frame
from faithscope.inputs.checks import is_real
from faithscope.inputs.dates import WRITTEN, Moment
from faithscope.inputs.folding import fold
from faithscope.inputs.hints import hint
from faithscope.inputs.missing import missing_values

_NUMBER = re.compile(NUMBER, re.IGNORECASE)
_DATE = re.compile(WRITTEN)


@dataclass(frozen=True)
class Columns:
    """The features that conditions may be on.

    Attributes
    ----------
    names : tuple of str, or None
        None if any name is one.
    families : dict from name to "number", "text" or "date"
        Of the columns of a table whose values are of one family.
    folded : dict from folded name to name
        Of names whose folded form is that of no other.
    texts : dict from name to array
        The columns of the table that hold texts.
    """

    names: tuple[str, ...] | None
    families: dict[str, str]
    folded: dict[str, str]
    texts: dict[str, NDArray[Any]]

    @classmethod
    def of(cls, features: Any) -> "Columns":
        """From names, from the table of the rows, or from nothing."""
        if features is None:
            return cls(None, {}, {}, {})
        given, columns = frame_columns(features) if is_frame(features) else (features, [])
        names = distinct_names(given)
        held = dict(zip(names, columns, strict=False))
        families = {name: family for name, column in held.items() if (family := _family(column)) is not None}
        count = Counter(map(_folded, names))
        folded = {_folded(name): name for name in names if count[_folded(name)] == 1}
        return cls(names, families, folded, {name: held[name] for name in families if families[name] == "text"})

    def placed(self, triple: Triple, habits: Counter[str]) -> Triple:
        """The condition with the name of its column and a value of its family; raises if there is no such column."""
        feature, operator, value = triple
        name = self._name(feature, habits)
        ordered = operator.removesuffix(OR_MISSING) in (*BOUNDS, "between")
        family = self.families.get(name, "number or date" if ordered else "")
        column = self.texts.get(name)
        if isinstance(value, tuple):
            return name, operator, tuple(_typed(item, family, column, habits) for item in value)
        return name, operator, _typed(value, family, column, habits)

    def _name(self, feature: Any, habits: Counter[str]) -> str:
        if self.names is None:
            if isinstance(feature, int):
                raise Unreadable(f"it gives its feature by position ({feature}): pass features=, the names in order")
            return str(feature)
        if isinstance(feature, int):
            if not 0 <= feature < len(self.names):
                raise Unreadable(f"it is on column {feature}, but there are {len(self.names)} features")
            return self.names[feature]
        if feature in self.names:
            return feature  # type: ignore[no-any-return]
        near = self.folded.get(_folded(feature))
        if near is None:
            raise Unreadable(
                f"it is on {feature[:60]!r}, which is not among the features. {hint(feature, self.names)}".rstrip(".")
            )
        habits[f"feature {feature[:40]!r} was read as {near!r}"] += 1
        return near


def _folded(name: str) -> str:
    return fold(name.replace("_", " ").replace("-", " "))


def _family(column: NDArray[Any]) -> str | None:
    """The family of a column's values; None if they are of several, or all missing."""
    if column.dtype.kind != "O":
        return "date" if column.dtype.kind == "M" else "number" if column.dtype.kind in "biuf" else None
    present = column[~missing_values(column)]
    if not len(present):
        return None
    if all(isinstance(item, str) for item in present):
        return "text"
    return "number" if all(is_real(item) or isinstance(item, bool | np.bool_) for item in present) else None


def _typed(value: Any, family: str, column: NDArray[Any] | None, habits: Counter[str]) -> Any:
    """A value as its column has it, if it was written as the text of one, or as a number in place of a text."""
    if isinstance(value, str) and family in ("number", "number or date") and _NUMBER.fullmatch(value.strip()):
        habits[f"values written as texts, such as {value!r}, were read as numbers"] += 1
        return _to_number(value.strip())
    if isinstance(value, str) and family == "number" and value.strip().lower() in ("true", "false"):
        habits[f"values written as texts, such as {value!r}, were read as truth values"] += 1
        return value.strip().lower() == "true"
    if isinstance(value, str) and family in ("date", "number or date") and _DATE.fullmatch(value.strip()):
        return _to_date(value.strip())
    if column is not None and isinstance(value, int | float) and not isinstance(value, bool) and value == value:
        habits[f"values written as numbers, such as {value!r}, were read as texts, as their column holds"] += 1
        whole = [f"{value:.0f}", f"{value:.1f}"] if isinstance(value, float) and value.is_integer() else [f"{value}.0"]
        return next((text for text in (str(value), *whole) if (column == text).any()), str(value))
    return value


def _to_number(text: str) -> float | int:
    try:
        return float(text) if re.search(r"[.eEiI]", text) else int(text)
    except ValueError:  # an integer of thousands of digits
        raise Unreadable("a number has too many digits") from None


def _to_date(text: str) -> Moment:
    try:
        return Moment.parse(text)
    except ValueError:
        raise Unreadable(f"{text!r} is a date that does not exist") from None
