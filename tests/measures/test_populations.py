"""For whom does it fail: groups add up, and are called different only with reason."""

import datetime
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng

import faithscope as fs
from faithscope.counting.counts import Counts
from faithscope.errors import BadInput
from faithscope.measures.comparing.populations import Populations, difference
from faithscope.measures.planning import rarefy
from faithscope.report.result import Breakdown
from faithscope.testing import POPULATIONS
from refused import refused
from strategies import samples


def by(groups, explanations, predictions, **options):
    return fs.evaluate(predictions, explanations, np.arange(len(predictions))[:, None], **options).by(groups)


def among(*arguments, **options):
    """Groups whose rows are compared with rows of their own group alone."""
    return by(*arguments, **options).among


@given(samples(min_size=2), st.data())
def test_groups_sum_to_the_whole(sample, data):
    explanations, predictions = map(np.array, sample)
    n = len(predictions)
    groups = np.array(data.draw(st.lists(st.sampled_from("abc"), min_size=n, max_size=n)))
    parts = among(groups, explanations, predictions).estimates
    whole = fs.consistency(explanations, predictions).counts
    assert sum((found.counts for found in parts.values()), Counts.zero()) == whole
    for group, found in parts.items():
        assert found == fs.consistency(explanations[groups == group], predictions[groups == group])


def test_a_difference_carries_silence():
    rng = default_rng(0)
    a = fs.consistency(*POPULATIONS["many rare"].draw(400, rng))
    b = fs.consistency(*POPULATIONS["few common"].draw(300, rng))
    d = difference(a, b, ("a", "b"))
    assert (d.value, d.n) == (a.verified - b.verified, 300)
    assert d.low == pytest.approx(a.bracket[0] - b.bracket[1] - np.hypot(a.margins.below, b.margins.above))
    assert d.high == pytest.approx(min(1, a.bracket[1] - b.bracket[0] + np.hypot(a.margins.above, b.margins.below)))
    assert (d.a_at_equal_n, d.b_at_equal_n) == (rarefy(a.counts.profile(), 300)[0], pytest.approx(b.value))


@pytest.mark.slow
@pytest.mark.parametrize(("groups", "told"), [(50, True), (51, False)])
def test_differences_of_many_groups_are_told_on_request_only(groups, told):
    found = by(np.repeat(np.arange(groups), 4).astype(str), ["a", "b"] * 2 * groups, ["y", "z"] * 2 * groups).to_dict()
    assert len(found["groups"]) == groups
    note = f"pairs of {groups:,} groups are left out: ask for .differences(against='rest')"
    assert (found["differences"] is None, note in found.get("notes", [])) == (not told, not told)


def test_of_two_groups_the_rest_is_the_other_one():
    parts = by(np.arange(300) % 3 == 0, *POPULATIONS["noisy"].draw(300, default_rng(0)))
    for simultaneous in (False, True):
        pair, rest = (parts.differences(simultaneous, against=against) for against in ("each", "rest"))
        (here, there), numbers = (rest.iloc[row] for row in (0, 1)), ["value", "low", "high"]
        assert rest["b"].tolist() == ["the rest"] * 2
        if not simultaneous:  # of one pair the interval holds together with itself alone
            assert here[numbers].tolist() == pytest.approx(pair[numbers].iloc[0].tolist())
        assert there[["value", "high", "low"]].tolist() == pytest.approx((-here[numbers]).tolist())


def test_one_group_among_many_that_differs_is_found_against_the_rest():
    rng = default_rng(0)
    groups, reasons = np.repeat(np.arange(51), 400), rng.integers(0, 2, 20400)
    parts = by(groups, reasons, reasons ^ (rng.random(20400) < np.where(groups == 7, 0.5, 0.02)))
    lines = parts.differences(True, against="rest")
    assert lines["a"][lines["differ"]].tolist() == [7]
    refused(BadInput, "51 groups make 1,275 pairs", parts.differences)
    assert len(parts.differences(against="each")) == 1275
    assert [each.to_markdown().split("\n")[0].count(",") for each in (parts.among, parts)] == [0, 1]
    assert by(["a"] * 4, [1, 1, 2, 2], [0, 1, 1, 1]).differences(against="rest").empty
    refused(BadInput, "no rest in common: pass against='each'", parts.among.differences, against="rest")


