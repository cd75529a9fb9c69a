"""The frame: records, steps that are kept, models, verdicts, and what is printed and written."""

import csv
import json
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import binom
from typer.testing import CliRunner

import faithscope as fs
from faithscope.cli import app
from faithscope.errors import BadInput
from faithscope.reproduce import claims, running, samples
from faithscope.reproduce.models import boosted
from faithscope.reproduce.models.splits import split
from faithscope.reproduce.printed import in_figure, printed
from faithscope.reproduce.records import Claim, Figure, Outcome, Record, record_of, total
from faithscope.reproduce.settings import Settings, Steps
from faithscope.reproduce.telling import page, summary, written
from faithscope.reproduce.telling.drawing import draw
from faithscope.reproduce.telling.markdown import to_markdown

pytestmark = pytest.mark.filterwarnings("ignore:.*does not hold the rows that the paper used")

ONE = Record("table1", "anchors", "consistency", "as_defined", 10, 0.5, 0.54, 0.4, 0.6, 0.1, 0.5, note="why <not>")


def part(*records, **more):
    return running.Part("table1", "A title", Outcome(tuple(records), seconds=61.0, **more))


def test_outcomes_add_and_survive_json():
    figure = Figure("f", "t", "x", "y", {"curve": ["a"], "x": [1], "y": [0.5], "low": [None], "high": [None]})
    claim = claims.by_interval(Claim("table1", "as_run", words="w", test="t"), 0.1, 0.2)
    first, second = Outcome((ONE,), (figure,), seconds=1.0), Outcome(claims=(claim,), seconds=2.0, notes=("n",))
    both = total([first, second])
    assert both.seconds == 3.0
    assert both.records == (ONE,)
    assert Outcome.from_dict(json.loads(json.dumps(both.to_dict()))) == both


def test_a_record_takes_its_numbers_from_an_estimate():
    estimate = fs.consistency([1, 1, 1, 2], ["a", "a", "b", "b"])
    record = record_of(estimate, replace(ONE, ours=None))
    assert (record.ours, record.n, record.low, record.high) == (estimate.value, 4, estimate.low, estimate.high)
    assert (record.case, record.printed) == (ONE.case, ONE.printed)


@pytest.mark.parametrize(("ours", "known", "off"), [(0.5, 0.54, 0.04), (4_400, 4_000, 0.1), (1.0, 1.0, 0.0)])
def test_shares_are_compared_by_difference_and_counts_by_ratio(ours, known, off):
    assert replace(ONE, ours=ours, printed=known).off == pytest.approx(off)


def test_parts_that_run_several_at_once_give_what_they_give_one_after_the_other(settings, tmp_path, capfd):
    one_by_one = running.run(["table3", "figure5"], settings)
    at_once = running.run(["table3", "figure5"], replace(settings, cache=tmp_path / "other"), workers=2)
    assert [part.name for part in at_once] == ["figure5", "table3"]
    assert [part.outcome.records for part in at_once] == [part.outcome.records for part in one_by_one]
    assert "table3: Data sets" in capfd.readouterr().err


def test_a_step_is_computed_once_and_keeps_its_seconds(settings):
    calls = []

    def compute(value):
        calls.append(value)
        return Outcome((replace(ONE, ours=value),), seconds=5.0)

    steps = Steps(settings, SimpleNamespace(ID="table1", __file__=__file__))
    first = steps.do("one", compute, 0.25)
    again = Steps(settings, SimpleNamespace(ID="table1", __file__=__file__)).do("one", compute, 0.75)
    assert replace(again, steps=first.steps) == first
    assert [step.kept for step in (*first.steps, *again.steps)] == [False, True]
    assert first.seconds >= 5.0
    assert calls == [0.25]


def test_a_step_that_was_cut_short_on_disk_is_computed_anew(settings):
    steps = Steps(settings, SimpleNamespace(ID="table1", __file__=__file__))
    steps.do("one", lambda: Outcome((ONE,)))
    path = next((settings.cache / "results").iterdir())
    path.write_bytes(path.read_bytes()[:40])
    assert steps.do("one", lambda: Outcome((replace(ONE, ours=0.1),))).records[0].ours == 0.1


