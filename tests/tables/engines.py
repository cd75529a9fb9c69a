"""The engines that a log may live in, each started once a process; what is missing says why."""

import atexit
import importlib.util
import os
import shutil
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tables.postgres as postgres

NAMES = ("duckdb", "postgres", "spark")
EACH = pytest.mark.parametrize(
    "engine", ["duckdb", *(pytest.param(name, marks=pytest.mark.thorough) for name in NAMES[1:])]
)
_TYPES = {
    "large_string": "text",
    "double": "float8",
    "int64": "int8",
    "string": "text",
    "bool": "bool",
    "timestamp[us]": "timestamp",
    "date32[day]": "date",
}


def put(engine, name, table):
    """Store a table, and say how `audit` finds it."""
    if engine == "postgres":
        _put_postgres(server(), name, table)
        return {"table": name, "connect": server().url()}
    path = folder() / f"{name}.parquet"
    pq.write_table(table, path)
    if engine == "duckdb":
        return {"table": path}
    return {"table": spark().read_parquet(str(path))}


@cache
def folder():
    path = Path(tempfile.mkdtemp(prefix="faithscope-engines-"))
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path


@cache
def server():
    """The server of this run, and a database of this process's own in it."""
    if reason := postgres.why_not():
        pytest.skip(reason)
    psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed (pip install 'faithscope[postgres]')")
    shared, own = postgres.running(), f"worker_{os.getpid()}"
    with psycopg.connect(shared.owner, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {own}")
    mine = replace(shared, database=own)
    with psycopg.connect(mine.owner, autocommit=True) as connection:
        connection.execute("REVOKE ALL ON SCHEMA public FROM public")
        connection.execute(f"REVOKE ALL ON DATABASE {own} FROM public")
        connection.execute(f"GRANT CONNECT ON DATABASE {own} TO {postgres.READER}")
        connection.execute(f"GRANT USAGE ON SCHEMA public TO {postgres.READER}")
    return mine


def _put_postgres(server, name, table):
    import psycopg
    from psycopg import sql

    columns = [
        sql.SQL("{} {}").format(sql.Identifier(field.name), sql.SQL(_postgres_type(field.type)))
        for field in table.schema
    ]
    where = sql.Identifier(name)
    with psycopg.connect(server.owner, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(where))
        cursor.execute(sql.SQL("CREATE TABLE {} ({})").format(where, sql.SQL(", ").join(columns)))
        with cursor.copy(sql.SQL("COPY {} FROM STDIN").format(where)) as copy:
            for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
                copy.write_row(row)
        cursor.execute(sql.SQL("GRANT SELECT ON {} TO {}").format(where, sql.Identifier(postgres.READER)))


def run_postgres(name, *statements):
    """Make a table by statements of the owner, and say how `audit` finds it."""
    import psycopg

    with psycopg.connect(server().owner, autocommit=True) as connection:
        for statement in (f"DROP TABLE IF EXISTS {name}", *statements, f"GRANT SELECT ON {name} TO {postgres.READER}"):
            connection.execute(statement)
    return {"table": name, "connect": server().url()}


def _postgres_type(kind):
    if pa.types.is_decimal(kind):
        return f"numeric({kind.precision}, {kind.scale})"
    if pa.types.is_timestamp(kind) and kind.tz:
        return "timestamptz"
    return f"{_postgres_type(kind.value_type)}[]" if pa.types.is_list(kind) else _TYPES[str(kind)]


@cache
def spark():
    """One session for all tests of a process."""
    if importlib.util.find_spec("pyspark") is None:
        pytest.skip("pyspark is not installed (pip install 'faithscope[spark]')")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java (apt-get install openjdk-17-jre-headless)")
    import ibis
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.codegen.wholeStage": "false",  # compiling takes longer than these few rows
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.adaptive.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.sql.warehouse.dir": str(folder() / "warehouse"),
    }
    builder = SparkSession.builder.master("local[2]").appName("faithscope-tests")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    atexit.register(session.stop)
    return ibis.pyspark.connect(session)
