"""Queries that hold no rows yet: lazy frames of polars, relations of DuckDB, readers and datasets of Arrow."""

from typing import Any, Literal

from faithscope.errors import WrongType

Query = Literal["", "lazy frame", "relation", "cursor", "reader", "dataset"]
_CALLS = {
    "lazy frame": "collect()",
    "relation": "df()",
    "cursor": "df()",
    "reader": "read_all()",
    "dataset": "to_table()",
}


def query_kind(values: Any) -> Query:
    """What kind of query this is, by the names of its class and package; empty if it is none.

    Nothing is asked of the query itself: its shape alone would be a question to its engine.
    """
    package, name = type(values).__module__.partition(".")[0].strip("_"), type(values).__name__
    if package == "polars" and name == "LazyFrame":
        return "lazy frame"
    if package == "duckdb" and name == "DuckDBPyRelation":
        return "relation"
    if package == "duckdb" and name == "DuckDBPyConnection":
        return "cursor"
    if package == "pyarrow" and name == "RecordBatchReader":
        return "reader"
    return "dataset" if package == "pyarrow" and name.endswith("Dataset") else ""


def refuse_query(values: Any, what: str) -> None:
    """Raise if rows are wanted and this is a query for them, with the call that gives its rows."""
    kind = query_kind(values)
    if kind:
        raise WrongType(f"{what} came as {type(values).__name__}, which holds no rows yet: pass its {_CALLS[kind]}.")
