"""Which kind of explanation the columns of a log hold: by what the log says, or by their names and types."""

from collections.abc import Sequence
from typing import Any, Literal

from faithscope.errors import BadInput, WrongType
from faithscope.explanations.arrow.tables import Settings
from faithscope.tables.log.kinds import KeyColumns, Kind, NumberColumns, ReasonColumn, RuleColumn, SetColumn

_PREFIXES = ("phi_", "shap_", "lime_", "importance_", "attribution_", "contribution_")  # of columns of importances


def kind_in_log(settings: Settings) -> Kind:
    """The kind that a log of faithscope's own says it holds."""
    kind, columns = settings["kind"], settings["columns"]
    names = tuple(settings.get("names") or ())
    if kind in ("Importances", "Rankings"):
        chosen = names or tuple(f"x{j}" for j in range(len(columns)))
        order: Literal["", "features"] = "features" if kind == "Rankings" else ""
        return NumberColumns(chosen, bool(names), settings["form"], order)
    if kind == "Rules":
        return RuleColumn(tuple(settings["features"]), settings["tree"])
    if kind in ("Highlights", "Concepts"):
        return SetColumn("words")
    if kind in ("Prototypes", "Codes"):
        return SetColumn("codes" if kind == "Codes" else "prototypes")
    if kind == "Plain":
        return KeyColumns(("explanation",), (settings["json"],), False)
    if kind == "Reasons":
        return ReasonColumn(columns[1], tuple(settings["json"][:2]), str(settings["form"]))
    if kind == "Records":
        return KeyColumns(names, tuple(settings["json"]), True)
    raise WrongType(f"A log of {kind} cannot be audited: write the counterfactuals they belong to.")


def compared_columns(settings: Settings) -> tuple[str, ...]:
    """The columns by which explanations of a log of faithscope's own are compared."""
    return tuple(settings["columns"][:1] if settings["kind"] == "Reasons" else settings["columns"])


def kind_by_columns(schema: Any, columns: Sequence[str], wanted: str | None, *, discretized: bool) -> Kind:
    """The kind that the types and names of the columns say, unless the caller does.

    Parameters
    ----------
    schema : ibis.Schema
    columns : names of the columns that hold the explanation
    wanted : str, optional
        importances, keys, reasons, codes, rules, words or prototypes; counterfactuals are known by their names.
    discretized : bool
        Whether a discretizer follows, so that a single number must be an importance.
    """
    types = [schema[name] for name in columns]
    kind = wanted or _guess(types, columns, discretized)
    if kind == "importances":
        _refuse_text(types, columns)
        return NumberColumns(_without_prefix(columns, schema))
    if kind == "keys":
        nested = next((name for name in columns if schema[name].is_nested()), None)
        if nested is not None:
            raise WrongType(f"Column {nested!r} holds {schema[nested]}: a key is one value; name its parts as columns.")
        return KeyColumns(tuple(columns), (False,) * len(columns), len(columns) > 1)
    if len(columns) > 1:
        raise BadInput(f"{kind.capitalize()} sit in one column; got {', '.join(columns)}.")
    if kind == "reasons":
        if not types[0].is_string():
            raise WrongType(f"Reasons are a column of texts; {columns[0]!r} holds {types[0]}: name another column.")
        return ReasonColumn()
    if kind == "rules":
        return RuleColumn()
    if not types[0].is_array():
        raise WrongType(f"{kind.capitalize()} are a column of lists; {columns[0]!r} holds {types[0]}.")
    return SetColumn(kind)  # type: ignore[arg-type]


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


def _without_prefix(columns: Sequence[str], schema: Any) -> tuple[str, ...]:
    """The names of features: of phi_age, or of shap_age beside a column age, it is age."""
    for prefix in _PREFIXES:
        names = tuple(name.removeprefix(prefix) for name in columns)
        known = prefix == "phi_" or all(name in schema for name in names)
        if known and all(name.startswith(prefix) for name in columns):
            return names
    return tuple(columns)
