"""The frame: records, steps that are kept, claims, and what is printed, written and told first on the page."""

import json
import re
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom
from typer.testing import CliRunner

import faithscope as fs
from faithscope.cli import app
from faithscope.errors import BadInput
from faithscope.report.offline_page import page_of
from faithscope_reproduction import claims, numbers, running
from faithscope_reproduction import settings as settings_module
from faithscope_reproduction.numbers import ranged, record_of
from faithscope_reproduction.printed import in_figure, printed
from faithscope_reproduction.records import Claim, Figure, Outcome, Record, Step, total
from faithscope_reproduction.settings import Settings
from faithscope_reproduction.telling import document, evidence, writers
from faithscope_reproduction.telling.document import timing
from faithscope_reproduction.telling.drawing import chart, shown
from refused import refused

ONE = Record("table7", "heart delta", "consistency", "as_run", 10, 0.5, 0.54, 0.4, 0.6, 0.1, 0.5, note="why <not>")
FAR = Record("table7", "heart delta", "consistency", "as_run", 100, 0.3, 0.5, note="open: nobody knows <why>")
COLUMNS = {"curve": ["a", "a"], "x": [1, 2], "y": [0.5, None], "low": [0.4, None], "high": [0.6, None]}
DRAWN = Figure("figure1-adult", "Trees", "rows", "consistency", COLUMNS)
CLAIM = Claim("table7", "as_run", words="up is up", test="a test")
HOLDS = claims.by_interval(CLAIM, 0.1, 0.2)


def part(*records, **more):
    return running.Part("table7", "Counterfactuals", Outcome(records, **{"seconds": 61.0, **more}))


def told(parts, pictures=""):
    """The same document as Markdown and as a page."""
    made = document.document(parts, "faithscope reproduce x")
    return writers.to_markdown(made, pictures), page_of(made)


def test_every_chart_of_a_document_becomes_a_picture(tmp_path):
    made = document.document([part(ONE, figures=(DRAWN,))], "faithscope reproduce x")
    writers.draw(made, tmp_path)
    named = set(re.findall(r"\(here/(.+?\.svg)\)", writers.to_markdown(made, "here")))
    assert named == {path.name for path in tmp_path.iterdir()} != set()


def test_outcomes_add_and_survive_json_and_a_record_takes_its_numbers_from_an_estimate():
    both = total([Outcome((ONE,), (DRAWN,), seconds=1.0), Outcome(claims=(HOLDS,), seconds=2.0, notes=("n",))])
    assert both == Outcome((ONE,), (DRAWN,), (HOLDS,), seconds=3.0, notes=("n",))
    assert Outcome.from_dict(json.loads(json.dumps(asdict(both)))) == both
    estimate = fs.consistency([1, 1, 1, 2], ["a", "a", "b", "b"])
    record = record_of(estimate, ONE)
    assert (record.ours, record.n, record.low, record.high) == (estimate.value, 4, estimate.low, estimate.high)
    assert (record.case, record.printed) == (ONE.case, ONE.printed)


def test_a_step_is_computed_once_keeps_its_seconds_and_is_computed_anew_if_it_was_cut_short_on_disk(fresh):
    def done(value):
        return fresh.do("table7 one", lambda _: Outcome((replace(ONE, ours=value),))).result()

    first = done(0.25)
    assert done(0.75) == first
    assert first.seconds == first.steps[0].seconds
    path = next((fresh.cache / "results").iterdir())
    path.write_bytes(path.read_bytes()[:40])
    assert done(0.1).records[0].ours == 0.1


@pytest.mark.parametrize(
    ("changed", "anew"), [("claims.py", True), ("estimate.py", True), ("table6_lime.csv", True), ("writers.py", False)]
)
def test_one_digest_of_all_sources_decides_what_is_stale_but_for_what_tells_results(fresh, monkeypatch, changed, anew):
    def done(value):
        settings_module.sources.cache_clear()
        return fresh.do("table7 one", lambda _: Outcome((replace(ONE, ours=value),))).result().records[0].ours

    assert done(0.25) == 0.25
    read = Path.read_bytes
    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_bytes", lambda path: read(path) + b"#" * (path.name == changed))
        assert done(0.75) == (0.75 if anew else 0.25)
    settings_module.sources.cache_clear()


def test_other_settings_are_another_question_and_rows_are_capped_by_default(settings):
    for change in ({"seed": 1}, {"quick": False}):
        assert settings.path("results", "a") != replace(settings, **change).path("results", "a")
    assert settings.path("results", "a") == replace(settings, folder=None, progress=True).path("results", "a")
    for name, defined, run in (("chess", 2_800, 2_800), ("avila", 5_000, None), ("adult", 5_000, 8_000)):
        assert (Settings().rows(name, "as_defined"), Settings().rows(name, "as_run")) == (defined, run)


