"""What the page says first: counts, verdicts of far numbers, ranges over draws, the time of the run."""

import re
from collections import Counter
from dataclasses import replace
from importlib.resources import files
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from faithscope.cli import app
from faithscope.reproduce.claims import by_interval
from faithscope.reproduce.parts import table4
from faithscope.reproduce.ranges import Draws, by_seed, ranged
from faithscope.reproduce.records import Claim, Figure, Outcome, Record, Step
from faithscope.reproduce.running import PARTS, Part
from faithscope.reproduce.samples import rows_expected
from faithscope.reproduce.settings import Steps
from faithscope.reproduce.telling import evidence, page, summary, verdicts
from faithscope.reproduce.telling.clock import Clock, timing
from faithscope.reproduce.telling.drawing import draw
from faithscope.reproduce.telling.markdown import to_markdown
from faithscope.reproduce.telling.paper_figures import shown

pytestmark = pytest.mark.filterwarnings("ignore:.*does not hold the rows that the paper used")

FAR = Record("table7", "heart delta", "consistency", "as_run", 100, 0.3, 0.5, note="open: nobody knows <why>")
HERE = SimpleNamespace(ID="table7", __file__=__file__)
COLUMNS = {"curve": ["a", "a"], "x": [1, 2], "y": [0.5, 0.6], "low": [0.4, 0.5], "high": [0.6, 0.7]}
DRAWN = Figure("figure1-adult", "Trees", "rows", "consistency", COLUMNS)
CLAIM = Claim("table7", "as_run", words="up is up", test="a test")


def part(*records, **more):
    return Part("table7", "Counterfactuals", Outcome(tuple(records), **more))


def test_a_range_is_over_all_draws_and_leaves_other_settings_alone(settings):
    outcome = Outcome((FAR, replace(FAR, setting="as_defined"), replace(FAR, case="heart sign", ours=None)))
    others = {
        f"draw {ours}": lambda ours=ours: Outcome((replace(FAR, ours=ours),), seconds=1.0) for ours in (0.2, 0.45)
    }
    result = ranged(outcome, Draws("the split", others), Steps(settings, HERE))
    assert (result.records[0].lowest, result.records[0].highest, result.records[0].draws) == (0.2, 0.45, 3)
    assert result.records[0].hangs_on == "the split"
    assert result.records[1:] == outcome.records[1:]
    assert result.seconds >= 2
    assert [step.name for step in result.steps] == ["table7 draw 0.2", "table7 draw 0.45"]


def test_a_number_that_some_draw_lacks_has_no_range(settings):
    others = {"a": lambda: Outcome((replace(FAR, ours=0.9),)), "b": lambda: Outcome((replace(FAR, ours=None),))}
    assert ranged(Outcome((FAR,)), Draws("the split", others), Steps(settings, HERE)).records == (FAR,)


@pytest.mark.parametrize(("lowest", "highest", "covered"), [(0.2, 0.495, True), (0.2, 0.49, False), (0.504, 1, True)])
def test_a_range_covers_what_rounds_into_it(lowest, highest, covered):
    assert replace(FAR, lowest=lowest, highest=highest, draws=10).in_range == covered
    assert not FAR.in_range


def test_another_seed_is_another_split_of_heart_with_as_many_rows(settings):
    outcome = table4.run(settings)
    accuracy = next(r for r in outcome.records if (r.case, r.setting) == ("heart", "as_run"))
    other = by_seed(lambda name, _, changed: table4._of_data_set(name, changed), "heart", settings)
    again = next(iter(other.others.values()))().records
    drawn = next(record for record in again if record.setting == "as_run")
    assert drawn.n == accuracy.n
    assert {accuracy.lowest, accuracy.highest} == {accuracy.ours, drawn.ours}
    assert accuracy.draws == 2


def test_counts_add_up_to_the_printed_numbers_with_those_in_range_apart():
    inside = replace(FAR, case="a", lowest=0.2, highest=0.6, draws=10)
    near, none = replace(FAR, case="b", ours=0.51), replace(FAR, case="c", ours=None)
    match = next(m for m in summary.matches([part(FAR, inside, near, none)]) if m.table == "all")
    assert (match.near, match.far, match.covered, match.off, match.missing, match.printed) == (1, 0, 1, 1, 1, 4)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({}, "open"),
        ({"note": "Explained: by n"}, "explained"),
        ({"note": "more rows; unexplained"}, "unexplained"),
        ({"note": "another split"}, "see why"),
        ({"lowest": 0.2, "highest": 0.6, "draws": 10}, "in range"),
        ({"lowest": 0.2, "highest": 0.4, "draws": 10}, "open"),
    ],
)
def test_every_far_number_has_a_verdict(change, word):
    assert verdicts.verdict(replace(FAR, **change)) == word


def test_a_reason_is_told_once_for_numbers_that_share_it():
    rows = verdicts.far_rows([part(FAR, replace(FAR, case="b"), replace(FAR, case="c", note="open: other"))])
    assert [row[-1] for row in rows] == ["nobody knows <why>", "as above", "other"]


def test_the_former_counts_are_those_of_all_printed_numbers():
    tables = [counts for name, counts in verdicts.BEFORE.items() if name != "all"]
    assert tuple(map(sum, zip(*tables, strict=True))) == verdicts.BEFORE["all"] == (161, 41, 52)
    assert set(verdicts.BEFORE) - {"all"} < set(PARTS)