@pytest.mark.parametrize("change", [{"seed": 1}, {"quick": False}, {"search": True}, {"dice": True}])
def test_other_settings_are_another_question(settings, change):
    assert settings.question("a") != replace(settings, **change).question("a")
    assert settings.question("a") == replace(settings, folder=None, progress=True).question("a")


def test_quick_and_all_rows_exclude_each_other():
    with pytest.raises(BadInput, match="choose one"):
        Settings(quick=True, all_rows=True)


def test_rows_are_capped_by_default_and_never_with_all_rows():
    known = ("chess", "avila", "adult", "covtype", "bank")
    assert [Settings().rows(name, "as_defined") for name in known] == [2_800, 5_000, 5_000, 4_650, None]
    assert [Settings().rows(name, "as_run") for name in known] == [2_800, None, 8_000, 4_650, None]
    assert Settings(all_rows=True).rows("adult", "as_run") is None


def test_the_printed_numbers_are_found():
    assert printed("table1", "sufficiency", explainer="anchors") == 0.61
    assert printed("table6", "uniqueness", dataset="bank", discretizer="sign") == 0.48
    assert printed("table5", "consistency", dataset="mars", discretizer="sign") is None
    assert in_figure("figure2", "threshold 0.5: covered with") == 7_049


def test_a_model_is_trained_once_and_says_the_same_when_it_is_read_back(settings):
    data, model = boosted.boosted("adult", settings)
    _, again = boosted.boosted("adult", settings)
    assert again.seconds == model.seconds
    assert np.array_equal(again.predict(data.test), model.predict(data.test))
    assert fs.evaluate(model, fs.explainers.Constant(), data.test[:9], cache=settings.explanations).consistency.n == 9


def test_a_model_that_was_changed_on_disk_is_trained_anew(settings):
    _, model = boosted.boosted("heart", settings)
    kept = next((settings.cache / "models").glob("*.ubj"))
    kept.write_bytes(kept.read_bytes()[:-10])
    assert boosted.boosted("heart", settings)[1].content == model.content


def test_codes_stand_for_categories_and_a_missing_one_is_its_own(settings):
    data = split("adult", settings.folder)
    place = data.names.index("workclass")
    assert data.categories[place] == ("?", "a", "b", "c")
    assert set(np.unique(data.train[:, place])) <= {0.0, 1.0, 2.0, 3.0}
    assert len(data.train) == 2 * len(data.test)


def test_the_grid_finds_the_best_mean_accuracy(settings, monkeypatch):
    monkeypatch.setattr(boosted, "_RATES", (0.001, 0.5))
    monkeypatch.setattr(boosted, "_TREES", (1, 10))
    monkeypatch.setattr(boosted, "_DEPTHS", (3,))
    _, model = boosted.boosted("heart", replace(settings, search=True))
    assert model.chosen == {"learning_rate": 0.5, "n_estimators": 10, "max_depth": 3}


@pytest.mark.parametrize(
    ("low", "high", "verdict"), [(0.1, 0.3, "holds"), (-0.3, -0.1, "fails"), (-0.1, 0.1, "undecided")]
)
def test_an_interval_decides_only_where_it_excludes_zero(low, high, verdict):
    assert claims.by_interval(Claim("t", "as_run", words="w", test="t"), low, high).verdict == verdict


def test_the_sign_test_is_the_binomial_tail():
    differences = [0.1] * 8 + [-0.1] * 2 + [0.0]
    claim = claims.by_signs(Claim("t", "as_run", words="w", test="t"), differences)
    assert claim.p == pytest.approx(binom.sf(7, 10, 0.5))
    assert claim.verdict == "undecided"


def test_a_trend_holds_fails_or_stays_undecided():
    def verdict(y):
        return claims.by_trend(Claim("t", "as_run", words="w", test="t"), range(6), y).verdict

    assert [verdict([1, 2, 3, 4, 5, 6]), verdict([6, 5, 4, 3, 2, 1]), verdict([1] * 6)] == [
        "holds",
        "fails",
        "undecided",
    ]


def test_block_jackknife_of_a_mean_is_about_the_textbook_interval():
    values = np.random.default_rng(0).normal(size=4_000)
    mean, margin = samples.by_blocks(lambda rows: np.array([values[rows].mean()]), len(values))
    assert mean[0] == pytest.approx(values.mean())
    assert margin[0] == pytest.approx(1.96 * values.std() / np.sqrt(4_000), rel=0.4)


