"""faithscope reproduce: the paper's tables and figures, which a package of its own makes."""

from importlib import import_module
from importlib.util import find_spec

import typer

from faithscope.errors import MissingExtra
from faithscope.runtime.messages import json_alone

_PACKAGE = "faithscope_reproduction"


def add_to(app: typer.Typer) -> None:
    """Add the command of the package, if it is installed, and else one that says how to install it."""
    if find_spec(_PACKAGE) is not None:
        app.command()(json_alone(import_module(f"{_PACKAGE}.command").reproduce))
    else:
        app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(reproduce)


def reproduce() -> None:
    """Reproduce the paper's tables and figures; needs the package faithscope-reproduction."""
    raise MissingExtra(
        "What reproduces the paper is a package of its own, which is not installed: in a checkout of faithscope, "
        "type pip install ./reproduction, or make reproduce, which installs and runs it."
    )
