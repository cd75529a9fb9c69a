"""ExplainerAgreement: how far explainers agree with each other, and the tables and the heat map that show it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import BadInput, UnknownName
from faithscope.explanations.base import Explanations
from faithscope.inputs.checks import check_whole
from faithscope.inputs.frames import frame
from faithscope.inputs.hints import hint
from faithscope.measures.explainer_agreement.pair import MEASURES, PairAgreement
from faithscope.measures.explainer_agreement.telling import agreement_card, in_a_line
from faithscope.sinks.card import Card
from faithscope.sinks.lines import in_lines
from faithscope.sinks.shareable import Shareable

if TYPE_CHECKING:
    import pandas as pd

_CHANCES = ("chance", "feature_chance")
_WORDS = {
    "same": "share of rows on which both say the same",
    "chance": "the same by chance",
    "kappa": "kappa: how far both say the same beyond chance",
    "feature_agreement": "share of the named features that both name",
    "feature_chance": "share of the named features that both name, by chance",
    "rank_agreement": "share of the named features that both name at the same rank",
    "sign_agreement": "share of the named features that both name with the same sign",
    "signed_rank_agreement": "share of the named features that both name at the same rank, with the same sign",
}
_SHORT = {"FA": "feature_agreement", "RA": "rank_agreement", "SA": "sign_agreement", "SRA": "signed_rank_agreement"}


@dataclass(frozen=True)
class ExplainerAgreement(Shareable):
    """How far explainers agree with each other on the same rows, pair by pair.

    Attributes
    ----------
    explainers : dict of str to str
        The discretizer by which each explainer is compared, by its name.
    pairs : tuple of PairAgreement
        Every two explainers, with ``same``, ``chance``, ``kappa`` and the four measures of named features.
    n : int
        Number of rows.
    clusters : int or None
        Number of clusters of rows; None if rows are not clustered.
    k : int
        How many features importances name.
    confidence : float
        Of each interval by itself.
    notes : tuple of str
        What a reader should know; what is about two explainers is in ``notes`` of their pair.

    Examples
    --------
    >>> from faithscope import explainer_agreement
    >>> agreement = explainer_agreement({"one": ["a", "b", "a", "b"], "other": ["a", "b", "b", "b"]})
    >>> print(agreement)
    one and other: the same on 75% of 4 rows [0.19, 0.99], chance 0.42, kappa 0.57 [-1.00, 1.00]
    """

    explainers: dict[str, str]
    pairs: tuple[PairAgreement, ...]
    n: int
    clusters: int | None
    k: int
    confidence: float
    notes: tuple[str, ...] = ()
    positions: NDArray[np.int64] | None = field(default=None, repr=False, compare=False)
    labels: Any = field(default=None, repr=False, compare=False)
    explanations: Mapping[str, Explanations] = field(default_factory=dict, repr=False, compare=False)

    def pair(self, a: str, b: str) -> PairAgreement:
        """Two explainers by their names, in whatever order; `PairAgreement.a` is the one that was given first."""
        for name in (a, b):
            if not isinstance(name, str) or name not in self.explainers:
                raise UnknownName(f"No explainer is called {name!r}. {hint(name, self.explainers)}")
        chosen = next((pair for pair in self.pairs if {pair.a, pair.b} == {a, b}), None)
        if chosen is None:
            raise BadInput(f"Agreement takes two different explainers; got {a!r} twice.")
        return chosen

    def table(self) -> "pd.DataFrame":
        """One line per pair: all measures with their intervals; empty cells for what cannot be told."""
        lines = [pair.columns() for pair in self.pairs]
        return frame({name: [line[name] for line in lines] for name in lines[0]})

    def matrix(self, measure: str = "same") -> "pd.DataFrame":
        """One measure of every two explainers, as a square table by their names; NaN for what cannot be told.

        Parameters
        ----------
        measure : str
            "same", "chance", "kappa", "feature_agreement", "feature_chance", "rank_agreement", "sign_agreement" or
            "signed_rank_agreement"; also "FA", "RA", "SA" and "SRA".
        """
        name = _measure(measure)
        square = np.array(self._square(name), np.float64)
        if not name.endswith("chance"):
            np.fill_diagonal(square, 1.0)
        return frame(dict(zip(self.explainers, square.T, strict=True)), list(self.explainers))

    def _square(self, measure: str) -> list[list[float | None]]:
        """One measure of every two explainers; None on the diagonal and for what cannot be told."""
        names = list(self.explainers)
        square: list[list[float | None]] = [[None] * len(names) for _ in names]
        for pair in self.pairs:
            i, j = names.index(pair.a), names.index(pair.b)
            number = getattr(pair, measure)
            square[i][j] = square[j][i] = number[0] if isinstance(number, tuple) else number
        return square

    def rows(self, a: str, b: str, k: int = 10) -> "pd.DataFrame":
        """Up to k rows on which two explainers differ, those that share the fewest features first.

        ``row`` are positions in the rows that were handed over, ``index`` their labels (the positions again if they
        have none). Explanations are told as they were compared. Kinds that cannot be equal differ on rows on which they
        do not name the same features.
        """
        pair = self.pair(a, b)
        most = check_whole(k, "k, the number of rows,")
        shared = np.full(self.n, np.nan) if pair.shared is None else pair.shared
        differing = shared < 1 if pair.differing is None else pair.differing
        rows = np.flatnonzero(differing)
        rows = rows[np.argsort(shared[rows], kind="stable")][:most]
        positions = rows if self.positions is None else self.positions[rows]
        told = [[self.explanations[name].describe(int(row)) for row in rows] for name in (a, b)]
        return frame(
            {
                "row": positions,
                "index": positions if self.labels is None else self.labels[rows],
                "explanation_a": told[0],
                "explanation_b": told[1],
                "feature_agreement": shared[rows],
            }
        )

    def plot(self, measure: str = "same") -> Any:
        """One measure of every two explainers as a heat map, an Altair chart; see `matrix`."""
        from faithscope.charts import heat_map

        name = _measure(measure)
        return heat_map(list(self.explainers), self._square(name), measure=_WORDS[name])

    def to_dict(self) -> dict[str, Any]:
        """All numbers of this agreement, ready for JSON."""
        about = {name: getattr(self, name) for name in ("n", "clusters", "k", "confidence")}
        pairs = [pair.to_dict() for pair in self.pairs]
        return {"explainers": dict(self.explainers), **about, "pairs": pairs, "notes": list(self.notes)}

    def __str__(self) -> str:
        return in_lines(in_a_line(self.pairs, self.n))

    __repr__ = __str__

    def _card(self) -> Card:
        return agreement_card(self.pairs, self.n, self.clusters, self.confidence, self.notes)


def _measure(measure: Any) -> str:
    known = (*MEASURES, *_CHANCES)
    name = _SHORT.get(str(measure).upper(), measure)
    if not isinstance(name, str) or name not in known:
        raise UnknownName(f"No measure of agreement is called {measure!r}. {hint(measure, (*known, *_SHORT))}")
    return name
