"""Queries that hold no rows yet: lazy frames of polars, relations of DuckDB, readers and datasets of Arrow."""

from typing import Any, Literal

from faithscope.errors import WrongType

Query = Literal["", "lazy frame", "relation", "cursor", "reader", "dataset"]
_KINDS: dict[tuple[str, str], tuple[Query, str]] = {  # and the call that gives their rows
    ("polars", "LazyFrame"): ("lazy frame", "collect()"),
    ("duckdb", "DuckDBPyRelation"): ("relation", "df()"),
    ("duckdb", "DuckDBPyConnection"): ("cursor", "df()"),
    ("pyarrow", "RecordBatchReader"): ("reader", "read_all()"),
    **{("pyarrow", f"{kind}Dataset"): ("dataset", "to_table()") for kind in ("", "FileSystem", "InMemory", "Union")},
}


def _known(values: Any) -> tuple[Query, str]:
    kind = type(values)
    return _KINDS.get((kind.__module__.partition(".")[0].strip("_"), kind.__name__), ("", ""))


def query_kind(values: Any) -> Query:
    """What kind of query this is, by the names of its class and package; empty if it is none.

    Nothing is asked of the query itself: its shape alone would be a question to its engine.
    """
    return _known(values)[0]


def refuse_query(values: Any, what: str) -> None:
    """Raise if rows are wanted and this is a query for them, with the call that gives its rows."""
    kind, call = _known(values)
    if kind:
        raise WrongType(f"{what} came as {type(values).__name__}, which holds no rows yet: pass its {call}.")
