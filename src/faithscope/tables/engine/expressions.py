"""Small expressions that every engine answers alike, and JSON as text in DuckDB.

Keys become JSON pointers (RFC 6901) inside literals, so that no key is ever read as a path, a pattern or SQL.
"""

from collections.abc import Sequence
from inspect import Parameter, Signature
from typing import Any

Expression = Any  # an Ibis expression of a value, such as a column; Ibis has no static types
Table = Any  # an Ibis table
Connection = Any  # an Ibis connection, of which `con` is the driver's own
DAY = 86400  # seconds


def literal(value: Any) -> Expression:
    """A value as an Ibis literal; floats by their exact text, since an engine may read 0.1 as a decimal first."""
    import ibis

    if isinstance(value, float):
        return ibis.literal(repr(value)).cast("float64")
    if isinstance(value, int) and value >= 2**63:
        return ibis.literal(value, "uint64")
    return ibis.literal(value)


def call(name: str, value: Expression, answer: Any, *others: Expression) -> Expression:
    """A function that the engine has and Ibis does not know; `answer` is the type of the result."""
    import ibis

    def builtin(value: Any) -> Any: ...

    values = (value, *others)
    parameters = [Parameter(f"value{j}", Parameter.POSITIONAL_OR_KEYWORD) for j in range(len(values))]
    builtin.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    signature = (tuple(each.type() for each in values), answer)
    return ibis.udf.scalar.builtin(builtin, name=name, signature=signature)(*values)


def as_number(flag: Expression) -> Expression:
    """A truth value as 0 or 1, null if it is null; Postgres casts it to no wider integer."""
    return flag.cast("int32")


def floor_to(number: Expression, step: int) -> Expression:
    """Integers divided by a step and floored; engines disagree on how to divide negative ones."""
    inside = (number % step + step) % step
    return ((number - inside) / step).round().cast("int64")


INVALID = "INVALID"  # the type of a text that is no JSON
NUMBERS = frozenset({"DOUBLE", "BIGINT", "UBIGINT", "HUGEINT", "UHUGEINT"})  # DuckDB's types of numbers


def json_type(text: Expression) -> Expression:
    """DuckDB's word for the type of a JSON text: OBJECT, ARRAY, VARCHAR, DOUBLE, …; `INVALID` if it is none."""
    import ibis

    valid, none = call("json_valid", text, "boolean"), ibis.null("string")
    kind = ibis.ifelse(valid, call("json_type", ibis.ifelse(valid, text, none), "string"), INVALID)
    return ibis.ifelse(text.isnull(), none, kind)


def keys(text: Expression) -> Expression:
    """The keys of an object, as a list in the order of the text."""
    return call("json_keys", text, "array<string>")


def items(text: Expression) -> Expression:
    """The items of a list, as JSON texts."""
    import ibis

    return call("json_extract", text, "array<string>", ibis.literal("$[*]"))


def members(text: Expression, names: Sequence[str]) -> Expression:
    """The members of an object under these keys, as a list of JSON texts; null for a key that it does not have."""
    return call("json_extract", text, "array<json>", _pointers(names))


def member_types(text: Expression, names: Sequence[str]) -> Expression:
    """The types of the members of an object under these keys, null for a key that it does not have."""
    return call("json_type", text, "array<string>", _pointers(names))


def _pointers(names: Sequence[str]) -> Expression:
    import ibis

    return ibis.array(["/" + name.replace("~", "~0").replace("/", "~1") for name in names])
