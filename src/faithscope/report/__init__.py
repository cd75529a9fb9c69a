"""Reports: one summary, told in a terminal, on a page, in a notebook or as JSON; nothing is measured here."""

import os
from typing import Any

from faithscope.report.summary import Summary, summarize

__all__ = ["Summary", "summarize", "write_report"]


def write_report(found: Any, path: str | os.PathLike[str], *, populations: Any = None, **options: Any) -> Summary:
    """Write a report that anybody can open: one HTML file that needs no network.

    Parameters
    ----------
    found : Evaluation, Comparison, or what an audit gives
    path : path
    populations, **options
        As for `summarize`.

    Returns
    -------
    Summary
        What the page tells.
    """
    from faithscope.report.html import write

    summary = summarize(found, populations=populations, **options)
    write(summary, path)
    return summary
