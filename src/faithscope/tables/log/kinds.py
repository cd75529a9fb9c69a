"""How explanations sit in the columns of a log, and how they read when they come back."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput, WrongType
from faithscope.explanations.arrow.columns import read_column, to_objects
from faithscope.explanations.arrow.tables import Settings
from faithscope.explanations.base import Explanations
from faithscope.explanations.conditions.grammar import parse_rule
from faithscope.explanations.highlights import Highlights
from faithscope.explanations.importances import Importances, Rankings
from faithscope.explanations.keys import Plain, Records
from faithscope.explanations.prototypes import Prototypes
from faithscope.explanations.rules import Rules

Values = Sequence[Any]  # Arrow columns of key values, one entry per explanation


@dataclass(frozen=True)
class NumberColumns:
    """Importances: one number per feature.

    Attributes
    ----------
    span : (int, int), optional
        All values are whole numbers between these, so that several fit in one.
    decimals, bound : int and float, optional
        All values were cut off after so many decimals; none is larger in size.
    holes : bool
        Whether a value may be missing.
    order : str
        "" for importances, "features" if value j is the feature of rank j.
    """

    names: tuple[str, ...]
    named: bool = True
    form: str = ""
    span: tuple[int, int] | None = None
    order: Literal["", "features"] = ""
    decimals: int | None = None
    bound: float | None = None
    holes: bool = True

    what: ClassVar[str] = "importances"

    @property
    def width(self) -> int:
        """Number of features."""
        return len(self.names)

    def read(self, values: Values) -> Explanations:
        """Explanations from their values; a missing number is NaN, as nothing else says it."""
        columns = [column.to_numpy(zero_copy_only=False).astype(np.float64) + 0.0 for column in values]
        return self.of(np.column_stack(columns) if len(columns[0]) else np.empty((0, self.width)))

    def of(self, matrix: NDArray[Any]) -> Importances:
        """Explanations from their values as a matrix."""
        names = self.names if self.named else None
        if not self.order:
            return Importances.made(matrix, names, self.form)
        return Rankings.made(matrix.astype(np.int64), names, self.form)


@dataclass(frozen=True)
class KeyColumns:
    """Keys: one value per row, or several named ones, that are only equal or different."""

    names: tuple[str, ...]
    json: tuple[bool, ...]
    record: bool

    what: ClassVar[str] = "keys"

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.names)

    def read(self, values: Values) -> Explanations:
        """Explanations from their values; a missing one reads None."""
        columns = [read_column(column, as_json) for column, as_json in zip(values, self.json, strict=True)]
        if not self.record:
            return Plain.__new__(Plain)._with(values=to_objects(columns[0]))
        rows = to_objects(list(zip(*columns, strict=True)))
        return Records.__new__(Records)._with(values=rows, names=self.names)


@dataclass(frozen=True)
class PairColumns:
    """Counterfactuals: a point and the row it belongs to.

    `numeric` says which features are numbers, and `holes` which of them are missing somewhere.
    """

    names: tuple[str, ...]
    numeric: tuple[bool, ...]
    named: bool = True
    holes: tuple[bool, ...] = ()

    what: ClassVar[str] = "counterfactuals"

    @property
    def width(self) -> int:
        """Number of features."""
        return len(self.names)

    def read(self, values: Values) -> Explanations:
        """The points alone, which are what tells counterfactuals apart."""
        return KeyColumns(self.names, (False,) * self.width, True).read(values)


@dataclass(frozen=True)
class SetColumn:
    """A set of words, or of indices of prototypes, as a list."""

    words: bool
    names: tuple[str, ...] = ("words",)

    width: ClassVar[int] = 1

    @property
    def what(self) -> str:
        """What these are."""
        return "highlighted words" if self.words else "prototypes"

    def read(self, values: Values) -> Explanations:
        """Explanations from their values; a missing list reads like an empty one."""
        rows = [items or [] for items in values[0].to_pylist()]
        return Highlights(rows) if self.words else Prototypes(to_objects(rows))


@dataclass(frozen=True)
class RuleColumn:
    """Rules as text in the rule grammar, or JSON."""

    features: tuple[str, ...] | None = None
    tree: str | None = None
    names: tuple[str, ...] = ("rule",)

    what: ClassVar[str] = "rules"
    width: ClassVar[int] = 1

    def read(self, values: Values) -> Explanations:
        """Explanations from their texts."""
        coded = values[0].dictionary_encode()
        rules = Rules.from_conditions([parse_rule(text) for text in coded.dictionary.to_pylist()], self.features)
        if coded.indices.null_count:
            raise BadInput('A missing rule says nothing: drop such rows with nulls="drop", or write "true".')
        return rules._with(codes=rules.codes[coded.indices.to_numpy()], tree=self.tree)


Kind = NumberColumns | KeyColumns | PairColumns | SetColumn | RuleColumn


def kind_in_log(settings: Settings) -> Kind:
    """The kind that a log of faithscope's own says it holds."""
    kind, columns = settings["kind"], settings["columns"]
    names = tuple(settings.get("names") or ())
    if kind in ("Importances", "Rankings"):
        chosen = names or tuple(f"x{j}" for j in range(len(columns)))
        span = (0, len(columns) - 1) if kind == "Rankings" else None
        order: Literal["", "features"] = "features" if kind == "Rankings" else ""
        return NumberColumns(chosen, bool(names), settings["form"], span, order)
    if kind == "Rules":
        return RuleColumn(tuple(settings["features"]), settings["tree"])
    if kind in ("Highlights", "Prototypes"):
        return SetColumn(kind == "Highlights")
    if kind == "Plain":
        return KeyColumns(("explanation",), (settings["json"],), False)
    if kind == "Records":
        return KeyColumns(names, tuple(settings["json"]), True)
    raise WrongType(f"A log of {kind} cannot be audited: write the counterfactuals they belong to.")


