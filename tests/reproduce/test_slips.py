"""The list of the paper's slips: every command that shows one exists and can be run."""

import ast
import re
from pathlib import Path

from faithscope.reproduce import running

ROOT = Path(__file__).parents[2]
SECTION = (ROOT / "docs" / "paper-notes.md").read_text().partition("## The paper's slips")[2].partition("\n## ")[0]
LINES = [line for line in SECTION.splitlines() if line.startswith("| ")][1:]


def commands(start):
    return [command for line in LINES for command in re.findall(rf"`{start} ([^`]+)`", line.rpartition(" | ")[2])]


def test_every_slip_has_a_command():
    assert len(LINES) >= 8
    for line in LINES:
        assert re.search(r"`(pytest|faithscope reproduce) ", line.rpartition(" | ")[2]), line


def test_the_tests_that_are_named_exist():
    for command in commands("pytest"):
        path, _, name = command.partition("::")
        assert name in {node.name for node in ast.parse((ROOT / path).read_text()).body if hasattr(node, "name")}


def test_the_parts_that_are_named_exist():
    for command in commands("faithscope reproduce"):
        assert running.chosen(command.split())