def test_each_number_that_was_far_before_is_told_with_what_became_of_it():
    cases = {"chess delta": (0.17, 0.18), "chess original": (0.70, 0.66), "avila original": (0.22, 1.0)}
    records = [
        Record("table7", case, "uniqueness", "as_run", 100, ours, known, note="open: nobody knows")
        for case, (known, ours) in cases.items()
    ]
    rows = verdicts.former_rows([part(*records, replace(records[2], case="avila delta-sign"))])
    assert [(row[0], row[2], row[-1]) for row in rows] == [
        ("table7 chess original, uniqueness", "0.762", "within 0.05"),
        ("table7 chess delta, uniqueness", "0.332", "within 0.02"),
        ("table7 avila original, uniqueness", "1.000", "open"),
    ]
    assert "What became of the 3 that were far before" in to_markdown([part(*records)], "faithscope reproduce table7")


def test_the_numbers_that_were_far_before_are_as_many_as_the_former_counts_say():
    lines = (files("faithscope.reproduce.telling") / "far_before.csv").read_text("utf-8").splitlines()[1:]
    counts = Counter(line.partition(",")[0] for line in lines)
    assert counts == {name: far for name, (_, _, far) in verdicts.BEFORE.items() if far and name != "all"}


def test_what_most_runs_count_is_a_range_without_a_number_of_draws():
    record = rows_expected(replace(FAR, printed=53.0), 5, 167, 1_690)
    assert record.in_range
    assert record.draws is None
    assert "over 95% of runs of anchors" in verdicts.told_range(record)


def test_markdown_and_page_say_what_holds_what_does_not_and_what_nobody_can_know():
    claims = (by_interval(CLAIM, 0.1, 0.2), by_interval(replace(CLAIM, words="down is up"), -0.2, -0.1))
    parts = [part(FAR, replace(FAR, case="b", ours=0.5), figures=(DRAWN,), claims=claims)]
    text = to_markdown(parts, "faithscope reproduce table7", pictures={DRAWN.name: "x/figure1-adult.svg"})
    whole = page.render(parts, "faithscope reproduce table7")
    for told in (text, whole):
        assert all(heading in told for heading in ("What holds", "What does not", "What nobody can know"))
        assert "Of 2 printed numbers 1 are met within 0.02" in told
        assert "1 of 2 tested claims hold" in told
        assert "Claims that fail: down is up (table7, as run)" in told
        assert "chosen by looking at the printed numbers" in told
        assert "4,300 rows" in told
        assert verdicts.NO_RANGE in told
    assert "nobody knows <why>" in text
    assert "nobody knows &lt;why&gt;" in whole
    assert "![Trees](x/figure1-adult.svg)" in text
    assert text.count("<details>") == text.count("</details>") == 3
    assert len(re.findall(r"^\| (holds|undecided|fails) \|", text, re.MULTILINE)) == 2


def test_parts_without_numbers_claims_or_figures_are_told_too():
    for told in (to_markdown([part()], "c"), page.render([part()], "c")):
        assert "no printed numbers" in told
        assert "test no claim" in told


def test_a_run_knows_whether_it_was_one_piece():
    now, before = Step("table7 heart", 60.0, "2026-01-02T03:04:05"), Step("table7 bank", 60.0, "2025-01-02", kept=True)
    one = [part(seconds=60.0, steps=(now,))]
    assert "in one piece: yes, 30 s by the clock with 2 workers" in timing(one, Clock(30.0, 2, fresh=True))
    assert "in one piece: no; every step was computed in this run, but" in timing(one, Clock(30.0, 2, fresh=False))
    two = [part(seconds=120.0, steps=(now, before))]
    told = timing(two, Clock(30.0, 1, fresh=False))
    assert "in one piece: no; 1 of 2 steps were kept from earlier runs, the oldest from 2025-01-02: table7 bank" in told
    assert timing(two) == "2 min of computing."


def test_a_cache_is_fresh_until_something_was_kept(settings):
    assert settings.fresh
    Steps(settings, HERE).do("one", Outcome)
    assert not settings.fresh


def test_figures_that_the_paper_draws_are_told_in_words():
    assert "4,300" in shown("figure1-adult")
    assert "Figure 3" in shown("figure3-adult-as_run")
    assert "Figure 8" in shown("figure3-heart-as_run")
    assert shown("figure9-x") == ""


def test_bars_stand_at_their_places_and_curves_join_theirs():
    marks = {
        bars: [layer["mark"]["type"] for layer in draw(replace(DRAWN, bars=bars))["layer"]] for bars in (True, False)
    }
    assert marks == {True: ["bar", "rule"], False: ["area", "line", "point"]}
    assert {layer["encoding"]["x"]["type"] for layer in draw(replace(DRAWN, bars=True))["layer"]} == {"ordinal"}


def test_settings_as_run_have_evidence_each():
    assert all(len(row) == len(evidence.COLUMNS) and all(row) for row in evidence.AS_RUN)


def test_the_command_draws_pictures_beside_the_markdown(folder, tmp_path):
    pytest.importorskip("vl_convert")
    asked = ["reproduce", "figure7", "figure5", "--data", str(folder), "--cache", str(tmp_path / "c"), "--quick"]
    more = ["--report", str(tmp_path / "r.html"), "--markdown", str(tmp_path / "r.md"), "--workers", "1"]
    result = CliRunner().invoke(app, [*asked, *more])
    assert result.exit_code == 0, result.output
    text = (tmp_path / "r.md").read_text()
    assert "in one piece: yes" in text
    assert "](r/figure7-chess.svg)" in text
    assert (tmp_path / "r" / "figure7-chess.svg").read_text().startswith("<svg")
    CliRunner().invoke(app, [*asked, *more])
    assert "in one piece: no; 3 of 3 steps were kept" in (tmp_path / "r.md").read_text()
