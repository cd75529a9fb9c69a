"""Arrow tables from anywhere: damaged bytes and hostile metadata are one sentence, never the end of the process."""

import pytest

from child import python
from fuzz.outcomes import injected

TRIES = [15, pytest.param(150, marks=pytest.mark.thorough)]
DAMAGED = """
import base64, json, sys
import numpy as np
import pyarrow as pa
import faithscope as fs
from faithscope.explanations.arrow import METADATA, from_arrow, to_arrow

KINDS = {
    "rules": lambda: fs.Rules.from_conditions([[("a", "<=", 1.0)], [("b", "==", "x")], []], features=["a", "b"]),
    "words": lambda: fs.Highlights([{"great"}, {"dull", "plot"}, set()]),
    "keys": lambda: fs.evaluate([0, 1, 1], ["a", "b", "b"], [[0], [1], [2]], progress=False).explanations,
    "importances": lambda: fs.Importances([[1.0, 2.0], [3.0, 4.0]], names=["a", "b"]),
    "prototypes": lambda: fs.Prototypes([[0], [1]], points=[["a", 1.0], ["b", 2.0]], metric="gower"),
}


def bytes_of(table):
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return sink.getvalue().to_pybytes()


def damaged(content, rng):
    changed = bytearray(content)
    for _ in range(rng.integers(1, 4)):
        changed[rng.integers(len(changed))] = rng.integers(256)
    return bytes(changed)


def outside(table, rng):
    return pa.ipc.open_stream(damaged(bytes_of(table), rng)).read_all()


def inside(table, rng):
    metadata = json.loads(table.schema.metadata[METADATA])
    metadata["points"]["table"] = base64.b64encode(damaged(base64.b64decode(metadata["points"]["table"]), rng)).decode()
    return table.replace_schema_metadata({METADATA: json.dumps(metadata).encode()})


for kind in KINDS:
    table, rng = to_arrow(KINDS[kind]()), np.random.default_rng(0)
    tried = refused = 0
    while tried < int(sys.argv[1]):
        try:
            hostile = (inside if kind == "prototypes" else outside)(table, rng)
        except (OSError, ValueError, KeyError):  # Arrow itself refuses to read it
            continue
        tried += 1
        try:
            explanations = from_arrow(hostile)
            for row in range(len(explanations)):
                explanations.describe(row)
        except fs.errors.FaithscopeError as error:
            assert len(str(error).splitlines()) == 1
            refused += 1
    print(kind, refused, flush=True)
"""


@pytest.mark.parametrize("tries", TRIES)
def test_damaged_tables_of_every_kind_are_refused_and_end_no_process(tries):
    refused = [int(line.split()[1]) for line in python(DAMAGED, str(tries)).stdout.splitlines()]
    assert len(refused) == 5
    assert min(refused) > 0
    for _ in range(5 * tries):
        injected("a table of explanations whose bytes are damaged")
