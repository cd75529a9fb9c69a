"""A terminal shows the same numbers, and no name can color it or clear it."""

import io
from dataclasses import replace

from rich.console import Console

import report_examples as examples
from faithscope.measures.telling.rounding import down, up
from faithscope.report import summarize
from faithscope.report.terminal import render, show


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
            assert f"{down(estimate.low)}–{up(estimate.high)}" in text
    assert "…" not in text


def test_names_never_break_inside_a_word():
    summary = summarize(examples.comparison())
    names = ["counterfactual", "nearest neighbor of training"]
    explainers = [replace(each, name=name) for each, name in zip(summary.explainers, names, strict=False)]
    lines = render(replace(summary, explainers=tuple(explainers)), width=80).splitlines()
    table = lines[3 : lines.index("")]
    words = [word for line in table for word in line[:16].split()]
    assert words[:1] == ["counterfactual"]
    assert {"nearest", "neighbor", "training"} <= set(words)


def test_bars_are_drawn_by_wide_terminals_and_never_into_files():
    summary = summarize(examples.comparison())
    for terminal, width, drawn in ((True, 160, True), (True, 80, False), (False, 160, False)):
        console = Console(file=io.StringIO(), width=width, force_terminal=terminal, no_color=True)
        show(summary, console)
        assert ("●" in console.file.getvalue()) == drawn
