"""The demo opens its page only if asked."""

import numpy as np
import pytest
from typer.testing import CliRunner

import faithscope as fs
from faithscope.cli import app, demo


@pytest.mark.thorough
def test_the_page_is_opened_only_if_asked(monkeypatch, tmp_path):
    opened = []
    comparison = fs.compare(np.arange(80) % 2, {demo.CODES: ["a", "b"] * 40}, np.zeros((80, 1)))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(demo, "demonstrate", lambda *args, **kwargs: comparison)
    monkeypatch.setattr(demo.typer, "launch", opened.append)
    for options, pages in (([], 0), (["--open"], 1)):
        done = CliRunner().invoke(app, ["demo", *options])
        assert done.exit_code == 0, done.output
        assert demo.CODES in done.output
        assert len(opened) == pages
    assert opened[0].startswith("file:///")
    assert opened[0].endswith("/report.html")
