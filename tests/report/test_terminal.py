"""A terminal shows the same numbers, and no name can color it or clear it."""

import report_examples as examples
from faithscope.report import summarize
from faithscope.report.terminal import render


def test_names_are_never_markup_nor_escapes():
    text = render(summarize(examples.hostile()), width=400)
    assert "[red]markup[/red]" in text
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_every_explainer_has_a_line_in_the_table_and_a_sentence():
    summary = summarize(examples.comparison())
    text = render(summary, width=400)
    for explainer in summary.explainers:
        assert text.count(explainer.name) >= 2
        assert explainer.verdict.sentence in text


def test_a_narrow_terminal_loses_no_number():
    summary = summarize(examples.comparison())
    text = render(summary, width=80)
    for explainer in summary.explainers:
        for estimate in explainer.measures:
            assert f"{estimate.value:.3f}" in text
            assert f"{estimate.low:.3f}–{estimate.high:.3f}" in text
    assert "…" not in text
