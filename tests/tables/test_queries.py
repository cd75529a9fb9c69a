"""Logs that are queries: polars LazyFrames, DuckDB relations, Arrow datasets and readers."""

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pytest

import faithscope as fs
from faithscope.errors import BadInput, FaithscopeError, WrongType

RANDOM = np.random.default_rng(3)
LOG = pa.table({"leaf": RANDOM.integers(0, 9, 300), "y": RANDOM.integers(0, 2, 300)})
HOW = {"prediction": "y", "explanation": "leaf"}


def relation():
    connection = duckdb.connect()
    connection.register("log", LOG)
    return connection.sql("SELECT * FROM log")


QUERIES = {
    "lazy frame": lambda: pl.from_arrow(LOG).lazy(),
    "relation": relation,
    "dataset": lambda: pyarrow.dataset.dataset(LOG),
    "reader": lambda: LOG.to_reader(max_chunksize=70),
}


@pytest.mark.parametrize("kind", QUERIES)
def test_a_query_is_audited_like_the_table_it_gives(kind):
    audit = fs.audit(QUERIES[kind](), **HOW)
    expected = fs.audit(LOG, **HOW)
    assert audit.consistency.to_dict() == expected.consistency.to_dict()
    assert audit.table().equals(expected.table())
    assert audit.name == kind


def test_a_lazy_frame_is_read_once():
    reads = []

    def counted(frame):
        reads.append(len(frame))
        return frame

    fs.audit(pl.from_arrow(LOG).lazy().map_batches(counted), **HOW, discretizer=None).table()
    assert sum(reads) == len(LOG)


@pytest.mark.parametrize("query", [pl.from_arrow(LOG).lazy().filter(pl.col("leaf") > 99), LOG.slice(0, 0).to_reader()])
def test_a_query_without_rows_is_one_sentence(query):
    with pytest.raises(BadInput, match="no rows"):
        fs.audit(query, **HOW)


def test_what_a_query_raises_is_one_line():
    with pytest.raises(BadInput, match=r"Reading the lazy frame failed: .*nosuch") as problem:
        fs.audit(pl.from_arrow(LOG).lazy().select("nosuch"), **HOW)
    assert "\n" not in str(problem.value)


def test_a_connection_is_answered_with_the_line_that_works():
    connection = duckdb.connect()
    for thing in (connection, connection.cursor()):
        with pytest.raises(WrongType, match=r"con\.table\('name'\) or con\.sql"):
            fs.audit(thing, **HOW)


CALLS = {"lazy frame": r"collect\(\)", "relation": r"df\(\)", "dataset": r"to_table\(\)", "reader": r"read_all\(\)"}


@pytest.mark.parametrize("kind", QUERIES)
@pytest.mark.parametrize(
    "ask",
    [
        lambda query: fs.evaluate([0, 1], ["a", "b"], query),
        lambda query: fs.consistency(query, [0, 1]),
        lambda query: fs.consistency(["a", "b"], query),
        lambda query: fs.sufficiency(fs.Highlights([{"a"}, {"b"}]), [0, 1], query),
    ],
)
def test_in_memory_a_query_is_answered_with_the_call_that_gives_its_rows(kind, ask):
    with pytest.raises(FaithscopeError, match=rf"holds no rows yet: pass its {CALLS[kind]}"):
        ask(QUERIES[kind]())
