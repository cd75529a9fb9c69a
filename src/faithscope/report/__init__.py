"""Reports: one summary of a result, shown in a terminal, on a page or as JSON; nothing is measured here."""

import os
from collections.abc import Mapping, Sequence

from faithscope.measures.comparing.populations import Populations
from faithscope.report.result import Result
from faithscope.report.summary import Summary, summarize

__all__ = ["Summary", "summarize", "write_report"]


def write_report(
    result: Result,
    path: str | os.PathLike[str],
    *,
    populations: Populations | Mapping[str, Populations | Sequence[Populations]] | None = None,
) -> Summary:
    """Write a report that anybody can open: one HTML file that needs no network.

    Parameters
    ----------
    result : Evaluation, Comparison or Audit
    path : path
    populations
        As for `summarize`.

    Returns
    -------
    Summary
        What the page tells.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import faithscope as fs
    >>> result = fs.evaluate(["yes", "no", "no", "no"], ["old", "old", "young", "young"], [[7], [8], [1], [2]])
    >>> path = Path(tempfile.mkdtemp()) / "report.html"
    >>> write_report(result, path).explainers[0].verdict.word
    'Cannot tell yet'
    >>> path.read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    from faithscope.report.html import write

    summary = summarize(result, populations=populations)
    write(summary, path)
    return summary
