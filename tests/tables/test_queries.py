"""Logs that are queries: polars LazyFrames, DuckDB relations, Arrow datasets and readers."""

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pytest
from numpy.random import default_rng

import faithscope as fs
from faithscope.errors import BadInput, FaithscopeError, WrongType
from refused import refused

RANDOM = default_rng(3)
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


def test_a_query_without_rows_or_that_fails_and_a_connection_are_one_sentence():
    lazy, connection = pl.from_arrow(LOG).lazy(), duckdb.connect()
    for error, words, query in (
        (BadInput, "no rows", lazy.filter(pl.col("leaf") > 99)),
        (BadInput, "no rows", LOG.slice(0, 0).to_reader()),
        (BadInput, "Reading the lazy frame failed: .*nosuch", lazy.select("nosuch")),
        (WrongType, r"con\.table\('name'\) or con\.sql", connection),
        (WrongType, r"con\.table\('name'\) or con\.sql", connection.cursor()),
    ):
        with pytest.raises(error, match=words) as problem:
            fs.audit(query, **HOW)
        assert "\n" not in str(problem.value)


CALLS = {"lazy frame": r"collect\(\)", "relation": r"df\(\)", "dataset": r"to_table\(\)", "reader": r"read_all\(\)"}


@pytest.mark.parametrize("kind", QUERIES)
def test_in_memory_a_query_is_answered_with_the_call_that_gives_its_rows(kind):
    for ask in (
        lambda query: fs.evaluate([0, 1], ["a", "b"], query),
        lambda query: fs.consistency(query, [0, 1]),
        lambda query: fs.consistency(["a", "b"], query),
        lambda query: fs.sufficiency(fs.Highlights([{"a"}, {"b"}]), [0, 1], query),
    ):
        refused(FaithscopeError, rf"holds no rows yet: pass its {CALLS[kind]}", ask, QUERIES[kind]())
