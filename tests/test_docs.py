"""What the pages show runs, and prints what they show.

In a page, blocks of ``python`` and of ``console`` run in their order, in a folder of their own. A block of ``text``
that follows one is what it prints. What a reader need not see, such as writing the log that a page then audits, stands
in a comment that begins with ``setup``; a comment that begins with ``needs`` names what must be installed.
"""

import ast
import contextlib
import inspect
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from importlib.util import find_spec
from itertools import pairwise, zip_longest
from pathlib import Path

import pytest

import faithscope as fs
from child import python
from faithscope import explainers, testing
from faithscope.integrations import sklearn
from listed import names

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs"))
import evidence  # noqa: E402 (beside the pages)

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
APPENDICES = {"reproduction.md", "proofs.md"}  # the former is generated, the latter are tables and proofs
_BLOCK = re.compile(r"^(?:```(?P<language>\w*)\n(?P<body>.*?)^```$|<!-- setup\n(?P<setup>.*?)^-->$)", re.M | re.S)
WIDTH = 100  # columns of every block: more would scroll sideways
_FENCED = re.compile(r"^```.*?\n(.*?)^ *```$", re.M | re.S)
_NUMBER = re.compile(r"-?\d[\d,]*\.?\d*")


def blocks(page):
    """Every block of a page: its language, what it holds, and the text that follows it at once."""
    found = list(_BLOCK.finditer(page))
    for one, after in zip_longest(found, found[1:]):
        follows = after is not None and after["language"] == "text" and not page[one.end() : after.start()].strip()
        yield (
            one["language"] or "",
            one["setup"] or one["body"],
            one["setup"] is not None,
            after["body"] if follows else None,
        )


def that_run(page):
    """The blocks of a page that run, with what they show."""
    return [block for block in blocks(page.read_text()) if block[2] or block[0] in ("python", "console")]


def pages_that_run():
    """The pages that people meet first; then the others. What the index shows is shown, and run, by the README."""
    for page in PAGES:
        if that_run(page) and page.name != "index.md":
            first = page.name == "README.md"
            yield pytest.param(page, id=page.name, marks=() if first else pytest.mark.thorough)


def missing(page):
    """What the page needs and is not here."""
    needs = re.search(r"<!-- needs (.*?) -->", page)
    for need in needs.group(1).split(", ") if needs else []:
        there = {"java": shutil.which("java"), "data": os.environ.get("FAITHSCOPE_DATA"), "gpu": _gpu()}
        if not there.get(need, find_spec(need)):
            return need
    return None


def _gpu():
    if not find_spec("torch"):
        return False
    import torch

    return torch.cuda.is_available()


def run_python(code, known, name):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, name, "exec"), known)
    return printed.getvalue()


def run_console(body):
    """Run each line that begins with a dollar sign, as a shell would, except installations."""
    printed = ""
    for line in body.replace("\\\n", " ").splitlines():
        words = shlex.split(line.removeprefix("$ "), comments=True) if line.startswith("$ ") else []
        if words[:1] in (["faithscope"], ["python"]):
            env = os.environ | {"COLUMNS": str(WIDTH)}
            if words[0] == "faithscope":
                done = python("from faithscope.cli import main; main()", *words[1:], env=env, check=False)
            else:
                done = subprocess.run([sys.executable, *words[1:]], capture_output=True, text=True, env=env)
            assert done.returncode in (0, 1), f"{line}\n{done.stderr}"
            printed += done.stdout
    return printed


def assert_alike(printed, shown, where):
    """The same words; numbers may differ a little, as other processors round and train otherwise."""
    assert _NUMBER.sub("#", printed).split() == _NUMBER.sub("#", shown).split(), f"{where} prints\n{printed}"
    for ours, theirs in zip(_NUMBER.findall(printed), _NUMBER.findall(shown), strict=True):
        a, b = (float(one.replace(",", "").rstrip(".")) for one in (ours, theirs))
        assert abs(a - b) <= max(0.02, 0.05 * abs(b)), (
            f"{where} prints {ours} where the page shows {theirs}:\n{printed}"
        )


def test_the_index_shows_what_the_readme_shows():
    indices = [page for page in PAGES if page.name == "index.md" and that_run(page)]
    assert [page.parent.name for page in indices] == ["docs"]
    assert that_run(indices[0]) == that_run(ROOT / "README.md")


