"""What the README shows is what the code prints."""

import re
from pathlib import Path

import pytest

import faithscope as fs

README = Path(__file__).parents[1] / "README.md"


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
