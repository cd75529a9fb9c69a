"""A monitor that is fed from a log, whatever the engine in which the log lives: the batch is that of memory."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.random import default_rng

import faithscope as fs
from tables import engines

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


def test_numbers_of_any_size_are_counted_by_their_signs():
    for size in (2.0**53, 2.0**60, 1e300):
        phi, monitor = PHI * size, fs.Monitor(by="region")
        added = monitor.add(phi, YHAT, discretizer="sign", when=WHEN, by=REGION)
        with pytest.warns(UserWarning, match="added before"):
            assert monitor.add_log(table(phi), **HOW, discretizer="sign").batch == added.batch


SCOPES = [
    "age <= 40",
    "age > 30 and job == clerk",
    "job != clerk",
    "age is missing",
    "everything",
    *(f"age > {place}.5" for place in range(70)),  # more than fit in one integer
]


def scoped_rows():
    """Rows under rules that overlap; ages and jobs may be missing."""
    rng = default_rng(5)
    rows = pd.DataFrame(
        {"age": rng.integers(18, 70, ROWS) + 0.25, "job": rng.choice(["clerk", "nurse", "smith"], ROWS)}
    )
    rows.loc[::17, "age"] = np.nan
    rows.loc[::23, "job"] = None
    return rows.assign(rule=rng.choice(SCOPES, ROWS), yhat=YHAT, region=REGION, ts=WHEN)


@engines.EACH
def test_rows_of_a_log_in_an_engine_lie_in_the_scopes_in_which_they_lie_in_memory(engine):
    rows = scoped_rows()
    monitor = fs.Monitor(by="region", scopes=SCOPES)
    added = monitor.add(rows["rule"].tolist(), YHAT, X=rows[["age", "job"]], when=WHEN, by=REGION)
    columns = {name: pa.array(rows[name], from_pandas=True) for name in ("age", "job", "rule", "yhat", "region")}
    how = engines.put(engine, "scoped", pa.table({**columns, "ts": table()["ts"]}))
    with pytest.warns(UserWarning, match="added before"):
        logged = monitor.add_log(**how, prediction="yhat", explanation="rule", when="ts")
    assert (logged.batch, logged.rows, logged.counted) == (added.batch, ROWS, False)
