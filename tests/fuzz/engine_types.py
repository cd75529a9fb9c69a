"""What a column of a log may hold, by engine, type and extreme, as SQL; each beside a usual value of its type."""

FLOATS = {"NaN": "'NaN'", "infinite": "'Infinity'", "largest": "1.7976931348623157e308", "smallest": "5e-324"}
MOMENTS = {
    "year 1": "'0001-01-01'",
    "before 1970": "'1969-12-31'",
    "year 9999": "'9999-12-31'",
    "year 12000": "'12000-01-01'",
    "infinite": "'infinity'",
    "minus infinite": "'-infinity'",
}
TEXTS = {"empty": "''", "quotes": "'it''s \"\\;--'", "control characters": "E'a\\x1f\\x07\\n'", "right to left": "'‮ab'"}


def cast(values, usual, kind):
    """Texts of values as expressions of a type, each with the usual value of that type."""
    return {extreme: (f"CAST({text} AS {kind})", f"CAST({usual} AS {kind})") for extreme, text in values.items()}


# By the names that DuckDB has for them too.
SHARED = {
    "double": cast(FLOATS, "1", "float8"),
    "int64": cast({"largest": "9223372036854775807", "smallest": "-9223372036854775808"}, "1", "int8"),
    "timestamp": cast({**MOMENTS, "year 290000": "'290000-01-01'"}, "'2026-01-01'", "timestamp"),
    "timestamp with zone": cast(MOMENTS, "'2026-01-01'", "timestamptz"),
    "time": cast({"24:00": "'24:00:00'"}, "'12:00'", "time"),
    "interval": cast({"months": "'13 months'"}, "'1 day'", "interval"),
    "uuid": cast({"zero": "'00000000-0000-0000-0000-000000000000'"}, "'11111111-1111-1111-1111-111111111111'", "uuid"),
    "json": cast({"nested": "'{\"a\": [1, null]}'"}, "'1'", "json"),
}
DUCKDB = SHARED | {
    "float": cast({**FLOATS, "largest": "3.4e38", "smallest": "1e-45"}, "1", "FLOAT"),
    "uint64": cast({"largest": "18446744073709551615", "above 2^63": "9223372036854775809"}, "1", "UBIGINT"),
    "int128": cast({"largest": "170141183460469231731687303715884105727"}, "1", "HUGEINT"),
    "decimal": cast({"38 digits": "12345678901234567890123456789012345678"}, "1", "DECIMAL(38, 0)"),
    "text": cast({**TEXTS, "control characters": "chr(31) || chr(7) || chr(10)"}, "'a'", "VARCHAR"),
    "date": cast(MOMENTS, "'2026-01-01'", "DATE"),
    "nanoseconds": cast({"before 1970": "'1969-12-31 23:59:59.999999999'"}, "'2026-01-01'", "TIMESTAMP_NS"),
    "bytes": cast({"zero byte": "'\\x00\\xFF'"}, "'a'", "BLOB"),
    "list": {"of numbers": ("[1, 2]", "[1]")},
    "record": {"of two": ("{'a': 1, 'b': 'x'}", "{'a': 2, 'b': 'y'}")},
    "map": {"of one": ("MAP {'a': 1}", "MAP {'b': 2}")},
    "truth value": {"null": ("NULL::BOOLEAN", "true")},
}
POSTGRES = SHARED | {
    "float": cast({"NaN": "'NaN'", "infinite": "'Infinity'", "largest": "3.4e38"}, "1", "float4"),
    "decimal": cast(
        {
            "NaN": "'NaN'",
            "infinite": "'Infinity'",
            "minus infinite": "'-Infinity'",
            "60 digits": "1e60",
            "13 decimals": "1.0000000000001",
        },
        "1",
        "numeric",
    ),
    "text": cast(TEXTS, "'a'", "text"),
    "date": cast({**MOMENTS, "before year 1": "'0044-03-15 BC'"}, "'2026-01-01'", "date"),
    "time with zone": cast({"with zone": "'12:00+02'"}, "'12:00+00'", "timetz"),
    "jsonb": cast({"nested": "'{\"a\": [1, null]}'"}, "'1'", "jsonb"),
    "inet": cast({"host": "'10.0.0.1'", "network": "'::1/64'"}, "'10.0.0.2'", "inet"),
    "money": cast({"negative": "'-12.30'"}, "'1'", "money"),
    "bytes": cast({"zero byte": "'\\x00ff'"}, "'\\x61'", "bytea"),
    "list": {"of numbers": ("ARRAY[1, 2]", "ARRAY[1]")},
    "point": cast({"of two": "'(1,2)'"}, "'(0,0)'", "point"),
    "range": cast({"open": "'[1,)'"}, "'[0,1)'", "int4range"),
    "text search": cast({"words": "'a b'"}, "'c'", "tsvector"),
    "truth value": {"null": ("NULL::bool", "true")},
}

SPARK = {
    "float": cast({"NaN": "'NaN'", "infinite": "'Infinity'"}, "1", "FLOAT"),
    "double": cast(FLOATS, "1", "DOUBLE"),
    "int64": cast({"largest": "9223372036854775807"}, "1", "BIGINT"),
    "decimal": cast({"38 digits": "'12345678901234567890123456789012345678'"}, "1", "DECIMAL(38, 0)"),
    "text": cast({"empty": "''"}, "'a'", "STRING"),
    "date": cast({"year 1": "'0001-01-01'", "year 12000": "'+12000-01-01'"}, "'2026-01-01'", "DATE"),
    "timestamp": cast({"year 12000": "'+12000-01-01'"}, "'2026-01-01'", "TIMESTAMP_NTZ"),
    "timestamp with zone": cast(
        {"before 1970": "'1969-12-31'", "year 12000": "'+12000-01-01'"}, "'2026-01-01'", "TIMESTAMP"
    ),
    "list": {"of numbers": ("array(1, 2)", "array(1)")},
    "record": {"of two": ("named_struct('a', 1)", "named_struct('a', 2)")},
    "bytes": cast({"letter": "'b'"}, "'a'", "BINARY"),
    "truth value": {"null": ("CAST(NULL AS BOOLEAN)", "true")},
}
TYPES = {"duckdb": DUCKDB, "postgres": POSTGRES, "spark": SPARK}
