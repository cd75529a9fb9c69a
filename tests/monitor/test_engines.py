"""A monitor that is fed from a log: the batch is that of memory."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.random import default_rng

import faithscope as fs
from faithscope.errors import BadInput
from refused import refused

ROWS = 200
PHI = pd.DataFrame(default_rng(3).normal(size=(ROWS, 3)).round(1), columns=["phi_a", "phi_b", "phi_c"])
YHAT = np.where(default_rng(4).random(ROWS) < 0.3, "no", "yes")
REGION = np.where(np.arange(ROWS) % 3 == 0, "eu", "us")
WHEN = pd.Timestamp("2026-01-01") + pd.to_timedelta(np.arange(ROWS) % 72, "h")
HOW = {"prediction": "yhat", "explanation": "phi_*", "when": "ts"}


def table(phi=PHI):
    columns = {**{name: pa.array(phi[name], from_pandas=False) for name in phi}, "yhat": pa.array(YHAT.tolist())}
    moments = pa.array(WHEN.to_pydatetime().tolist(), pa.timestamp("us"))
    return pa.table({**columns, "region": pa.array(REGION.tolist()), "ts": moments})


def test_a_log_of_which_no_row_is_left_adds_nothing_and_says_so():
    monitor, missing = fs.Monitor(by="region"), table().set_column(3, "yhat", pa.array([None] * 199 + ["yes"]))
    gone = missing.set_column(4, "region", pa.array(["eu"] * 199 + [None]))
    refused(BadInput, "No row is left", monitor.add_log, gone, **HOW, nulls="drop")
    assert monitor.table().empty


def test_numbers_of_any_size_are_counted_by_their_signs():
    for size in (2.0**53, 2.0**60, 1e300):
        phi, monitor = PHI * size, fs.Monitor(by="region")
        added = monitor.add(phi, YHAT, discretizer="sign", when=WHEN, by=REGION)
        with pytest.warns(UserWarning, match="added before"):
            assert monitor.add_log(table(phi), **HOW, discretizer="sign").batch == added.batch
