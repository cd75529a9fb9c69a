"""Markdown shows what the page and the terminal show, no name of a caller's is markup, and lines are narrow."""

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import faithscope as fs
import report_examples as examples
from faithscope.card import WIDTH, Card, Sentence, Table, in_lines, several_in_lines
from faithscope.measures.telling import number
from faithscope.report.html import render as render_page
from faithscope.report.summary import summarize
from faithscope.rounding import down, up
from faithscope.shareable import markdown
from report_examples import printed as render_terminal
from result_examples import result

markdown_it = pytest.importorskip("markdown_it")
NAMES = (
    *examples.HOSTILE,
    "a|b",
    "a\\|b",
    "`tick`",
    "*star* _under_ ~~strike~~",
    "![image](http://evil.example/x.png)",
    "http://evil.example www.evil.example",
    "@octocat #12 GH-12",
    "$x^2$",
    "&lt;b&gt; &amp;",
    "# heading",
    "1. item",
    "    code",
    "a\nb\r\nc",
    "",
)


def shown(text):
    """What a reader of rendered Markdown sees, without spaces of no width."""
    page = markdown_it.MarkdownIt("gfm-like", {"linkify": False}).render(text)
    assert not re.search(r"<(script|img|a|h[1245]|em|s|code|hr|ol)\b", page), page
    return html.unescape(re.sub(r"<[^>]+>", "", page)).replace("\u200b", "")


def test_a_name_is_shown_letter_by_letter():
    for name in NAMES:
        card = Card("title", (Sentence(name), Sentence("said", name)), (Table((name, "n"), ((name, "1"),)),), (name,))
        text = markdown(card)
        assert shown(text).count(fs.visible.visible(name).strip()) >= 5
        table = [line for line in text.splitlines() if line.startswith("|")]
        assert [len(re.findall(r"(?<!\\)\|", line)) for line in table] == [3, 3, 3]


words = st.lists(st.sampled_from(["a", "of rows", "n=1,000", "x" * 30, "y" * 140]), min_size=1, max_size=12)
clauses = st.lists(words.map(" ".join), min_size=1, max_size=6).map("; ".join)


@given(clauses, st.lists(words.map(" ".join), max_size=3))
def test_lines_in_a_terminal_are_narrow_and_keep_every_letter(line, notes):
    told = in_lines(line, notes)
    assert max(map(len, told.splitlines())) <= WIDTH
    expected = line + "".join(f"note: {note}" for note in dict.fromkeys(notes))
    assert "".join(told.split()) == "".join(expected.split())


def test_a_note_on_several_results_is_told_once_with_their_names():
    several = [("a", "a 0.5", ["few"]), ("b", "b 0.1", ["few"]), ("c", "c 0.2", [])]
    assert several_in_lines(several) == "a 0.5\nb 0.1\nc 0.2\n  note on a, b: few"
    assert several_in_lines(several[:2]).endswith("  note: few")


@pytest.mark.parametrize("name", ["evaluation by spread", pytest.param("audit by several", marks=pytest.mark.thorough)])
def test_markdown_terminal_and_page_tell_the_same(name):
    told = result(name)
    summary = summarize(told)
    terminal, page = render_terminal(summary, width=10_000), html.unescape(render_page(summary))
    text = shown(told.to_markdown())
    for explainer in summary.explainers:
        assert explainer.verdict.sentence in text
        assert explainer.verdict.sentence in terminal
        assert explainer.verdict.sentence.partition(": ")[2][1:] in page
        for _, remark in explainer.remarks:
            assert all(remark in written for written in (text, terminal, page))
        groups = [each for parts in explainer.populations for _, each in parts.groups if not parts.over_time]
        for estimate in (*explainer.measures, *groups):
            interval = f"{down(estimate.low)}–{up(estimate.high)}"
            assert all(interval in written and number(estimate.verified) in written for written in (text, terminal))


def test_a_doubted_verdict_is_doubted_everywhere():
    repeated = examples.evaluation(examples.rows(60).loc[[*range(60)] * 2])
    summary = summarize(repeated)
    (doubt,) = summary.explainers[0].doubts
    page = render_page(summary)  # which also quotes it on top
    for written, times in ((render_terminal(summary, width=10_000), 1), (shown(repeated.to_markdown()), 1), (page, 2)):
        assert written.count("Read with care") == times
        assert doubt in html.unescape(written)
    assert "Read with care" in repeated.consistency.to_markdown()


def test_rows_of_the_data_are_not_in_markdown_nor_doubts_without_reason():
    text = examples.evaluation(examples.rows(60).assign(secret="secret")).to_markdown()
    assert "secret" not in text
    assert "Read with care" not in text


def test_many_groups_and_many_differences_are_counted_and_cut():
    told = result("populations, many")
    assert len(told.estimates) == 60
    text = told.to_markdown()
    assert "48 more groups, whose intervals begin no lower, are not shown" in text
    assert text.count("\n") < 80
    compared = fs.compare([0, 1] * 20, {f"e{k}": [0, 1] * 20 for k in range(7)}, range(40))
    assert "0 of 21 exclude zero; the intervals of 21 differences hold together" in compared.to_markdown()


def test_weighted_and_clustered_rows_say_what_they_are_worth():
    assert "60 rows in 20 clusters, 95% intervals" in result("evaluation with clusters").to_markdown()
    weighted = result("evaluation with weights")
    worth = f"60 rows (as good as {weighted.consistency.effective_n:,.0f} independent ones that count alike)"
    assert worth in shown(weighted.to_markdown())
    assert worth in render_terminal(summarize(weighted), width=10_000)
    assert "1 row, 95% intervals" in result("estimate of one row").to_markdown()
