"""What stands in several files of the project is the same in all of them, and none names an address it should not."""

import importlib.util
import re
import tomllib
from pathlib import Path

import yaml

import faithscope as fs

ROOT = Path(__file__).parents[1]
DECLARED = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
RECIPE = ROOT / "recipe" / "recipe.yaml"
FORMS = [path for path in sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")) if path.stem != "config"]


def parsed(path):
    return yaml.safe_load((ROOT / path).read_text())


def requirements(declared):
    return dict(re.match(r"([\w-]+)(?:\[\w+\])?(>=[\w.]+)", requirement).groups() for requirement in declared)


def test_the_recipe_requires_what_the_package_requires():
    told = dict(requirement.split(" ") for requirement in parsed(RECIPE)["requirements"]["run"][1:])
    wanted = requirements(DECLARED["dependencies"])
    wanted["ibis-duckdb"] = wanted.pop("ibis-framework")  # conda-forge's name of ibis-framework[duckdb]
    assert told == wanted
    assert parsed(RECIPE)["context"]["version"] == fs.__version__
    assert parsed(RECIPE)["about"]["license"] == DECLARED["license"]


def test_a_release_fills_the_recipe(tmp_path):
    specification = importlib.util.spec_from_file_location("fill", ROOT / "recipe" / "fill.py")
    fill = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(fill)
    archive = tmp_path / "faithscope-9.8.7.tar.gz"
    archive.write_bytes(b"")
    filled = yaml.safe_load(fill.filled(RECIPE.read_text(), archive, "file:///there"))
    assert filled["context"]["version"] == "9.8.7"
    assert filled["context"]["url"] == "file:///there"
    assert filled["context"]["sha256"].startswith("e3b0c442")  # of nothing
    assert "TEMPLATE" not in str(filled)


def test_the_lock_pins_every_requirement_and_names_no_index():
    lines = [line for line in (ROOT / "requirements-dev.lock").read_text().splitlines() if not line.startswith("#")]
    assert all(re.fullmatch(r"[\w.-]+(\[[\w,-]+\])?==[\w.+]+( ; .+)?", line) for line in lines), lines
    pinned = {re.match(r"[\w.-]+", line)[0].lower() for line in lines}
    assert set(requirements(DECLARED["dependencies"])) <= pinned
    assert not {"xgboost", "nvidia-nccl-cu12"} & pinned


def test_all_declared_pythons_are_tried_on_all_declared_systems():
    matrix = parsed(".github/workflows/ci.yml")["jobs"]["quick"]["strategy"]["matrix"]
    last = [line.rsplit(" ", 1)[1] for line in DECLARED["classifiers"] if line.startswith("Programming Language")]
    assert matrix["python"] == [version for version in last if re.fullmatch(r"3\.\d+", version)]
    assert [system.split("-")[0] for system in matrix["system"]] == ["ubuntu", "macos", "windows"]


def test_a_workflow_may_only_read_unless_a_job_says_otherwise():
    for name in ["ci", "docs", "release"]:
        workflow = parsed(f".github/workflows/{name}.yml")
        assert workflow["permissions"] == {"contents": "read"}
        writing = [job for job, steps in workflow["jobs"].items() if "write" in str(steps.get("permissions", ""))]
        assert writing == ([] if name == "ci" else ["publish"])


def test_every_form_says_what_it_is_for():
    for path in FORMS:
        form = parsed(path)
        assert form["name"]
        assert form["description"]
        assert len({field["id"] for field in form["body"]}) == len(form["body"])


def test_the_paper_cites_only_what_it_lists():
    cited = set(re.findall(r"@([a-z]+\d{4}\w*)", (ROOT / "paper" / "paper.md").read_text()))
    listed = set(re.findall(r"^@\w+\{(\w+),", (ROOT / "paper" / "paper.bib").read_text(), re.M))
    assert cited == listed


def test_the_commands_that_the_paper_names_exist():
    for path in re.findall(r"benchmarks/\w+\.py", (ROOT / "paper" / "paper.md").read_text()):
        assert (ROOT / path).exists()
