"""Where does it fail? Rows that contradict an explanation, side by side, with the features that differ."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from faithscope.inputs.array_types import Floats
from faithscope.inputs.arrays import is_frame
from faithscope.inputs.columns import Column, Rows
from faithscope.measures.telling import told_number
from faithscope.report.document import Block, Group, Key, missing
from faithscope.report.explainer import Explainer, Question
from faithscope.report.maps import picture_of
from faithscope.report.wording import plain, two_values, wording
from faithscope.words import readable

_DOCUMENT = 800  # characters of a document that are shown
_NAME = 80  # characters of a row's label that are shown
_NONE = "No two rows contradict each other here. That is no praise where few rows can be checked."
_MAP_KEY = (
    ("up", "positive importance, or one of the top regions"),
    ("down", "negative importance"),
    ("", "the stronger the color, the larger in that map"),
)


@dataclass(frozen=True)
class FeaturePair:
    """One feature of two rows."""

    name: str
    a: str
    b: str
    differs: bool
    gap: float | None  # as a share of the feature's range in all rows; None for a feature without a range


@dataclass(frozen=True)
class Contradiction:
    """Two rows that one explanation covers and the model predicts differently.

    Attributes
    ----------
    measure : str
        "consistency": both were given the explanation; "sufficiency": it applies to b, which was given another.
    index_a, index_b : str
        The row labels there; the positions of rows that have no labels.
    pairs : int or None
        How many pairs of rows this explanation contradicts itself on, if known.
    gap : str or None
        Of numbers, how far the two predictions are apart.
    features : tuple of FeaturePair
        Those that differ most first; empty if rows were not kept or have no columns.
    map : Map or None
        The explanation as rows of numbers, if it is a map or a series, its cells pooled to a few.
    picture_a, picture_b : Map or None
        The two rows, from 0 to 1, if they are images.
    """

    measure: str
    explanation: str
    index_a: str
    index_b: str
    prediction_a: str
    prediction_b: str
    pairs: int | None
    gap: str | None
    features: tuple[FeaturePair, ...]
    map: Floats | None
    picture_a: Floats | None
    picture_b: Floats | None

    @property
    def differing(self) -> list[FeaturePair]:
        """The features that differ."""
        return [feature for feature in self.features if feature.differs]

    @property
    def equal(self) -> list[FeaturePair]:
        """The features that do not."""
        return [feature for feature in self.features if not feature.differs]


def _ask(asked: Explainer) -> list[Block]:
    """The pair that is most alike, and the others folded; up to so many per measure."""
    if not asked.examples:
        return []
    X, found = asked.result.X, list[Contradiction]()
    columns = feature_columns(X)
    # Named features are no rule that another row could contradict.
    for measure in [each.measure for each in asked.measures if each.beyond_random is None]:
        pairs = asked.attempt(CONTRADICTIONS, measure, partial(asked.result._row_pairs, measure, asked.examples))
        found += [_contradiction(X, columns, measure, pair) for pair in pairs or ()]
    if not found:
        return [] if any(each.section == CONTRADICTIONS.anchor for each in asked.missing) else [missing(_NONE)]
    if found[0].gap is None:  # of numbers, the farthest apart stand first already
        found = sorted(found, key=lambda pair: (not pair.features, len(pair.differing)))
    first, *more = found
    key = [Key(_MAP_KEY)] if any(pair.map is not None for pair in found) else []
    fold = f"{len(more)} more {'pair' if len(more) == 1 else 'pairs'} of rows"
    return [*key, first, *([Group(more, fold=fold)] if more else [])]


def _contradiction(X: Any, columns: list[Column], measure: str, pair: Mapping[str, Any]) -> Contradiction:
    a, b, gap = pair["row_a"], pair["row_b"], pair.get("gap")
    told = two_values(pair["prediction_a"], pair["prediction_b"])
    return Contradiction(
        measure,
        wording(pair["explanation"]),
        wording(pair["index_a"], _NAME),
        wording(pair["index_b"], _NAME),
        *told,
        pairs=plain(pair.get("disagreeing_pairs")),
        gap=None if gap is None else told_number(float(gap)),
        features=side_by_side(columns, a, b),
        map=pair.get("map"),
        picture_a=picture_of(X, a),
        picture_b=picture_of(X, b),
    )


def feature_columns(X: Any) -> list[Column]:
    """The columns of rows of any kind, or documents as one; none if they cannot be shown (sparse matrices, images)."""
    if X is None or hasattr(X, "tocsr") or (not is_frame(X) and len(getattr(X, "shape", ())) > 2):
        return []
    rows = Rows(X, loose=True)
    return rows.columns if rows.named or len(rows.names) > 1 else [replace(rows.column(0), name="text")]


def side_by_side(columns: list[Column], a: int, b: int) -> tuple[FeaturePair, ...]:
    """Every feature of two rows: those farthest apart first, equal ones last, in the order of the columns."""
    features = []
    for column in columns:
        one, other = column.values[a], column.values[b]
        finite = column.values[np.isfinite(column.values)] if column.values.dtype.kind in "iuf" else column.values[:0]
        spread = float(finite.max()) - float(finite.min()) if len(finite) else 0.0
        gap = plain(abs(float(one) - float(other)) / spread) if spread > 0 else None
        shown = two_values(one, other, _DOCUMENT)
        features.append(FeaturePair(wording(column.name), *shown, readable(one) != readable(other), gap))
    return tuple(sorted(features, key=lambda pair: (not pair.differs, -(1.0 if pair.gap is None else pair.gap))))


CONTRADICTIONS = Question(
    "contradictions",
    "Where it fails",
    "Where does it fail?",
    "Two rows that were told the same and predicted differently: of the explanations that contradict themselves most, "
    "the rows that differ in the fewest features, or of numbers those whose predictions are farthest apart. What "
    "differs between them is marked.",
    subject="where it fails",
    ask=_ask,
    detail=False,
)