def kind_by_columns(schema: Any, columns: Sequence[str], wanted: str | None, *, discretized: bool) -> Kind:
    """The kind that the types and names of the columns say, unless the caller does.

    Parameters
    ----------
    schema : ibis.Schema
    columns : names of the columns that hold the explanation
    wanted : str, optional
        importances, keys, rules, words or prototypes; counterfactuals are known by their names.
    discretized : bool
        Whether a discretizer follows, so that a single number must be an importance.
    """
    types = [schema[name] for name in columns]
    kind = wanted or _guess(types, columns, discretized)
    if kind == "importances":
        _refuse_text(types, columns)
        return NumberColumns(_without_prefix(columns))
    if kind == "keys":
        nested = next((name for name in columns if schema[name].is_nested()), None)
        if nested is not None:
            raise WrongType(f"Column {nested!r} holds {schema[nested]}: a key is one value; name its parts as columns.")
        return KeyColumns(tuple(columns), (False,) * len(columns), len(columns) > 1)
    if kind not in ("rules", "words", "prototypes"):
        raise BadInput(f"kind must be importances, keys, rules, words, prototypes or counterfactuals; got {kind!r}.")
    if len(columns) > 1:
        raise BadInput(f"{kind.capitalize()} sit in one column; got {', '.join(columns)}.")
    if kind == "rules":
        return RuleColumn()
    if not types[0].is_array():
        raise WrongType(f"{kind.capitalize()} are a column of lists; {columns[0]!r} holds {types[0]}.")
    return SetColumn(kind == "words")


def _guess(types: Sequence[Any], columns: Sequence[str], discretized: bool) -> str:
    if len(types) == 1 and types[0].is_array():
        return "words" if types[0].value_type.is_string() else "importances"
    if len(types) == 1 and columns[0] == "rule" and types[0].is_string():
        return "rules"
    numeric = all(kind.is_numeric() or kind.is_boolean() for kind in types)
    return "importances" if numeric and (len(types) > 1 or discretized) else "keys"


def _refuse_text(types: Sequence[Any], columns: Sequence[str]) -> None:
    if len(types) == 1 and types[0].is_array() and types[0].value_type.is_numeric():
        return
    for name, kind in zip(columns, types, strict=True):
        if not (kind.is_numeric() or kind.is_boolean()):
            raise WrongType(
                f"Importances are numbers; column {name!r} holds {kind}: some of its values may not be numbers. "
                "Convert it, or leave it out."
            )


def _without_prefix(columns: Sequence[str]) -> tuple[str, ...]:
    if all(name.startswith("phi_") for name in columns):
        return tuple(name.removeprefix("phi_") for name in columns)
    return tuple(columns)
