"""An explainer is a file or a folder that can be deleted without orphans, read off the import graph.

What an explainer may import, and who may import it, say the contracts of import-linter in ``pyproject.toml``.
"""

from pathlib import Path

import pytest

from faithscope import explainers

grimp = pytest.importorskip("grimp", reason="import-linter is not installed")
ROOM = explainers.__name__
GRAPH = grimp.build_graph("faithscope")
SHARED = {f"{ROOM}.{name}" for name in ("base", "shared", "space", "trees")}
UNITS = sorted(GRAPH.find_children(ROOM) - SHARED)


def files(unit):
    return {unit} | GRAPH.find_descendants(unit)


def reached(modules):
    """These modules and all that they import, directly or through others."""
    return modules.union(*map(GRAPH.find_upstream_modules, modules))


@pytest.mark.parametrize("unit", UNITS)
def test_no_file_of_an_explainer_is_an_orphan(unit):
    surface = files(unit) & {vars(explainers)[name].__module__ for name in explainers.__all__}
    assert surface, f"{unit} has no public explainer"
    assert files(unit) - {unit} <= reached(surface)


def test_every_shared_file_serves_two_explainers():
    users = [reached(files(unit)) for unit in UNITS]
    for module in set().union(*map(files, SHARED)) - {f"{ROOM}.shared", f"{ROOM}.trees"}:
        assert sum(module in used for used in users) >= 2, f"only one explainer uses {module}"


def test_a_folder_has_few_entries():
    for folder in {path.parent for path in Path(explainers.__file__).parent.rglob("*.py")}:
        assert len([path for path in folder.iterdir() if path.name not in {"__init__.py", "__pycache__"}]) <= 15
