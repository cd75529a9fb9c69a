"""Explanations that say themselves which rows they apply to: rules, highlights, counterfactuals."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from faithscope.errors import NotScoped
from faithscope.explanations.base import Explanations
from faithscope.explanations.conditions.conjunctions import Conjunctions
from faithscope.explanations.counterfactuals import Balls, Counterfactuals
from faithscope.explanations.distances.metrics import Gower, to_metric_name
from faithscope.explanations.distances.near import Near
from faithscope.explanations.distances.points import Points
from faithscope.explanations.distances.tiles import arranged_masks
from faithscope.explanations.importances import Importances
from faithscope.explanations.prototypes import Prototypes
from faithscope.explanations.reasons import Reasons
from faithscope.relations.base import Blocks, Parts, Relation, number_parts


@dataclass(frozen=True)
class Applies(Relation):
    """An explanation covers the rows it says it applies to: sufficiency.

    Rules and highlights cover the rows on which all their conditions hold; a counterfactual covers the open ball around
    its row.

    Parameters
    ----------
    exclusive : bool
        Whether the rules are known to be the leaves of one tree, so that each row is covered by exactly one.

    Examples
    --------
    >>> from faithscope import Highlights
    >>> words = Highlights([{"dull"}, {"great"}])
    >>> covered = Applies().cover(words, words, X=["great plot", "dull plot"])
    >>> covered.parts, {part: mask.tolist() for part, mask in covered.masks(None)}
    (['dull', 'great'], {0: [False, True], 1: [True, False]})
    """

    exclusive: bool = False

    @property
    def partitions(self) -> bool:
        return self.exclusive

    def scopes(self, explanations: Explanations) -> Explanations:
        if isinstance(explanations, Counterfactuals):
            return explanations.balls()
        if isinstance(explanations, Conjunctions | Balls):
            return explanations
        raise NotScoped(_not_scoped(explanations))

    def cover(self, distinct: Explanations, explanations: Explanations, X: Any) -> Parts | Blocks:
        if isinstance(distinct, Balls):
            return _open_balls(distinct, X)
        assert isinstance(distinct, Conjunctions)
        parts, lists = number_parts(distinct)
        return Parts(parts, lists, partial(distinct.masks, parts, X), distinct.postings(parts, X))


def _open_balls(balls: Balls, X: Any) -> Blocks:
    if balls.centers.dtype == object or isinstance(balls.metric, Gower):
        return Blocks(balls.inside(X))
    if callable(balls.metric):  # a caller's function stays in the caller's thread
        return Blocks(balls.inside(X), threads=False, near=partial(_near, balls, X))
    near = partial(_near, balls, X)
    return Blocks(balls.inside(X), arranged=arranged_masks(near), near=near)


def _near(balls: Balls, X: Any) -> Near:
    rows = Points(balls.centers[:0], balls.metric, balls.names).sample(X).rows
    centers = balls.centers.astype(np.float64)
    return Near(centers, rows.astype(np.float64), balls.radii, to_metric_name(balls.metric), open=True)


def _not_scoped(explanations: Explanations) -> str:
    if isinstance(explanations, Prototypes):
        return (
            "These prototypes are only indices, which do not say where they apply: pass the rows they stand for, "
            "Prototypes(indices, points), and relation=Nearest() (the default) or relation=Ball(tau)."
        )
    if isinstance(explanations, Reasons):
        return (
            f"These are {explanations.kind}, which do not say where they apply: ask a judge, "
            "relation=fs.Judged(answers), or measure consistency, with discretizer=fs.Codebook(...), or "
            "within(fs.Importances(embeddings), predictions, tau)."
        )
    instead = "use within(tau=...)"
    if not isinstance(explanations, Importances):
        instead = "pass relation=, a function applies(X, explanation) that gives a mask of rows"
    return (
        f"These are {explanations.kind}, which do not say where they apply, so sufficiency is undefined. "
        f"Measure consistency, or {instead}."
    )
