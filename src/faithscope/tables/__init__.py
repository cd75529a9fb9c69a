"""The same counts as relational expressions: a log is measured where it lives, by DuckDB, Postgres or Spark."""
