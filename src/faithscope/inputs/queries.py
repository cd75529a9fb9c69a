"""Queries that hold no rows yet: lazy frames of polars, relations of DuckDB, readers and datasets of Arrow."""

from typing import Any, Literal

from faithscope.errors import WrongType

Query = Literal["", "lazy frame", "relation", "cursor", "reader", "dataset"]
_CALLS: dict[Query, str] = {
    "lazy frame": "collect()",
    "relation": "df()",
    "cursor": "df()",
    "reader": "read_all()",
    "dataset": "to_table()",
}
_KINDS: dict[tuple[str, str], Query] = {
    ("polars", "LazyFrame"): "lazy frame",
    ("duckdb", "DuckDBPyRelation"): "relation",
    ("duckdb", "DuckDBPyConnection"): "cursor",
    ("pyarrow", "RecordBatchReader"): "reader",
    **{("pyarrow", f"{kind}Dataset"): "dataset" for kind in ("", "FileSystem", "InMemory", "Union")},
}


def query_kind(values: Any) -> Query:
    """What kind of query this is, by the names of its class and package; empty if it is none.

    Nothing is asked of the query itself: its shape alone would be a question to its engine.
    """
    kind = type(values)
    return _KINDS.get((kind.__module__.partition(".")[0].strip("_"), kind.__name__), "")


def refuse_query(values: Any, what: str) -> None:
    """Raise if rows are wanted and this is a query for them, with the call that gives its rows."""
    kind = type(values)
    query = _KINDS.get((kind.__module__.partition(".")[0].strip("_"), kind.__name__))
    if query:
        raise WrongType(f"{what} came as {kind.__name__}, which holds no rows yet: pass its {_CALLS[query]}.")