def test_uniqueness_is_told_both_ways():
    estimate = fs.consistency(["a", "a", "b", "c"], [0, 0, 1, 1])
    assert samples.unique_share(estimate) == 0.5
    assert samples.distinct_share(estimate) == 0.75


def test_counting_a_row_among_its_own_witnesses_is_brute_force():
    given, labels = ["a", "a", "a", "b", "b", "c"], [0, 0, 1, 1, 1, 0]
    shares = [
        sum(g == h and x == y for h, y in zip(given, labels, strict=True)) for g, x in zip(given, labels, strict=True)
    ]
    brute = np.mean(
        [share / given.count(g) if given.count(g) > 1 else 0 for share, g in zip(shares, given, strict=True)]
    )
    assert samples.itself_counted(fs.consistency(given, labels)) == pytest.approx(brute)


def test_parts_are_chosen_by_any_of_their_names_once():
    assert running.chosen(["figure8", "Table2", "table5"]) == ["figure3", "table5"]
    assert running.chosen([]) == list(running.PARTS)
    with pytest.raises(BadInput, match="Did you mean 'figure4'"):
        running.chosen(["figur4"])


def test_matches_count_every_printed_number_once():
    records = [replace(ONE, ours=ours) for ours in (0.54, 0.56, 0.58, 0.7, None)] + [replace(ONE, printed=None)]
    match = next(match for match in summary.matches([part(*records)]) if match.table == "table1")
    assert (match.near, match.far, match.off, match.missing, match.printed) == (2, 1, 1, 1, 5)
    assert match.inside == match.with_interval == 5


def test_json_is_a_list_of_records_with_the_agreed_fields():
    records = json.loads(written.to_json([part(ONE)]))
    assert {"table", "case", "measure", "setting", "n", "ours", "printed"} <= set(records[0])
    assert records[0]["setting"] == "as_defined"


def test_csv_holds_what_was_found(tmp_path):
    figure = Figure("f", "t", "x", "y", {"curve": ["a"], "x": [1], "y": [0.5], "low": [0.4], "high": [0.6]})
    written.to_csv([part(ONE, figures=(figure,))], tmp_path)
    with (tmp_path / "table1.csv").open() as file:
        assert float(next(csv.DictReader(file))["ours"]) == 0.5
    assert (tmp_path / "f.csv").read_text().splitlines() == ["curve,x,y,low,high", "a,1,0.5,0.4,0.6"]


def test_markdown_and_page_show_numbers_notes_and_the_command():
    text = to_markdown([part(ONE)], "faithscope reproduce table1")
    whole = page.render([part(ONE)], "faithscope reproduce table1")
    for shown in (text, whole):
        assert "0.500" in shown
        assert "faithscope reproduce table1" in shown
    assert "why <not>" in text
    assert "why &lt;not&gt;" in whole
    outside = re.sub(r"<script.*?</script>", "", whole, flags=re.DOTALL)
    assert not re.search(r"""(?:src|href)=["'](?!#)""", outside)


def test_a_figure_is_drawn_with_a_band_only_where_it_has_one():
    columns = {"curve": ["a", "a"], "x": [1, 2], "y": [0.5, None], "low": [0.4, None], "high": [0.6, None]}
    specification = draw(Figure("f", "t", "x", "y", columns))
    assert [len(specification["datasets"][name]) for name in ("points", "banded")] == [1, 1]


def test_the_command_prints_json_and_writes_the_report(folder, tmp_path):
    asked = ["reproduce", "table3", "--data", str(folder), "--cache", str(tmp_path / "c"), "--quick", "--json"]
    more = ["--report", str(tmp_path / "r.html"), "--csv", str(tmp_path / "csv"), "--markdown", str(tmp_path / "r.md")]
    result = CliRunner().invoke(app, [*asked, *more])
    assert result.exit_code == 0, result.output
    records = json.loads(result.stdout)
    assert {record["case"] for record in records} == {
        "heart",
        "chess",
        "avila",
        "bank",
        "adult",
        "covtype",
        "rt_polarity",
    }
    assert "<html" in (tmp_path / "r.html").read_text()
    assert str(folder) not in (tmp_path / "r.md").read_text()
    assert (tmp_path / "csv" / "table3.csv").exists()
