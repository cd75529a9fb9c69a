"""Parts of the paper on small made-up data sets, and on the real ones where they are at hand."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import faithscope as fs
from faithscope.errors import BadInput
from faithscope_reproduction import running
from faithscope_reproduction.data import split
from faithscope_reproduction.parts import growth, one_record, sizes
from faithscope_reproduction.records import Record
from faithscope_reproduction.settings import Settings
from refused import refused


def by(records, **where):
    return [record for record in records if all(getattr(record, name) == wanted for name, wanted in where.items())]


def outcome_of(name, settings):
    return running.run([name], settings)[0].outcome


def test_in_table_1_a_text_without_others_cannot_be_checked(settings):
    records = outcome_of("table1", settings).records
    values = {record.measure: record for record in by(records, case="first_word", setting="as_defined")}
    assert values["consistency"].unverifiable == pytest.approx(values["uniqueness"].ours)
    assert values["consistency"].repeats == 5


def test_table_3_counts_rows_columns_and_labels(settings):
    sizes = {
        (record.case, record.measure): record.ours
        for record in by(outcome_of("table3", settings).records, setting="as_run")
    }
    assert (sizes["chess", "n"], sizes["chess", "d"], sizes["chess", "classes"]) == (900, 6, 5)
    assert sizes["rt_polarity", "n"] == 399  # one document is not ASCII


def test_table_4_gives_accuracy_with_an_exact_interval_and_another_seed_another_split(settings, monkeypatch):
    monkeypatch.setattr(sizes, "NAMES", ("heart",))
    records = outcome_of("table4", settings).records
    assert {record.setting for record in records} == {"as_defined", "as_run"}
    assert all(0.6 < record.low < record.ours < record.high <= 1 for record in records)
    (accuracy,) = by(records, setting="as_run")
    (drawn,) = by(sizes.accuracies("heart", replace(settings, seed=settings.seed + 1)).records, setting="as_run")
    assert (drawn.n, accuracy.hangs_on) == (accuracy.n, "2 draws of the split and of the explainers")
    assert {accuracy.lowest, accuracy.highest} == {accuracy.ours, drawn.ours}


def test_larger_trees_need_more_rows(settings, monkeypatch):
    monkeypatch.setattr(growth, "LEAVES", (4, 16, 64))
    outcome = outcome_of("figure1", settings)
    for name in ("chess", "adult"):
        needed = [
            record.ours
            for record in outcome.records
            if record.case.startswith(name) and record.measure == growth.NEEDED and record.setting == "as_defined"
        ]
        assert needed == sorted(needed)
        assert needed[0] < needed[-1]
    assert {figure.name for figure in outcome.figures} == {"figure6-chess", "figure1-adult"}


def measured(leaves):
    given = fs.explainers.NearestNeighbors(np.arange(200.0)[:, None]).explain(leaves[:, None])
    return fs.consistency(given, leaves), given


def test_the_exact_curve_is_what_sampled_runs_average_to_and_rows_needed_are_where_it_reaches_the_goal(monkeypatch):
    leaves = np.random.default_rng(0).zipf(1.6, 3_000) % 200
    monkeypatch.setattr(growth, "_MOST", 2_000)
    runs = [growth.curve_of(*measured(leaves), leaves, seed) for seed in range(8)]
    middles = np.mean([np.add(run["low"], run["high"]) / 2 for run in runs], axis=0)
    assert np.allclose(middles, runs[0]["y"], atol=0.015)
    estimate, _ = measured(np.repeat(np.arange(100), 20))
    needed = growth._needed(estimate, Record("figure1", "x 2 leaves", "", "as_defined", 1, None)).ours
    plan = fs.plan(estimate)
    assert 1 - plan.at(needed) >= 0.9 > 1 - plan.at(needed - 1)


def test_neighbors_explain_themselves_and_take_more_rows_with_k_and_with_training_rows(settings):
    outcome = outcome_of("figure7", settings)
    assert [claim.verdict for claim in outcome.claims] == ["holds", "holds"]
    assert all(0 <= record.ours <= 1 for record in outcome.records)
    for _, _, given, predictions, _ in growth.neighbors(split("chess", settings.folder), settings):
        estimate = fs.consistency(given, predictions)
        assert estimate.value == pytest.approx(1 - estimate.unverifiable), "predicted alike"


def test_figure_2_counts_whom_the_anchor_is_given_to_and_whom_it_covers(settings):
    outcome = outcome_of("figure2", settings)
    for threshold in ("0.5", "0.95"):
        for setting in ("as_defined", "as_run"):
            chosen = by(outcome.records, case=f"threshold {threshold}", setting=setting)
            counts = {record.measure: record.ours for record in chosen}
            assert counts["covered"] >= counts["given"] >= counts["given with label <=50K"]
            assert counts["covered"] >= counts["covered with label <=50K"]
    assert len(outcome.claims) == 1
    data = split("adult", settings.folder)
    refused(
        BadInput,
        "lack the record",
        one_record.shown_record,
        replace(data, train=data.train + 1000, test=data.test + 1000),
    )


def test_parts_that_run_several_at_once_give_what_they_give_one_after_the_other(settings, fresh, capfd):
    one_by_one = running.run(["table3", "figure5"], settings)
    at_once = running.run(["table3", "figure5"], fresh, workers=2)
    assert [part.name for part in at_once] == ["figure5", "table3"]
    assert [part.outcome.records for part in at_once] == [part.outcome.records for part in one_by_one]
    assert "table3: Data sets" in capfd.readouterr().err


def test_the_printed_anchors_cover_exactly_the_printed_rows_of_ucis_test_part(real_folder, tmp_path):
    settings = Settings(real_folder, cache=tmp_path, quick=True, progress=False)
    data = split("adult", real_folder, 0, "as_run")
    rows = pd.DataFrame(data.test, columns=data.names)
    first = rows["education-num"] <= 9
    second = first & (rows["capital-gain"] <= 0) & (rows["fnlwgt"] <= 116_736)
    assert (first.sum(), second.sum()) == (7_438, 1_690)
    assert np.percentile(rows["fnlwgt"], 25) == 116_736
    records = one_record.as_printed(settings).records
    assert [record.ours for record in records if record.measure == "covered"] == [7_438, 1_690]


def test_the_training_reviews_have_exactly_the_printed_number_of_words(real_folder, tmp_path):
    settings = Settings(real_folder, cache=tmp_path, progress=False)
    records = by(sizes._sizes("rt_polarity", settings).records, setting="as_run")
    assert [record.ours for record in records] == [record.printed for record in records]
