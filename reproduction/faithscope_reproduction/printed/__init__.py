"""The numbers that the paper prints."""

import csv
from functools import cache
from importlib.resources import files

from faithscope.errors import BadInput

_FILES = {
    "table1": "table1_highlighted_text",
    "table3": "table3_datasets",
    "table4": "table4_models",
    "table5": "table5_shap",
    "table6": "table6_lime",
    "table7": "table7_counterfactuals",
}


def rows(table: str) -> tuple[dict[str, str], ...]:
    """The lines of a printed table, as text."""
    return _lines(_FILES[table])


def printed(table: str, measure: str, **where: str) -> float | None:
    """A printed number; None if the paper prints none.

    Parameters
    ----------
    table : str
        Such as ``table5``.
    measure : str
        A column, such as ``consistency``.
    **where : str
        Entries of the line in other columns, such as ``dataset="adult"``.

    Examples
    --------
    >>> printed("table5", "consistency", dataset="adult", discretizer="sign")
    0.68
    """
    if table not in _FILES:
        return None
    for line in rows(table):
        if all(line[name] == wanted for name, wanted in where.items()):
            return float(line[measure]) if measure in line else None
    return None


def in_figure(figure: str, what: str) -> float:
    """A number printed in or beside a figure.

    Parameters
    ----------
    figure : str
        Such as ``figure2``.
    what : str
        Beginning of the number's description.
    """
    for line in _lines("figures"):
        if line["figure"].partition("_")[0] == figure and line["what"].startswith(what):
            return float(line["value"])
    raise BadInput(
        f"The paper prints no number for {figure} whose description starts with {what!r}; see printed/figures.csv."
    )


@cache
def _lines(name: str) -> tuple[dict[str, str], ...]:
    text = files("faithscope_reproduction").joinpath("printed", f"{name}.csv").read_text("utf-8")
    return tuple(csv.DictReader(text.splitlines()))
