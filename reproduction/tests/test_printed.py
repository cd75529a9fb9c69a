"""What the paper's printed numbers say about themselves, by arithmetic alone."""

import ast
import re
from pathlib import Path

import pytest

from faithscope.datasets.catalog import CATALOG
from faithscope_reproduction import running
from faithscope_reproduction.printed import in_figure, printed, rows

ROUNDING = 0.01  # two printed numbers, each rounded to two digits
ROOT = Path(__file__).parents[2]
SECTION = (ROOT / "docs" / "paper-notes.md").read_text().partition("## The paper's slips")[2].partition("\n## ")[0]
LINES = [line for line in SECTION.splitlines() if line.startswith("| ")][1:]
TABLES = ("table1", "table5", "table6", "table7")


def test_printed_uniqueness_cannot_be_the_share_of_rows_that_the_text_defines():
    # A row whose explanation is unique contributes 0, so consistency + that share would be at most 1.
    broken = [
        line
        for table in TABLES
        for line in rows(table)
        if float(line["consistency"]) + float(line["uniqueness"]) > 1 + ROUNDING
    ]
    assert len(broken) == 23
    assert any(line.get("explainer") == "top_coefficient" for line in broken)


def test_printed_uniqueness_can_be_distinct_explanations_by_rows():
    # With D explanations for n rows at least 2 D - n rows are alone, and contribute 0.
    for table in TABLES:
        for line in rows(table):
            alone = max(0.0, 2 * float(line["uniqueness"]) - 1)
            assert float(line["consistency"]) <= 1 - alone + 3 * ROUNDING, (table, line)


def test_the_paper_counts_one_class_of_chess_too_few():
    assert printed("table3", "classes", dataset="chess") == len(CATALOG["chess"].classes) - 1


def test_the_local_measures_of_figure_2_follow_from_its_counts():
    for threshold in ("0.5", "0.95"):
        for measure, kind, digits in (("local consistency", "given", 17), ("local sufficiency", "covered", 2)):
            shown, alike, all_rows = (
                in_figure("figure2", f"threshold {threshold}: {name}") for name in (measure, f"{kind} with label", kind)
            )
            assert shown == pytest.approx(round(alike / all_rows, digits))


def test_printed_sufficiency_of_highlights_is_never_below_their_consistency():
    assert all(float(line["sufficiency"]) >= float(line["consistency"]) for line in rows("table1"))


def test_every_slip_of_the_paper_is_shown_by_a_command_that_exists():
    assert len(LINES) >= 8
    for line in LINES:
        commands = re.findall(r"`(pytest|faithscope reproduce) ([^`]+)`", line.rpartition(" | ")[2])
        assert commands, line
        for program, words in commands:
            if program == "pytest":
                path, _, name = words.partition("::")
                assert name in {
                    node.name for node in ast.parse((ROOT / path).read_text()).body if hasattr(node, "name")
                }
            else:
                assert running.chosen(words.split())
