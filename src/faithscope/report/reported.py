"""What evaluations, comparisons and audits share: one summary, from which page, Markdown and MLflow are written."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from faithscope.measures.estimate import MEASURES, Estimate
from faithscope.measures.telling import Listed
from faithscope.sinks.card import Card

if TYPE_CHECKING:
    from faithscope.report.result import Result


class Reported(Listed):
    """A result with a report; it says what its `_contents` are."""

    def _card(self) -> Card:
        from faithscope.report.summary import summarize
        from faithscope.report.summary_card import summary_card

        return summary_card(summarize(cast("Result", self), examples=0))

    def to_html(self, path: str | os.PathLike[str], *, at_least: float | None = None) -> None:
        """Write a report that anybody can open: one HTML file that needs no network.

        Parameters
        ----------
        at_least : float, optional
            What a faithful explainer is asked to reach, which stands beside the verdict; by default what was asked for
            when the result was made, 0.9 if nothing was.
        """
        from faithscope.report.html import write
        from faithscope.report.summary import summarize

        write(summarize(cast("Result", self), wanted=at_least), path)

    def _card_and_page(self) -> tuple[Card, str]:
        from faithscope.report.html import render
        from faithscope.report.summary import summarize
        from faithscope.report.summary_card import summary_card

        summary = summarize(cast("Result", self))
        return summary_card(summary), render(summary)


class OfOneExplainer(Reported):
    """A report on one explainer: its measures under its name."""

    def _estimates(self) -> list[Estimate]:
        return [estimate for measure in MEASURES if (estimate := getattr(self, measure)) is not None]

    def _by_name(self) -> Sequence[tuple[str, Estimate]]:
        return [(vars(self)["name"], estimate) for estimate in self._estimates()]

    def _lines(self) -> Sequence[tuple[str, str]]:
        return [(estimate.measure, estimate.line) for estimate in self._estimates()]

    def _repr_html_(self) -> str:
        return "".join(estimate._repr_html_() for estimate in self._estimates())