def told_differences(written):
    """The words on whether groups differ, as Markdown and pages write them."""
    return re.findall(r"(?<=[|>])\s*(yes|cannot tell|no)\s*(?=[|<])", written)


@pytest.mark.parametrize("many", [3, 6, 14])
def test_page_and_markdown_show_the_same_groups_and_the_same_word_on_each_difference(many, tmp_path):
    rng = default_rng(0)
    groups, reasons = np.arange(200 * many) % many, rng.integers(0, 2, 200 * many)
    wrong = rng.random(200 * many) < np.where(groups < many / 2, 0.01, 0.5)
    evaluation = fs.evaluate(reasons ^ wrong, reasons, np.zeros((200 * many, 1)), by=groups)
    evaluation.to_html(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    card, alone = evaluation.to_markdown(), evaluation.populations.to_markdown()
    assert told_differences(card) == told_differences(alone)
    if many <= 6:  # of more than 15 pairs cards show those that differ
        assert told_differences(page) == told_differences(card)
    assert told_differences(page).count("yes") == told_differences(card).count("yes") > 0
    assert "no" not in told_differences(page + card)
    assert all((f"{many - 12} more" in text) == (many > 12) for text in (card, alone))


GOOD, BAD = fs.consistency(["a", "b"] * 100, [0, 1] * 100), fs.consistency(["a"] * 200, [0, 1] * 100)
DAY = datetime.date(2026, 3, 1)
ALIKE = [(None, "None"), (1, "1"), (DAY, str(DAY)), (("a, b", "c"), ("a", "b, c")), ("\x1b", r"\x1b")]


@pytest.mark.parametrize("pair", ALIKE)
def test_two_groups_that_read_the_same_stay_two_at_every_door(pair):
    parts = Populations(dict(zip(pair, (BAD, GOOD), strict=True)), "region")
    names = [line.partition(": consistency")[0] for line in str(parts).splitlines() if ": consistency" in line]
    assert len(set(names)) == len(parts.table()) == len(parts.to_dict()["groups"]) == 2
    cells = [cell.strip().replace("\\\\", "\\") for cell in parts.to_markdown().split("|")]
    assert all(cells.count(name) == 2 for name in names)  # of a line each, and of their difference
    assert all(name in parts.plot().description for name in names)
    (shown,) = Breakdown.of(parts)
    (difference,), _ = shown.differences
    assert [name for name, _ in shown.groups] == names
    assert (difference.a, difference.b) == tuple(names)


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT])
def test_rows_without_a_group_are_a_group_as_in_a_log(missing):
    rng = default_rng(0)
    log = pd.DataFrame({"why": rng.integers(0, 3, 60), "yhat": rng.integers(0, 2, 60), "g": rng.choice(["a", "b"], 60)})
    log.loc[::7, "g"] = None
    groups = log.g.map(lambda name: missing if name is None or name != name else name).astype(object)
    found = fs.evaluate(log.yhat, log.why.tolist(), log).by(groups)
    wanted = fs.audit(log, prediction="yhat", explanation="why", kind="keys", by="g", nulls="key").populations
    assert list(found.estimates) == list(wanted.estimates) == ["a", "b", None]
    for ours, theirs in zip(found.estimates.values(), wanted.estimates.values(), strict=True):
        assert (ours.value, ours.low, ours.high, ours.n) == pytest.approx(
            (theirs.value, theirs.low, theirs.high, theirs.n)
        )
    assert "None" in str(found)
    assert found.lower == wanted.lower
