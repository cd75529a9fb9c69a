"""One long text among many rows: it takes as much memory as it has letters, under a real limit."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from child import python
from faithscope.cli.evaluate import read_rows
from faithscope.errors import TooLarge
from faithscope.inputs.arrays import to_vector
from faithscope.runtime import memory
from fuzz.outcomes import injected
from refused import refused

# As an array of NumPy's texts the column would take 15 GiB.
LIMITED = """
import resource, sys
import numpy as np
import pandas as pd
import faithscope as fs
from faithscope.explainers import TreePath

rows = pd.DataFrame({"a": np.arange(20_000) % 50, "t": ["x" * 200_000 if i == 7 else "y" for i in range(20_000)]})
labels = np.arange(20_000) % 3 == 0
resource.setrlimit(resource.RLIMIT_AS, (3 * 2**30, 3 * 2**30))
ev = fs.evaluate(labels, rows["a"].tolist(), rows, progress=False)
assert len(ev.counterexamples()) == 10
ev.to_html(sys.argv[1])
TreePath.surrogate(lambda X: X["t"].to_numpy(object), rows[["a"]].assign(t=rows["t"])[["a", "t"]])
assert fs.consistency(rows["t"].tolist(), labels).distinct == 2
print("survived")
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits on addresses are Linux's")
def test_one_long_text_does_not_make_every_row_long(tmp_path):
    done = python(LIMITED, str(tmp_path / "report.html"))
    assert done.stdout.split() == ["survived"]
    assert (tmp_path / "report.html").stat().st_size < 3_000_000
    injected("one long text under a real limit of memory")


def repeated(folder, letters, rows=1000):
    """A Parquet file that keeps one text once, for all rows."""
    path = folder / "rows.parquet"
    pq.write_table(pa.table({"a": np.arange(rows), "t": ["é" * (letters // 2)] * rows}), path, compression="zstd")
    return Path(path)


def test_texts_that_fit_are_not_refused(tmp_path, monkeypatch):
    path = repeated(tmp_path, 100)
    monkeypatch.setattr(memory, "SMALL", 0)
    monkeypatch.setattr(memory, "available", lambda: 2**20)
    assert len(read_rows(path)) == 1000


@pytest.mark.parametrize("library", ["pandas", "pyarrow", "polars"])
def test_a_column_of_texts_is_measured_before_it_is_unpacked(library, monkeypatch):
    texts = ["x" * 1000] * 1000
    column = {
        "pandas": lambda: pd.Series(texts, dtype="string[pyarrow]"),
        "pyarrow": lambda: pa.chunked_array([texts]),
        "polars": lambda: pytest.importorskip("polars").Series(texts),
    }[library]()
    monkeypatch.setattr(memory, "SMALL", 0)
    monkeypatch.setattr(memory, "available", lambda: 2**19)
    refused(TooLarge, "A column of 1,000 texts", to_vector, column)
    monkeypatch.setattr(memory, "available", lambda: 2**22)
    assert to_vector(column).tolist() == texts
