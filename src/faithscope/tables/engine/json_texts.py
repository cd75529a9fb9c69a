"""JSON as text in DuckDB: its type, its items, and the members of an object by key.

Keys become JSON pointers (RFC 6901) inside literals, so that no key is ever read as a path, a pattern or SQL.
"""

from collections.abc import Sequence

from faithscope.tables.engine.expressions import call
from faithscope.tables.engine.protocol import Expression

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
