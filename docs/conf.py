"""The documentation site: `make docs` builds it, and a warning is an error."""

import faithscope

project = "faithscope"
author = "The faithscope developers"
project_copyright = author
version = release = faithscope.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence", "fieldlist"]
default_role = "literal"
suppress_warnings = ["ref.python"]  # a type in words, such as "list of predictions", is not a reference
html_theme = "furo"
html_title = "faithscope"
html_show_sphinx = False
templates_path: list[str] = []
exclude_patterns = ["_build"]
html_extra_path = ["result.schema.json"]
autodoc_typehints = "none"  # the docstrings say what types there are, in words
autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
napoleon_google_docstring = False
napoleon_use_rtype = False
