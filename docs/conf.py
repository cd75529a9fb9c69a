"""The documentation site: `make docs` builds it, and a warning is an error."""

import sys
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import faithscope

sys.path.insert(0, str(Path(__file__).parent))
import evidence


def _reached(pages: dict[str, str]) -> dict[str, tuple[str, None]]:
    """Sites that answer: without a network the pages build as well, with names of others as plain text."""
    reached = {}
    for name, address in pages.items():
        try:
            urlopen(f"{address}/objects.inv", timeout=5).close()
        except OSError:
            continue
        reached[name] = (address, None)
    return reached


project = "faithscope"
author = "The faithscope developers"
project_copyright = author
version = release = faithscope.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.intersphinx", "sphinx.ext.napoleon"]
extensions += ["sphinx_copybutton"]
intersphinx_mapping = _reached(
    {
        "python": "https://docs.python.org/3",
        "numpy": "https://numpy.org/doc/stable",
        "pandas": "https://pandas.pydata.org/docs",
        "sklearn": "https://scikit-learn.org/stable",
    }
)
intersphinx_timeout = 10
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence", "fieldlist"]
default_role = "literal"
suppress_warnings = ["ref.python"]  # a type in words, such as "list of predictions", is not a reference
html_theme = "furo"
html_title = "faithscope"
html_show_sphinx = False
templates_path: list[str] = []
exclude_patterns = ["_build"]
html_static_path = ["static"]
html_css_files = ["wide.css"]
html_extra_path = ["result.schema.json", "llms.txt"]
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
maximum_signature_line_length = 80  # one parameter per line beyond
autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
napoleon_google_docstring = False
napoleon_use_rtype = False


def _age() -> str:
    page = evidence.PAGE.read_text(encoding="utf-8")
    return next(claim.age for claim in evidence.claims(page) if claim.artifact.stem == "reproduction")


def setup(app: Any) -> None:
    """Each line of the evidence, and the reproduction, say when they were run, and whether their code changed since."""

    def mark(_: Any, name: str, source: list[str]) -> None:
        if name == "evidence":
            source[0] = evidence.marked(source[0])
        if name == "reproduction":
            source[0] = source[0].replace("\n\n", f"\n\nKept on {_age()}.\n\n", 1)

    app.connect("source-read", mark)
