"""What the README shows is what the code prints."""

import contextlib
import io
import re
from pathlib import Path

import pytest

import faithscope as fs

README = Path(__file__).parents[1] / "README.md"


def test_the_example_prints_what_the_readme_shows():
    code, shown = re.search(r"```python\n(.*?)```\n\n```\n(.*?)```", README.read_text(), re.DOTALL).groups()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})
    assert printed.getvalue().strip() == shown.strip()
    assert shown.strip()


def test_files_that_the_readme_names_exist():
    for target in re.findall(r"\]\(([^)#:]+)\)", README.read_text()):
        assert (README.parent / target).exists(), target


def test_the_example_of_adding_an_explainer_runs(capsys):
    page = README.parent / "docs" / "adding-an-explainer.md"
    code = re.search(r"```python\n(.*?)```", page.read_text(), re.DOTALL).group(1)
    exec(compile(code, str(page), "exec"), {})
    assert capsys.readouterr().out.startswith("consistency ")


def test_the_guard_in_the_docs_passes_and_fails_as_shown(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = (README.parent / "docs" / "ci.md").read_text()
    defined: dict = {}
    exec(compile(re.search(r"```python\n(.*?)```", page, re.DOTALL).group(1), "ci.md", "exec"), defined)
    for name in ("test_explanations_are_faithful", "test_no_region_is_left_behind"):
        defined[name]()
    ev = fs.evaluate(defined["model"], defined["surrogate"], defined["rows"])
    with pytest.raises(AssertionError) as failure:
        fs.assert_faithful(ev, at_least=0.99)
    assert str(failure.value) == re.search(r"```\n(consistency was not.*?)\n```", page, re.DOTALL).group(1)
