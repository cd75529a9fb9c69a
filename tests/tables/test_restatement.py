"""Explanations that restate the prediction are told of logs in every engine, in the words that memory has for them."""

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.random import default_rng

import faithscope as fs
from faithscope.notes import NO_MERIT, RESTATE
from faithscope.report.summary import summarize
from tables import engines

RNG = default_rng(0)
N = 2_400
YES = RNG.random(N) < 0.3
LABELS = np.where(YES, "yes", "no")
ROWS = pd.DataFrame({"age": RNG.normal(size=N).round(3), "approved": np.where(YES, "A", "D")})
ROWS["paid"] = np.where(YES, 1.5, 0.0)
HOW = {"prediction": "yhat", "explanation": "why"}
PAID = np.where(YES, "paid > 1", "paid <= 1")
RULES = [f"approved == {ROWS.approved[row]}" if row % 2 else str(PAID[row]) for row in range(N)]


def told(estimate):
    return [note for note in estimate.notes if NO_MERIT in note or RESTATE in note]


def asked(engine, log, **how):
    return fs.audit(**engines.put(engine, "restated", pa.Table.from_pandas(log)), **HOW, **how)


@engines.EACH
def test_another_name_of_the_prediction_is_told_in_every_engine(engine):
    log = pd.DataFrame({"why": ROWS.approved, "yhat": LABELS})
    audited = asked(engine, log)
    assert told(audited.consistency) == told(fs.consistency(log.why, log.yhat)) != []
    assert any(NO_MERIT in doubt for doubt in summarize(audited).explainers[0].doubts)
    log.loc[N - 1, "why"] = "other"
    assert told(asked(engine, log).consistency) == []


@engines.EACH
def test_a_column_that_copies_the_prediction_is_told_in_every_engine(engine):
    log = ROWS.assign(why=RULES, yhat=LABELS)
    notes = told(asked(engine, log, kind="rules").sufficiency)
    assert sorted(notes) == sorted(told(fs.sufficiency(fs.Rules.parse(RULES), LABELS, ROWS)))
    assert len(notes) == 2
    log.loc[N - 1, ["approved", "paid"]] = ["A" if log.approved[N - 1] == "D" else "D", np.nan]
    assert told(asked(engine, log, kind="rules").sufficiency) == []


def test_clustered_logs_populations_and_missing_values_as_a_value_are_told():
    log = pd.DataFrame({"why": ROWS.approved, "yhat": LABELS, "case": np.arange(N) // 2, "part": np.arange(N) % 2})
    audited = fs.audit(log, **HOW, clusters="case", by="part")
    assert told(audited.consistency)
    assert all(map(told, audited.populations.among.estimates.values()))
    assert told(fs.audit(log.assign(why=np.where(YES, "A", None)), **HOW, nulls="key").consistency)