@pytest.mark.parametrize("path", pages_that_run())
@pytest.mark.slow
def test_what_a_page_shows_is_what_it_prints(path, tmp_path, monkeypatch):
    page = path.read_text()
    if missing(page):
        pytest.skip(f"{path.name} needs {missing(page)}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "argv", [path.name])  # PyXAI reads the arguments of whatever program imports it
    known, ran = {"__name__": "page"}, 0
    for language, body, hidden, shown in blocks(page):
        if hidden or language == "python":
            printed = run_python(body, known, path.name)
        elif language == "console":
            printed = run_console(body)
        else:
            continue
        ran += 1
        if shown is not None:
            assert_alike(printed, shown, path.name)
    assert ran


# The list of folders in the design page is for who works on the code, in lines as long as theirs.
def test_no_block_of_a_page_scrolls_sideways():
    for path in [page for page in PAGES if page.name != "design.md"]:
        wide = [line for block in _FENCED.findall(path.read_text()) for line in block.splitlines() if len(line) > WIDTH]
        assert not wide, "\n".join(wide)


def test_nothing_stray_follows_a_table():
    for path in PAGES:
        lines = _FENCED.sub("", path.read_text()).splitlines()
        pairs = [(line, after) for line, after in pairwise(lines) if line.startswith("|") and after.strip()]
        assert [after for _, after in pairs if not after.startswith(("|", "```"))] == []


def test_the_readme_is_read_in_a_minute():
    assert len((ROOT / "README.md").read_text().split()) <= 600


def test_pages_are_few_and_short():
    pages = [page for page in (ROOT / "docs").rglob("*.md") if page.name not in APPENDICES]
    assert len(pages) <= 30
    assert sum(len(page.read_text().split()) for page in pages) <= 40_000
    assert len((ROOT / "docs" / "design.md").read_text().split()) <= 1_500
    assert len((ROOT / "CONTRIBUTING.md").read_text().split()) <= 600
    assert not [page.name for page in PAGES if page.read_text().count("\n```") % 2]


def test_the_glossary_has_forty_words():
    words = re.findall(r"^\| ([a-z].*?) \|", (ROOT / "docs" / "glossary.md").read_text().partition("\n## ")[0], re.M)
    assert words[1:] == sorted(words[1:])
    assert len(words[1:]) <= 40


def figures(text):
    """The numbers of a text, as they are written but for commas."""
    return [number.replace(",", "") for number in re.findall(r"(?<![\w.,])\.?\d[\d,]*(?:\.\d+)?", text)]


def test_figures_of_the_readme_stand_on_the_pages_that_they_link_to():
    table = re.findall(r"^\| \[.*?\]\((.*?)\)(.*)$", (ROOT / "README.md").read_text(), re.M)
    assert len(table) >= 5
    for page, told in table:
        shown = set(figures((ROOT / page).read_text()))
        for figure in figures(re.sub(r"ICML 2022|10⁸", "", told)):
            assert figure in shown, f"{figure} is not in {page}"


def test_an_explainer_and_a_measure_of_ones_own_are_short_on_the_design_page():
    page = ast.parse("\n".join(body for _, body, *_ in that_run(ROOT / "docs" / "design.md")))
    long = {getattr(node, "name", ""): node.end_lineno - node.lineno for node in page.body}
    assert long["Replaced"] < 25
    assert long["transfer"] <= 20


CLAIMS = list(evidence.claims(evidence.PAGE.read_text()))


def test_the_figures_of_a_claim_stand_in_its_artifact():
    for claim in CLAIMS:
        kept = {float(figure) for figure in figures(claim.artifact.read_text()) if figure.strip(".")}
        for figure in figures(re.sub("`.*?`", "", claim.text)):
            digits = len(figure.partition(".")[2])
            alike = (round(number * scale, digits) for number in kept for scale in (1, 100, 0.001))  # %, ms
            assert float(figure) in alike, f"{figure} is not in {claim.artifact.name}"


def test_the_code_of_a_claim_exists():
    for claim in CLAIMS:
        assert all((ROOT / path).exists() for path in claim.code)
        assert claim.command.startswith(("python ", "faithscope "))


def test_a_claim_whose_run_is_older_than_its_code_says_so(monkeypatch):
    written = {"benchmarks/results/robustness.txt": "2026-01-01T00:00:00", "fuzz/tally.py": "2026-02-01T00:00:00"}
    monkeypatch.setattr(evidence, "_last", lambda paths: max(written.get(path, "2025-01-01") for path in paths))
    old, new = (
        next(claim for claim in CLAIMS if claim.artifact.name == name) for name in ("robustness.txt", "esnli.txt")
    )
    assert old.age == "2026-01-01, **older than its code** (2026-02-01)"
    assert new.age == "2025-01-01"
    assert evidence.marked(f"{old.line}\n") == f"{old.line[:-2]}, {old.age} |\n"


def test_the_claims_that_hold_are_counted_as_the_page_has_them():
    verdicts = re.findall(r"^\| (holds|undecided|fails) \|", (ROOT / "docs" / "reproduction.md").read_text(), re.M)
    counted = {verdict: verdicts.count(verdict) for verdict in ("holds", "undecided", "fails")}
    told = "of {} tested claims {holds} hold, {undecided} are undecided, {fails} fail"
    assert told.format(len(verdicts), **counted) in (ROOT / "README.md").read_text()


def test_the_map_for_language_models_names_pages_that_exist():
    addresses = re.findall(r"\]\(([^)]+)\)", (ROOT / "docs" / "llms.txt").read_text())
    sources = [re.sub(r"\.html$", "", address) for address in addresses]
    assert addresses
    assert all(any((ROOT / "docs" / f"{name}{ext}").exists() for ext in ("", ".md", ".rst")) for name in sources)


def test_files_that_a_page_names_exist():
    for path in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text()):
            assert (path.parent / target).exists(), target


def test_the_reference_has_every_public_name():
    told = "".join(one.read_text() for one in (ROOT / "docs" / "reference").glob("*.rst"))
    named = set(re.findall(r"auto(?:class|function):: faithscope\.([\w.]+)", told))
    public = {name for name in names(fs) if not inspect.ismodule(getattr(fs, name))}
    public |= {f"explainers.{name}" for name in explainers.__all__}
    public |= {f"testing.{name}" for name in testing.__all__ if not name.isupper()}
    public |= {f"integrations.sklearn.{name}" for name in sklearn.__all__}
    assert named == public


@pytest.mark.slow
def test_the_reference_of_the_command_line_is_what_the_program_says():
    words = [sys.executable, "-m", "typer", "faithscope.cli", "utils", "docs", "--name", "faithscope"]
    # With the reproduction, whether or not it is installed: its command is told too.
    env = os.environ | {"PYTHONPATH": os.pathsep.join([*sys.path, str(ROOT / "reproduction")])}
    told = subprocess.run(words, capture_output=True, text=True, check=True, env=env).stdout
    assert (ROOT / "docs" / "reference" / "command-line.md").read_text().strip() == told.strip()
