"""Explanations that restate the prediction are told of logs in every engine, in the words that memory has for them."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import faithscope as fs
from faithscope.measures.notes.restatement import NO_MERIT, RESTATE
from faithscope.report.summary import summarize
from tables import engines

RNG = np.random.default_rng(0)
N = 2_400
YES = RNG.random(N) < 0.3
LABELS = np.where(YES, "yes", "no")
ROWS = pd.DataFrame({"age": RNG.normal(size=N).round(3), "approved": np.where(YES, "A", "D")})
ROWS["paid"] = np.where(YES, 1.5, 0.0)
PAID = np.where(YES, "paid > 1", "paid <= 1")
RULES = [f"approved == {ROWS.approved[row]}" if row % 2 else str(PAID[row]) for row in range(N)]


def told(estimate):
    return [note for note in estimate.notes if NO_MERIT in note or RESTATE in note]


@pytest.mark.parametrize("engine", engines.NAMES)
def test_another_name_of_the_prediction_is_told_in_every_engine(engine):
    log = pd.DataFrame({"why": ROWS.approved, "yhat": LABELS, "case": np.arange(N) // 2})
    options = {"prediction": "yhat", "explanation": "why"}
    audited = fs.audit(**engines.put(engine, f"restated_{engine}", pa.Table.from_pandas(log)), **options)
    assert told(audited.consistency) == told(fs.consistency(log.why, log.yhat)) != []
    assert any(NO_MERIT in doubt for doubt in summarize(audited).explainers[0].doubts)
    log.loc[N - 1, "why"] = "other"
    broken = fs.audit(**engines.put(engine, f"broken_{engine}", pa.Table.from_pandas(log)), **options)
    assert told(broken.consistency) == []


@pytest.mark.parametrize("engine", engines.NAMES)
def test_a_column_that_copies_the_prediction_is_told_in_every_engine(engine):
    log = ROWS.assign(why=RULES, yhat=LABELS)
    options = {"prediction": "yhat", "explanation": "why", "kind": "rules"}
    audited = fs.audit(**engines.put(engine, f"copied_{engine}", pa.Table.from_pandas(log)), **options)
    rules = fs.Rules.parse(RULES)
    assert sorted(told(audited.sufficiency)) == sorted(told(fs.sufficiency(rules, LABELS, ROWS)))
    assert len(told(audited.sufficiency)) == 2
    log.loc[N - 1, ["approved", "paid"]] = ["A" if log.approved[N - 1] == "D" else "D", np.nan]
    broken = fs.audit(**engines.put(engine, f"uncopied_{engine}", pa.Table.from_pandas(log)), **options)
    assert told(broken.sufficiency) == []


def test_clustered_logs_and_populations_are_told():
    log = pd.DataFrame({"why": ROWS.approved, "yhat": LABELS, "case": np.arange(N) // 2, "part": np.arange(N) % 2})
    audited = fs.audit(log, prediction="yhat", explanation="why", clusters="case", by="part")
    assert told(audited.consistency)
    assert all(map(told, audited.populations.estimates.values()))


def test_a_log_of_missing_values_is_told_if_they_are_a_value():
    log = pd.DataFrame({"why": np.where(YES, "A", None), "yhat": LABELS})
    assert told(fs.audit(log, prediction="yhat", explanation="why", nulls="key").consistency)
