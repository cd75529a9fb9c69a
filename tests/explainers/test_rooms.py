"""An explainer is a file or a folder that can be deleted without orphans, read off the import graph."""

import ast
from pathlib import Path

import pytest

import faithscope
from faithscope import explainers

ROOM = Path(explainers.__file__).parent
PREFIX = "faithscope.explainers."
FILES = sorted(path for path in ROOM.rglob("*.py") if path != ROOM / "__init__.py")


def module_of(path):
    """The name of a module inside the room: ``anchors.lucb``."""
    return ".".join(path.relative_to(ROOM).with_suffix("").parts).removesuffix(".__init__")


def imports_of(path):
    """All modules of faithscope that a file imports, at its top or inside a function."""
    tree = ast.walk(ast.parse(path.read_text()))
    return {
        name
        for node in tree
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names])
        if name and name.split(".")[0] == "faithscope"
    }


GRAPH = {module_of(path): imports_of(path) for path in FILES}
UNITS = sorted({module.split(".")[0] for module in GRAPH} - {"shared"})


def reached(start):
    """The modules of the room that are imported by some modules, directly or through others."""
    seen, left = set(), list(start)
    while left:
        module = left.pop()
        if module in seen:
            continue
        seen.add(module)
        left += [name.removeprefix(PREFIX) for name in GRAPH[module] if name.startswith(PREFIX)]
    return seen


def test_an_explainer_imports_of_this_room_itself_and_what_is_shared():
    for module, imported in GRAPH.items():
        for name in imported:
            inside = name.removeprefix(PREFIX).split(".")[0] in {module.split(".")[0], "shared"}
            assert inside or not name.startswith(PREFIX), f"{module} imports {name}"


@pytest.mark.parametrize("unit", UNITS)
def test_no_file_of_an_explainer_is_an_orphan(unit):
    files = {module for module in GRAPH if module.split(".")[0] == unit}
    surface = {vars(explainers)[name].__module__.removeprefix(PREFIX) for name in explainers.__all__}
    assert files & surface, f"{unit} has no public explainer"
    assert files - {unit} <= reached(files & surface)


def test_every_shared_file_serves_two_explainers():
    users = {unit: reached(module for module in GRAPH if module.split(".")[0] == unit) for unit in UNITS}
    for module in GRAPH:
        if module.startswith("shared."):
            assert sum(module in used for used in users.values()) >= 2, f"only one explainer uses {module}"


def test_no_file_outside_reaches_into_an_explainer_but_stand_ins_for_the_packages_that_the_authors_ran():
    root = Path(faithscope.__file__).parent
    for path in root.rglob("*.py"):
        outside = ROOM not in path.parents and path.parent != root / "reproduce" / "authors"
        if outside and "faithscope.explainers" in path.read_text():
            inside = {name for name in imports_of(path) if name.startswith(PREFIX)}
            assert all(name.startswith(PREFIX + "shared.") for name in inside), f"{path.relative_to(root)}: {inside}"


def test_a_folder_has_few_entries():
    for folder in {path.parent for path in FILES}:
        assert len([path for path in folder.iterdir() if path.name not in {"__init__.py", "__pycache__"}]) <= 15
