"""A terminal shows the same numbers, and no name can color it or clear it."""

import report_examples as examples
from faithscope.report import summarize
from faithscope.report.terminal import render


def test_names_are_never_markup_nor_escapes():
    told = render(summarize(examples.hostile()), width=400)
    assert "[red]markup[/red]" in told
    assert "\x1b" not in told
    assert "\u202e" not in told


def test_every_explainer_has_a_line_in_the_table_and_a_sentence():
    summary = summarize(examples.comparison())
    told = render(summary, width=400)
    for one in summary.explainers:
        assert told.count(one.name) >= 2
        assert one.verdict.sentence in told


def test_a_narrow_terminal_loses_no_number():
    summary = summarize(examples.comparison())
    told = render(summary, width=80)
    for one in summary.explainers:
        for measure in one.measures:
            assert f"{measure.value:.3f}" in told
            assert f"{measure.low:.3f}–{measure.high:.3f}" in told
    assert "…" not in told
