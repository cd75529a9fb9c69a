"""What the README shows is what the code prints."""

import contextlib
import io
import re
from pathlib import Path

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
