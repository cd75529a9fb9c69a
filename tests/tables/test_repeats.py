"""Whole rows of a log that repeat are told, unless something tells them apart or they are all that is measured."""

import numpy as np
import pandas as pd
import pytest

import faithscope as fs
from faithscope.inputs.repeats import TOO_HIGH
from faithscope.tables import repeats


def log(n: int = 600, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    columns = {"leaf": rng.integers(0, 9, n), "yhat": rng.choice(["yes", "no"], n), "age": rng.normal(size=n)}
    return pd.DataFrame({**columns, "pay": rng.normal(size=n), "job": rng.choice(["a", "b", "c"], n)})


def told(table: object, **options: object) -> list[str]:
    audited = fs.audit(table, **{"prediction": "yhat", "explanation": "leaf"} | options)
    return [note for note in audited.consistency.notes if "repeat an earlier row" in note]


def test_a_doubled_log_is_told_with_half_of_its_rows() -> None:
    once = log()
    assert told(once) == []
    twice = pd.concat([once, once]).sample(frac=1, random_state=0)
    (note,) = told(twice)
    assert note.startswith("50% of rows repeat an earlier row in every column of the log: ")
    assert TOO_HIGH in note
    assert told(twice, discretizer="sign", explanation=["age", "pay"])


def test_a_few_rows_that_were_logged_again_are_told() -> None:
    once = log()
    assert told(pd.concat([once, once[:40]]))[0].startswith("6%")
    assert told(pd.concat([once, once[:4]])) == []


def test_a_column_that_tells_rows_apart_makes_them_different() -> None:
    twice = pd.concat([log(), log()])
    assert told(twice.assign(request=range(len(twice)))) == []
    assert told(twice.assign(request=range(len(twice))), id="request") == []


def test_clustered_rows_may_repeat() -> None:
    twice = pd.concat([log(), log()]).assign(case=np.tile(np.arange(600), 2))
    assert told(twice)
    assert told(twice, clusters="case") == []


def test_chance_repeats_of_a_log_of_categories_are_not_told() -> None:
    for seed in range(3):
        assert told(log(2000, seed)[["leaf", "yhat", "job"]]) == []


def test_explanations_and_predictions_alone_are_what_is_counted() -> None:
    twice = pd.concat([log(), log()])
    assert told(twice[["leaf", "yhat"]]) == []
    notes = fs.audit(twice[["age", "pay", "yhat"]], prediction="yhat", explanation=["age", "pay"]).consistency.notes
    assert any("600 explanations were given to exactly 2 rows" in note for note in notes)


@pytest.mark.parametrize("agreement", [fs.Spread(), fs.Close(0.5)])
def test_numbers_are_told_like_labels(agreement: object) -> None:
    once = log().assign(yhat=lambda rows: rows.age * 2)
    assert told(once, agreement=agreement) == []
    assert told(pd.concat([once, once]), agreement=agreement)


def test_a_part_of_a_long_log_tells_the_same(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.setattr(repeats, "_FEW", 1000)
    once = log(20_000)
    path = f"{tmp_path}/log.parquet"
    pd.concat([once, once]).sample(frac=1, random_state=0).to_parquet(path)
    assert told(path)[0].startswith("50%")
    once.to_parquet(path)
    assert told(path) == []
    assert told(log(20_000)[["leaf", "yhat", "job"]]) == []


def test_missing_values_and_nested_columns_do_not_fail_an_audit() -> None:
    twice = pd.concat([log(), log()], ignore_index=True)
    assert told(twice.assign(pay=twice.pay.where(twice.age > 0), job=twice.job.where(twice.age > 0)))[0].startswith(
        "50%"
    )
    assert told(twice.assign(words=[["a", "b"]] * len(twice))) == []