def test_the_printed_numbers_are_found_and_shares_are_compared_by_difference_and_counts_by_ratio():
    for ours, known, off in ((0.5, 0.54, 0.04), (4_400, 4_000, 0.1), (1.0, 1.0, 0.0)):
        assert replace(ONE, ours=ours, printed=known).off == pytest.approx(off)
    assert printed("table1", "sufficiency", explainer="anchors") == 0.61
    assert printed("table6", "uniqueness", dataset="bank", discretizer="sign") == 0.48
    assert printed("table5", "consistency", dataset="mars", discretizer="sign") is None
    assert in_figure("figure2", "threshold 0.5: covered with") == 7_049


def test_a_claim_is_decided_by_an_interval_that_excludes_zero_by_signs_or_by_a_trend():
    for low, high, verdict in ((0.1, 0.3, "holds"), (-0.3, -0.1, "fails"), (-0.1, 0.1, "undecided")):
        assert claims.by_interval(CLAIM, low, high).verdict == verdict
    signs = claims.by_signs(CLAIM, [0.1] * 8 + [-0.1] * 2 + [0.0])
    assert signs.p == pytest.approx(binom.sf(7, 10, 0.5))
    assert signs.verdict == "undecided"
    for y, verdict in ((range(6), "holds"), (range(6, 0, -1), "fails"), ([1] * 6, "undecided")):
        assert claims.by_trend(CLAIM, range(6), y).verdict == verdict


def test_block_jackknife_of_a_mean_is_about_the_textbook_interval():
    values = np.random.default_rng(0).normal(size=4_000)
    mean, margin = claims.by_blocks(lambda rows: np.array([values[rows].mean()]), len(values))
    assert mean[0] == pytest.approx(values.mean())
    assert margin[0] == pytest.approx(1.96 * values.std() / np.sqrt(4_000), rel=0.4)


def test_uniqueness_is_told_both_ways_and_counting_a_row_among_its_own_witnesses_is_brute_force():
    given, labels = ["a", "a", "a", "b", "b", "c"], [0, 0, 1, 1, 1, 0]
    estimate, rows = fs.consistency(given, labels), list(zip(given, labels, strict=True))
    assert tuple(numbers.uniqueness(estimate, setting) for setting in ("as_defined", "as_run")) == (1 / 6, 3 / 6)
    brute = np.mean([rows.count(row) / given.count(row[0]) if given.count(row[0]) > 1 else 0 for row in rows])
    assert numbers.itself_counted(estimate) == pytest.approx(brute)


def test_parts_are_chosen_by_any_of_their_names_once():
    assert running.chosen(["figure8", "Table2", "table5"]) == ["figure3", "table5"]
    assert running.chosen([]) == list(running.PARTS)
    refused(BadInput, "Did you mean 'figure4'", running.chosen, ["figur4"])


def test_every_printed_number_is_counted_once_with_those_in_range_apart():
    inside = replace(FAR, lowest=0.2, highest=0.6)
    near = [replace(ONE, ours=ours) for ours in (0.54, 0.56, 0.58, 0.7, None)]
    rows = document.met_rows([*near, replace(ONE, printed=None), FAR, inside])
    assert [row[:2] for row in rows] == [("table7", "as run"), ("all", "as run")]
    assert rows[0][2:8] == ("7", "2", "1", "1", "2", "1")


def test_a_range_is_over_all_draws_that_all_have_the_number_and_covers_what_rounds_into_it():
    def over(*values):
        others = [Outcome((replace(FAR, ours=ours),), seconds=1.0, steps=(Step("s", 1.0, ""),)) for ours in values]
        return ranged(outcome, others, "the split")

    outcome = Outcome((FAR, replace(FAR, setting="as_defined"), replace(FAR, case="heart sign", ours=None)))
    result = over(0.2, 0.45)
    first = replace(FAR, lowest=0.2, highest=0.45, hangs_on="3 draws of the split")
    assert result.records == (first, *outcome.records[1:])
    assert (result.seconds, len(result.steps)) == (2, 2)
    assert over(0.9, None).records == outcome.records
    for lowest, highest, covered in ((0.2, 0.495, True), (0.2, 0.49, False), (0.504, 1, True)):
        assert replace(FAR, lowest=lowest, highest=highest).in_range == covered
    assert not FAR.in_range
    record = numbers.rows_expected(replace(FAR, printed=53.0), 5, 167, 1_690)
    assert record.in_range
    assert "over 95% of runs of anchors" in document.far_rows([replace(record, ours=200.0)])[0][4]


