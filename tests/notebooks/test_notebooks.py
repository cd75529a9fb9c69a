"""Notebooks run with and without ipywidgets, and what they show needs no network."""

import base64
import re
import sys
import textwrap

import nbformat
import pytest
from nbclient import NotebookClient

LOG = """
import numpy as np, pandas as pd
import faithscope as fs
labels = np.arange(400) % 2
log = pd.DataFrame({"yhat": labels, "why": labels, "region": np.where(np.arange(400) < 200, "north", "south")})
log.to_parquet("log.parquet")
"""
WITHOUT = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "ipywidgets":
            raise ModuleNotFoundError("No module named 'ipywidgets'", name="ipywidgets")
sys.meta_path.insert(0, Absent())
sys.modules.pop("ipywidgets", None)
"""
WITH = "import sys; sys.path.insert(0, 'stub'); import ipywidgets"
STUB = """
class Widget:
    def __init__(self, *given, **how):
        self.value, self.children = 0, ()
    def __getattr__(self, name):
        return Widget()
    def __call__(self, *given, **how):
        return Widget()
FloatProgress = HTML = HBox = Layout = Output = Widget
"""
AUDIT = """
found = fs.audit("log.parquet", prediction="yhat", explanation="why", kind="keys", by="region")
print(found)
fs.audit(log, prediction="yhat", explanation="why", kind="keys").consistency
"""


def executed(folder, *cells):
    """A notebook of these cells after a kernel of this very Python has run it."""
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(textwrap.dedent(cell)) for cell in cells])
    setup = f"import sys; sys.path[:0] = {[p for p in sys.path if p]!r}"
    book.cells.insert(0, nbformat.v4.new_code_cell(setup))
    NotebookClient(book, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(folder)}}).execute()
    return book


def outputs(book):
    """What every cell shows, by mime type, and what it prints."""
    return [output for cell in book.cells for output in cell.outputs]


@pytest.mark.parametrize("start", [WITHOUT, pytest.param(WITH, marks=pytest.mark.thorough)], ids=["without", "with"])
def test_a_log_is_audited_in_a_notebook_whether_or_not_there_are_widgets(tmp_path, start):
    (tmp_path / "stub").mkdir()
    (tmp_path / "stub" / "ipywidgets.py").write_text(STUB)
    shown = outputs(executed(tmp_path, start, LOG, AUDIT))
    assert not [one for one in shown if one.output_type == "error"]
    printed = "".join(one.text for one in shown if one.output_type == "stream" and one.name == "stdout")
    assert printed.startswith("consistency 1.00, 95% interval [0.98, 1.00]")
    assert "consistency" in shown[-1].data["text/html"]


PLOTS = """
ev = fs.evaluate(labels, lambda rows: labels * (rows["a"] > 3), pd.DataFrame({"a": np.arange(400)}), progress=False)
compared = fs.compare(labels, {"same": ["x"] * 400, "<b>right</b>": list(labels)}, pd.DataFrame({"a": np.arange(400)}))
"""
SHOWN = ("ev.plot()", "compared.plot()", "fs.plan(ev.consistency).plot()", "ev.by(log['region']).plot()")


@pytest.mark.thorough
def test_a_plot_is_a_picture_that_needs_no_network_and_altairs_own_charts_stay_as_they_were(tmp_path):
    own = "import altair as alt\nbefore = alt.renderers.active, dict(alt.renderers.options)\n"
    after = "assert before == (alt.renderers.active, dict(alt.renderers.options))\n"
    mine = after + "alt.Chart(pd.DataFrame({'a': [1]})).mark_point().encode(x='a:Q')"
    chosen = "alt.renderers.enable('png')\nev.plot()"
    shown = outputs(executed(tmp_path, LOG, PLOTS, *(own + one for one in SHOWN), mine, chosen))
    shown = [one for one in shown if one.output_type in ("execute_result", "display_data", "error")]
    pictures, (theirs, by_choice) = shown[: len(SHOWN)], shown[len(SHOWN) :]
    for one in pictures:
        page = one.data["text/html"]
        assert re.fullmatch(r'<img alt="[^"<>]+" src="data:image/svg\+xml;base64,[\w+/=]+" style="[^"]+">', page)
        drawn = base64.b64decode(re.search(r"base64,([^\"]+)", page)[1]).decode()
        assert drawn == one.data["image/svg+xml"]
        assert drawn.startswith("<svg")
        assert not re.search(r"https?://(?!www\.w3\.org/)", drawn)
        assert len(one.data["text/plain"]) > 20
    assert "right" in pictures[1].data["text/plain"]
    assert "cdn.jsdelivr.net" in theirs.data["text/html"]
    assert "text/html" not in by_choice.data
    assert "image/png" in by_choice.data
