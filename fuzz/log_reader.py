"""Fuzz the log reader: bytes as CSV, JSON lines, a damaged Parquet file, or what a log says of its explanations.

The first byte says which of these the rest is, and of what kind the explanations are said to be.
"""

import sys
import tempfile
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import faithscope as fs
from faithscope.errors import FaithscopeError
from faithscope.explanations.arrow import METADATA, from_arrow
from faithscope.explanations.keys import Plain, Records
from faithscope.tables.writing import to_log

LONGEST = 400  # characters of a sentence
KINDS = (None, "importances", "keys", "rules", "words", "prototypes", "counterfactuals")
HOW = ("csv", "jsonl", "parquet", "settings", "cells")


def one_input(data: bytes) -> bool:
    """Whether these bytes are a log that can be audited; raises where the law is broken."""
    first, content = data[:1] or b"\0", data[1:]
    how, kind = HOW[first[0] % len(HOW)], KINDS[first[0] // len(HOW) % len(KINDS)]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the engine's
            _READERS[how](content, kind)
    except FaithscopeError as error:
        message = str(error)
        if not message or len(message.splitlines()) != 1 or len(message) > LONGEST:
            raise AssertionError(f"not one sentence: {message!r}") from error
        return False
    return True


def _valid(estimate: fs.Estimate) -> None:
    if not 0 <= estimate.low <= estimate.value <= estimate.high <= 1:
        raise AssertionError(f"no estimate: {estimate}")


def _file(content: bytes, suffix: str, **how: object) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"log.{suffix}"
        path.write_bytes(content)
        _valid(fs.audit(path, **how).consistency)


def _csv(content: bytes, kind: str | None) -> None:
    _file(b"yhat,e\n" + content, "csv", prediction="yhat", explanation="e", kind=kind)


def _json(content: bytes, kind: str | None) -> None:
    _file(content, "jsonl", prediction="yhat", explanation="e", kind=kind)


@cache
def logs() -> list[bytes]:
    """Whole logs of every kind of explanation, as Parquet."""
    sink = [pa.BufferOutputStream() for _ in _tables()]
    for table, buffer in zip(_tables(), sink, strict=True):
        pq.write_table(table, buffer)
    return [buffer.getvalue().to_pybytes() for buffer in sink]


@cache
def _tables() -> list[pa.Table]:
    X = np.array([[0.0, 1.0], [1.0, 0.5], [0.0, 0.0], [1.0, 1.0]])
    kinds = [
        fs.Importances(X),
        fs.Rank()(fs.Importances(X)),
        Plain([("a", 1), ("b", 2), ("a", 1), ("b", 2)]),
        Records([["a", "b", "a", "b"], [1, 2, 1, 2]], ["u", "v"]),
        fs.Rules.from_conditions([[("x0", "<=", 0.5)], [], [("x0", "<=", 0.5)], [("x1", ">", 0)]], ["x0", "x1"]),
        fs.Highlights([{"a"}, {"b"}, {"a"}, set()]),
        fs.Prototypes([[0], [1], [0], [1]], X),
        fs.Counterfactuals(X, X[::-1]),
    ]
    texts = ["a b", "b", "a", "c"]
    return [
        to_log(explanations, [0, 1, 0, 1], texts if isinstance(explanations, fs.Highlights) else X)
        for explanations in kinds
    ]


def _parquet(content: bytes, kind: str | None) -> None:
    """A whole log with some of its bytes changed, or cut short."""
    log = bytearray(logs()[content[0] % len(logs())] if content else logs()[0])
    changes = content[1:]
    for place in range(0, len(changes) - 2, 3):
        log[int.from_bytes(changes[place : place + 2], "big") % len(log)] = changes[place + 2]
    end = len(log) if len(changes) % 3 == 0 else int.from_bytes(changes[-2:], "big") % len(log)
    _file(bytes(log[:end]), "parquet")


def _settings(content: bytes, kind: str | None) -> None:
    """A log whose description of its explanations is these bytes."""
    table = _tables()[content[0] % len(_tables())] if content else _tables()[0]
    hostile = table.replace_schema_metadata({METADATA: content[1:]})
    explanations = from_arrow(hostile)
    if len(explanations) != table.num_rows:
        raise AssertionError(f"{len(explanations)} explanations of {table.num_rows} rows")
    _valid(fs.audit(hostile).consistency)


def _cells(content: bytes, kind: str | None) -> None:
    """A log whose explanations are these bytes as text, a line each."""
    texts = content.decode("utf-8", "replace").split("\n")
    table = pa.table(
        {"yhat": [len(text) % 2 for text in texts], "e": texts, "x0": [float(len(text)) for text in texts]}
    )
    _valid(fs.audit(table, prediction="yhat", explanation="e", kind=kind).consistency)


_READERS = {"csv": _csv, "jsonl": _json, "parquet": _parquet, "settings": _settings, "cells": _cells}


def main() -> None:
    """Fuzz for as long as the arguments of libFuzzer say."""
    import atheris

    atheris.instrument_all()
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
