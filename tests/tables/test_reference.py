"""A log against another one: the difference of two independent estimates, in the text, in JSON and on the page."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import faithscope as fs
from faithscope.errors import BadInput
from faithscope.measures.comparing.populations import difference


def week(faithful, seed, rows=400):
    random = np.random.default_rng(seed)
    leaf = random.integers(0, 4, rows)
    guessed = random.random(rows) > faithful
    day = pd.Timestamp("2026-03-01") + pd.to_timedelta(random.integers(0, 7, rows), "D")
    region = random.choice(["EU", "US"], rows)
    return pd.DataFrame({"leaf": leaf, "y": np.where(guessed, random.integers(0, 2, rows), leaf % 2)}).assign(
        day=day, region=region
    )


THIS, LAST = week(0.6, 1), week(0.95, 2)
HOW = {"prediction": "y", "explanation": "leaf", "kind": "keys"}


def test_the_difference_is_that_of_two_populations():
    audit = fs.audit(THIS, **HOW, reference=LAST)
    other = fs.audit(LAST, **HOW)
    expected = difference(audit.consistency, other.consistency)
    measured = audit.reference.differences["consistency"]
    assert (measured.value, measured.low, measured.high) == (expected.value, expected.low, expected.high)
    assert audit.reference.worse == ("consistency",)
    assert fs.audit(LAST, **HOW, reference=THIS).reference.worse == ()
    assert fs.audit(THIS, **HOW, reference=other).reference.differences["consistency"] == measured


def test_two_samples_of_one_population_are_not_shown_to_differ():
    audit = fs.audit(week(0.8, 3), **HOW, reference=week(0.8, 4))
    assert "not shown to differ" in str(audit)


def test_the_difference_is_in_the_text_in_json_and_on_the_page(tmp_path):
    audit = fs.audit(THIS, **HOW, reference=LAST)
    change = audit.reference.differences["consistency"]
    sentence = f"difference {change.value:+.3f}, 95% interval [{change.low:+.2f}, {change.high:+.2f}]"
    assert sentence in str(audit)
    assert json.loads(json.dumps(audit.to_dict()))["reference"]["differences"]["consistency"]["high"] == change.high
    audit.to_html(tmp_path / "report.html")
    assert sentence in Path(tmp_path / "report.html").read_text(encoding="utf-8")


def test_where_is_asked_of_both_logs():
    audit = fs.audit(THIS, **HOW, reference=LAST, where="region = 'EU'")
    assert audit.reference.estimates["consistency"].n == (LAST.region == "EU").sum()


def test_a_number_is_one_of_windows():
    with pytest.raises(BadInput, match="reference=3 is a number of windows of time"):
        fs.audit(THIS, **HOW, reference=3)
    assert fs.audit(THIS, **HOW, reference=3, time="day").windows.against.startswith("the first 3 windows")


@pytest.mark.parametrize(
    ("other", "what"),
    [
        ({"clusters": "region"}, "clusters"),
        ({"agreement": "close:0.5"}, "agreement"),
        ({"kind": "importances"}, "kind"),
    ],
)
def test_logs_that_were_measured_in_other_ways_are_not_compared(other, what):
    audit, reference = fs.audit(THIS, **HOW), fs.audit(LAST, **{**HOW, **other})
    with pytest.raises(BadInput, match=f"differ in .*{what}"):
        audit.over_time("day", "1w", reference)
    with pytest.raises(BadInput, match=f"differ in .*{what}"):
        fs.audit(THIS, **HOW, reference=reference)


def test_a_log_is_not_compared_with_itself(tmp_path):
    THIS.to_parquet(tmp_path / "this.parquet")
    with pytest.raises(BadInput, match=r"share .*this\.parquet"):
        fs.audit(tmp_path / "this.parquet", **HOW, reference=tmp_path / "this.parquet")


def test_rules_are_compared_in_both_measures():
    def rules(log):
        return log.assign(rule=np.where(log.leaf % 2, "leaf in {1, 3}", "leaf in {0, 2}"))

    audit = fs.audit(rules(THIS), prediction="y", explanation="rule", reference=rules(LAST))
    assert set(audit.reference.differences) == {"consistency", "sufficiency"}
