"""What evaluations, comparisons and audits share: one summary, from which page, Markdown and MLflow are written."""

from typing import TYPE_CHECKING, cast

from faithscope.sinks.card import Card
from faithscope.sinks.shareable import Shareable

if TYPE_CHECKING:
    from faithscope.report.result import Result


class Reported(Shareable):
    """A result with a report; it says what its `_contents` are."""

    def _card(self) -> Card:
        from faithscope.report.summary import summarize
        from faithscope.report.summary_card import summary_card

        return summary_card(summarize(cast("Result", self), examples=0))

    def _card_and_page(self) -> tuple[Card, str]:
        from faithscope.report.html import render
        from faithscope.report.summary import summarize
        from faithscope.report.summary_card import summary_card

        summary = summarize(cast("Result", self))
        return summary_card(summary), render(summary)
