"""What evaluations, comparisons and audits share: one summary, from which page, Markdown and MLflow are written."""

import os
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from faithscope.agreements import Agreement
from faithscope.card import Card
from faithscope.measures.estimate import MEASURES, Estimate
from faithscope.measures.telling import WANTED, Listed
from faithscope.runtime.files import write_page
from faithscope.shareable import fragment

if TYPE_CHECKING:
    from faithscope.measures.comparing.differences import Difference
    from faithscope.measures.comparing.populations import Populations
    from faithscope.measures.encoding import Encoding
    from faithscope.measures.leakage import Leakage
    from faithscope.report.result import Breakdown


class Reported(Listed):
    """A result with a report: on one explainer, or on several and how they differ on the same rows."""

    pairs: "tuple[Difference, ...]" = ()
    rows_to_choose: int = 0  # rows on which discretizations were chosen, none of them reported on
    explainer_agreement: Any = None

    @abstractmethod
    def _explainers(self) -> "Mapping[str, OfOneExplainer]":
        """What is measured of each explainer, by name."""

    def _by_name(self) -> Sequence[tuple[str, Estimate]]:
        return [(name, estimate) for name, each in self._explainers().items() for estimate in each._estimates()]

    def _beside(self) -> dict[str, Sequence[Any]]:
        named, each = self._by_name(), self._explainers()
        return {
            "explainer": [name for name, _ in named],
            "discretizer": [each[name].discretizer for name, _ in named],
            "measure": [estimate.measure for _, estimate in named],
        }

    def _repr_html_(self) -> str:
        return fragment(Card("", (), tuple(self._tables()), tuple(self._told_notes())))

    def _card(self) -> Card:
        from faithscope.report.summary import summarize
        from faithscope.report.summary_card import summary_card

        return summary_card(summarize(self, examples=0))

    def to_html(self, path: str | os.PathLike[str], *, at_least: float | None = None) -> None:
        """Write a report that anybody can open: one HTML file that needs no network.

        Parameters
        ----------
        at_least : float, optional
            What a faithful explainer is asked to reach, which stands beside the verdict; by default what was asked for
            when the result was made, 0.9 if nothing was.
        """
        write_page(path, self._card_and_page(at_least)[1])

    def _card_and_page(self, at_least: float | None = None) -> tuple[Card, str]:
        from faithscope.report.html import render
        from faithscope.report.summary import summarize
        from faithscope.report.summary_card import summary_card

        summary = summarize(self, wanted=at_least)
        return summary_card(summary), render(summary)


class OfOneExplainer(Reported):
    """A report on one explainer: its measures under its name, and what a report asks of it."""

    name: str
    explainer: str
    discretizer: str
    baseline: bool = False
    consistency: Estimate
    sufficiency: Estimate | None
    necessity: Estimate | None

    @property
    @abstractmethod
    def X(self) -> Any:  # noqa: N802
        """The rows."""

    @property
    def _wanted(self) -> float:
        """What a faithful explainer is asked to reach."""
        return WANTED

    @property
    def agreement(self) -> Agreement:
        """How much two predictions agree: `Same` for labels, or what was asked for."""
        return self.consistency.agreement

    @property
    def uniqueness(self) -> float:
        """Share of rows whose explanation no other row was given."""
        return float(self.consistency.counts.profile().uniqueness)

    def _explainers(self) -> "Mapping[str, OfOneExplainer]":
        return {self.name: self}

    @abstractmethod
    def encoding(self) -> "Encoding":
        """Whether the choice of an explanation says more than the explanation."""

    @abstractmethod
    def _leakage(self) -> "Leakage | None":
        """How many reasons in words name a label; None for other explanations, and if no word names a label."""

    @abstractmethod
    def _row_pairs(self, measure: str, k: int) -> Sequence[Mapping[str, Any]]:
        """Up to k pairs of rows that lower the measure: ``row_a`` and ``row_b`` are positions in `X`."""

    @property
    def _discretized(self) -> Mapping[str, Estimate]:
        """The consistency of these explanations per discretization, finest first; none if one alone is measured."""
        return {}

    def _estimates(self) -> list[Estimate]:
        return [estimate for measure in MEASURES if (estimate := getattr(self, measure)) is not None]

    def _populations(self) -> "list[Populations]":
        """Every measure by group of rows that was asked for."""
        names = ("populations", "sufficiency_populations", "necessity_populations")
        return [parts for name in names if (parts := getattr(self, name)) is not None]

    def _breakdowns(self) -> "list[Breakdown]":
        """Its measures by population and over time."""
        from faithscope.report.result import Breakdown

        return [each for parts in self._populations() for each in Breakdown.of(parts)]

    def _lines(self) -> Sequence[tuple[str, str]]:
        return [(estimate.measure, estimate.line) for estimate in self._estimates()]
