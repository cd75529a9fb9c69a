"""What messages advise can be done: every name they spell as code is there."""

import ast
import re
from importlib import import_module
from pathlib import Path

import faithscope
from faithscope import errors, explainers
from listed import names

SOURCE = Path(faithscope.__file__).parent
_NAMES = re.compile(r"\b(?:fs|faithscope)(?:\.[A-Za-z_]\w*)+")
_CALLS = re.compile(r"(?<![\w.])([A-Z][a-z]\w+)\(")  # an object of ours, such as Sign() or Rules.from_tree(


class Texts(ast.NodeVisitor):
    """Every text of a piece of code, except docstrings; what is filled in is a gap."""

    def __init__(self):
        self.found = []

    def visit_Expr(self, node):
        if not isinstance(node.value, ast.Constant):
            self.generic_visit(node)

    def visit_Constant(self, node):
        if isinstance(node.value, str):
            self.found.append(node.value)

    def visit_JoinedStr(self, node):
        parts = (one.value if isinstance(one, ast.Constant) else "…" for one in node.values)
        self.found.append("".join(parts))


def texts(node):
    visitor = Texts()
    visitor.visit(node)
    return visitor.found


def messages():
    """Every text that a module holds, with where it stands and whether it is raised at once."""
    for path in sorted(SOURCE.rglob("*.py")):
        tree = ast.parse(path.read_text())
        raised = {
            text for node in ast.walk(tree) if isinstance(node, ast.Raise) and node.exc for text in texts(node.exc)
        }
        for text in dict.fromkeys(texts(tree)):
            yield str(path.relative_to(SOURCE)), text, text in raised


def resolve(path):
    """What a reader gets who types this."""
    _, *names = path.split(".")
    found = import_module("faithscope")
    for place, name in enumerate(names, 1):
        module = ".".join(["faithscope", *names[:place]])
        found = getattr(found, name) if hasattr(found, name) else import_module(module)
    return found


def test_every_name_that_a_text_spells_is_there_and_every_object_that_a_message_calls_is_public():
    known, found = {*names(faithscope), *explainers.__all__, *dir(errors)}, list(messages())
    assert sum(raised for *_, raised in found) > 200
    assert sum(bool(_NAMES.search(text)) for _, text, _ in found) >= 3
    for where, text, _ in found:
        for path in _NAMES.findall(text):
            if " " in text and f"{path}:" not in text:  # prose; and a system is named module:attribute
                assert resolve(path) is not None, (where, text)
    calls = {(where, name) for where, text, raised in found if raised for name in _CALLS.findall(text)}
    assert {name for _, name in calls} >= {"Sign", "Prototypes"}
    assert not {(where, name) for where, name in calls if name not in known}
