"""Markdown shows what the page and the terminal show, and no name of a caller's is markup."""

import html
import re

import pytest

import faithscope as fs
import report_examples as examples
from faithscope.measures.telling.rounding import down, up
from faithscope.report import summarize
from faithscope.report.html import render as render_page
from faithscope.report.terminal import render as render_terminal
from faithscope.sinks import markdown
from faithscope.sinks.card import Card, Sentence, Table
from sink_examples import RESULTS, result

markdown_it = pytest.importorskip("markdown_it")
NAMES = (
    *examples.HOSTILE,
    "a|b",
    "a\\|b",
    "`tick`",
    "*star* _under_ ~~strike~~",
    "[link](http://evil.example)",
    "![image](http://evil.example/x.png)",
    "http://evil.example www.evil.example",
    "@octocat #12 GH-12",
    "$x^2$",
    "&lt;b&gt; &amp;",
    "# heading",
    "- item",
    "1. item",
    "---",
    "    code",
    "a\nb\r\nc",
    "",
)


def shown(text):
    """What a reader of rendered Markdown sees, without spaces of no width."""
    page = markdown_it.MarkdownIt("gfm-like", {"linkify": False}).render(text)
    assert not re.search(r"<(script|img|a|h[1245]|em|s|code|hr|ol)\b", page), page
    return html.unescape(re.sub(r"<[^>]+>", "", page)).replace("\u200b", "")


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_a_name_is_shown_letter_by_letter(name):
    visible = fs.visible.visible(name)
    card = Card("title", (Sentence(name), Sentence("said", name)), (Table((name, "n"), ((name, "1"),)),), (name,))
    told = shown(markdown.render(card))
    assert told.count(visible.strip()) >= 5
    lines = markdown.render(card).splitlines()
    table = [line for line in lines if line.startswith("|")]
    assert [len(re.findall(r"(?<!\\)\|", line)) for line in table] == [3, 3, 3]


@pytest.mark.parametrize("name", ["@octocat", "#12", "GH-12", "http://evil.example", "www.evil.example", "a@b.org"])
def test_nobody_is_notified_and_nothing_is_linked(name):
    escaped = html.unescape(markdown.escape(name))
    assert not re.search(r"@\w|#\d|GH-\d|://(?<!\\://)|www\.", escaped)


@pytest.mark.slow
@pytest.mark.parametrize("name", RESULTS)
def test_every_result_has_a_title_a_table_and_its_notes(name):
    told = result(name)
    text = told.to_markdown()
    assert text.startswith("### ")
    assert "\n| " in text
    assert text.endswith("\n")
    readable = shown(text)
    for note in getattr(told, "notes", ()):
        assert note in readable


@pytest.mark.slow
@pytest.mark.parametrize("name", ["evaluation of rules", "evaluation by spread", "comparison", "audit by several"])
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
            assert all(interval in written and f"{estimate.value:.3f}" in written for written in (text, terminal))


@pytest.mark.slow
def test_a_doubted_verdict_is_doubted_everywhere():
    repeated = fs.evaluate(examples.predict, examples.by_age, examples.rows(60).loc[[*range(60)] * 2], progress=False)
    summary = summarize(repeated)
    (doubt,) = summary.explainers[0].doubts
    page = render_page(summary)  # which also quotes it on top
    for written, times in ((render_terminal(summary, width=10_000), 1), (shown(repeated.to_markdown()), 1), (page, 2)):
        assert written.count("Read with care") == times
        assert doubt in html.unescape(written)
    assert render_terminal(summary, width=10_000).count(doubt) == 1
    assert "Read with care" in repeated.consistency.to_markdown()
    assert "Read with care" not in fs.evaluate(examples.predict, examples.by_age, examples.rows(60)).to_markdown()


def test_rows_of_the_data_are_not_in_markdown():
    rows = examples.rows(60).assign(secret=[f"secret {row}" for row in range(60)])
    ev = fs.evaluate(examples.predict, examples.by_age, rows, progress=False)
    assert "secret" not in ev.to_markdown()


@pytest.mark.slow
def test_many_groups_and_many_differences_are_counted_and_cut():
    told = result("populations, many")
    assert len(told.estimates) == 60
    text = told.to_markdown()
    assert "10 more groups, whose intervals begin higher, are not shown" in text
    assert text.count("\n") < 80
    compared = fs.compare([0, 1] * 20, {f"e{k}": [0, 1] * 20 for k in range(7)}, range(40), progress=False)
    assert "0 of 21 exclude zero; the intervals of 21 differences hold together" in compared.to_markdown()


def test_weighted_and_clustered_rows_say_what_they_are_worth():
    assert "60 rows in 20 clusters, 95% intervals" in result("evaluation with clusters").to_markdown()
    weighted = result("evaluation with weights")
    worth = f"60 rows (as good as {weighted.consistency.effective_n:,.0f} independent ones that count alike)"
    assert worth in shown(weighted.to_markdown())
    assert worth in render_terminal(summarize(weighted), width=10_000)
    assert "1 row, 95% intervals" in result("estimate of one row").to_markdown()