def test_every_far_number_has_a_verdict_and_a_reason_is_told_once():
    for change, word in (
        ({}, "open"),
        ({"note": "Explained: by n"}, "explained"),
        ({"note": "more rows; unexplained"}, "unexplained"),
        ({"note": "another split"}, "see why"),
        ({"lowest": 0.2, "highest": 0.6}, "in range"),
        ({"lowest": 0.2, "highest": 0.4}, "open"),
    ):
        assert document.verdict(replace(FAR, **change)) == word
    rows = document.far_rows([FAR, replace(FAR, case="b"), replace(FAR, case="c", note="open: other")])
    assert [row[-1] for row in rows] == ["nobody knows <why>", "as above", "other"]


def test_markdown_and_page_say_what_holds_what_does_not_and_what_nobody_can_know():
    failed = claims.by_interval(replace(CLAIM, words="down is up"), -0.2, -0.1)
    parts = [part(FAR, replace(ONE, case="b", ours=0.53), figures=(DRAWN,), claims=(HOLDS, failed))]
    text, whole = told(parts, "x")
    for words in (
        "faithscope reproduce x",
        "0.300",
        "What holds",
        "What does not",
        "What nobody can know",
        "Of 2 printed numbers 1 are met within 0.02",
        "1 of 2 tested claims hold",
        "Claims that fail: down is up (table7, as run)",
        "chosen by looking at the printed numbers",
        "4,300 rows",
        document.NO_RANGE,
    ):
        assert words in text
        assert words in whole
    assert "nobody knows <why>" in text
    assert "nobody knows &lt;why&gt;" in whole
    assert "](x/figure1-adult.svg)" in text
    assert text.count("<details>") == text.count("</details>") == 3
    assert len(re.findall(r"^\| (holds|undecided|fails) \|", text, re.MULTILINE)) == 2
    outside = re.sub(r"<script.*?</script>", "", whole, flags=re.DOTALL)
    assert not re.search(r"""(?:src|href)=["'](?!#|data:,)""", outside)
    empty, _ = told([part()])
    assert "no printed numbers" in empty
    assert "All 0 claims" in empty


def test_a_run_says_when_its_steps_ended_and_how_long_they_took():
    steps = tuple(Step("table7 heart", 60.0, f"2026-01-{day:02}") for day in (3, 2))
    assert timing([part(seconds=120.0)]) == "2 min of computing."
    words = "1 min of computing. Its 2 steps ended from 2026-01-02 to 2026-01-03, all of the same sources."
    assert timing([part(steps=steps)]) == words


def test_figures_are_told_in_words_written_and_drawn_with_a_band_only_where_they_have_one():
    for name, words in (
        ("figure1-adult", "4,300"),
        ("figure3-adult-as_run", "Figure 3"),
        ("figure3-heart-as_run", "Figure 8"),
    ):
        assert words in shown(name)
    assert shown("figure9-x") == ""
    spec = chart(DRAWN).spec
    assert [len(rows) for rows in spec["datasets"].values()] == [1]  # the band and the curve have the same rows
    assert [each["mark"]["type"] for each in spec["layer"]] == ["area", "line", "point"]


def test_settings_as_run_have_evidence_each():
    assert all(len(row) == len(evidence.COLUMNS) and all(row) for row in evidence.AS_RUN)


def reproduced(folder, tmp_path, *words):
    outlets = {"report": "r.html", "markdown": "r.md", "cache": "c"}
    options = [word for name, path in outlets.items() for word in (f"--{name}", str(tmp_path / path))]
    result = CliRunner().invoke(app, ["reproduce", *words, "--data", str(folder), "--quick", *options])
    assert result.exit_code == 0, result.output
    return result.stdout, (tmp_path / "r.md").read_text()


def test_the_command_prints_json_and_writes_the_report(folder, tmp_path):
    told, text = reproduced(folder, tmp_path, "table3", "--json")
    names = {"heart", "chess", "avila", "bank", "adult", "covtype", "rt_polarity"}
    assert {record["case"] for record in json.loads(told)["table3"]["records"]} == names
    assert "<html" in (tmp_path / "r.html").read_text()
    assert str(folder) not in text


@pytest.mark.thorough
def test_the_command_draws_pictures_beside_the_markdown(folder, tmp_path):
    pytest.importorskip("vl_convert")
    _, text = reproduced(folder, tmp_path, "figure7", "figure5", "--workers", "1")
    assert "](r/figure7-chess.svg)" in text
    assert (tmp_path / "r" / "figure7-chess.svg").read_text().startswith("<svg")
    again = reproduced(folder, tmp_path, "figure7", "figure5", "--workers", "1")[1]
    assert again == text, "every step is kept"
