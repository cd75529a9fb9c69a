"""Where does it fail? Rows that contradict an explanation, side by side, with the features that differ."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from faithscope.inputs.array_types import Array
from faithscope.inputs.arrays import frame_columns, is_frame
from faithscope.inputs.rows import take_rows
from faithscope.inputs.tensors import is_tensor, to_host
from faithscope.measures.numbers.words import told_number
from faithscope.report.document import Block, Group, Key, missing
from faithscope.report.maps import Map, picture_of
from faithscope.report.question import Asked, Question
from faithscope.report.wording import plain, same_value, two_numbers, two_values, wording

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
    row_a, row_b : int
        Positions in the rows as they were handed over.
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
    row_a: int
    row_b: int
    index_a: str
    index_b: str
    prediction_a: str
    prediction_b: str
    pairs: int | None
    gap: str | None
    features: tuple[FeaturePair, ...]
    map: Map | None = None
    picture_a: Map | None = None
    picture_b: Map | None = None

    @property
    def differing(self) -> list[FeaturePair]:
        """The features that differ."""
        return [feature for feature in self.features if feature.differs]

    @property
    def equal(self) -> list[FeaturePair]:
        """The features that do not."""
        return [feature for feature in self.features if not feature.differs]


def _ask(asked: Asked) -> list[Block]:
    """The pair that is most alike, and the others folded; up to so many per measure."""
    result, found = asked.result, list[tuple[str, Mapping[str, Any]]]()
    # Named features are no rule that another row could contradict.
    for measure in [each.measure for each in asked.estimates if each.beyond_random is None and asked.examples]:
        pairs = asked.attempt(CONTRADICTIONS, measure, partial(result._row_pairs, measure, asked.examples))
        found += [(measure, pair) for pair in pairs or ()]
    if not found:
        unknown = any(each.section == CONTRADICTIONS.anchor for each in asked.missing)
        return [] if unknown or not asked.examples else [missing(_NONE)]
    columns = FeatureColumns.of(result.X)
    first, *more = most_alike_first([_contradiction(result.X, columns, measure, pair) for measure, pair in found])
    key = [Key(_MAP_KEY)] if any(pair.map for pair in (first, *more)) else []
    fold = f"{len(more)} more {'pair' if len(more) == 1 else 'pairs'} of rows"
    return [*key, first, *([Group(more, fold=fold)] if more else [])]


def _contradiction(X: Any, columns: "FeatureColumns | None", measure: str, pair: Mapping[str, Any]) -> Contradiction:
    features = () if columns is None else columns.side_by_side(pair["a"], pair["b"])
    told, gap = (pair["prediction_a"], pair["prediction_b"]), pair.get("gap")
    a, b = map(wording, told) if gap is None else two_numbers(*told)
    return Contradiction(
        measure,
        wording(pair["explanation"]),
        pair["row_a"],
        pair["row_b"],
        wording(pair["index_a"], _NAME),
        wording(pair["index_b"], _NAME),
        a,
        b,
        pairs=plain(pair.get("disagreeing_pairs")),
        gap=None if gap is None else told_number(float(gap)),
        features=features,
        map=pair.get("map"),
        picture_a=picture_of(X, pair["a"]),
        picture_b=picture_of(X, pair["b"]),
    )


def most_alike_first(pairs: Sequence[Contradiction]) -> list[Contradiction]:
    """The pairs as they are, but the one that differs in the fewest features first; of numbers, the farthest apart."""
    if pairs[0].gap is not None:
        return list(pairs)
    first = min(pairs, key=lambda pair: (not pair.features, len(pair.differing)))
    return [first, *(pair for pair in pairs if pair is not first)]


@dataclass(frozen=True)
class FeatureColumns:
    """The columns of the rows, or documents as one column, with the range of each column of numbers."""

    names: tuple[str, ...]
    columns: tuple[Array, ...]
    ranges: tuple[float, ...]  # 0 for what is no number

    @classmethod
    def of(cls, X: Any) -> "FeatureColumns | None":
        """The columns of rows of any kind; None if there are none to show (no rows, sparse matrices, images)."""
        if X is None or hasattr(X, "tocsr") or (not is_frame(X) and len(getattr(X, "shape", ())) > 2):
            return None
        if is_frame(X):
            names, columns = frame_columns(X)
        else:
            array = to_host(X) if is_tensor(X) else X
            if not isinstance(array, np.ndarray):
                array = np.asarray(take_rows(X, np.arange(len(X))), object)
            columns = list(array.reshape(len(array), -1).T)
            names = ("text",) if len(columns) == 1 else tuple(f"x{j}" for j in range(len(columns)))
        return cls(tuple(map(str, names)), tuple(columns), tuple(map(_range, columns)))

    def side_by_side(self, a: int, b: int) -> tuple[FeaturePair, ...]:
        """Every feature of two rows: those farthest apart first, equal ones last, in the order of the columns."""
        columns = zip(self.names, self.columns, self.ranges, strict=True)
        features = [_feature_pair(name, column[a], column[b], spread) for name, column, spread in columns]
        return tuple(sorted(features, key=lambda pair: (not pair.differs, -(1.0 if pair.gap is None else pair.gap))))


def _range(column: Array) -> float:
    if column.dtype.kind not in "iuf" or not len(column):
        return 0.0
    finite = column[np.isfinite(column)]
    return float(finite.max()) - float(finite.min()) if len(finite) else 0.0


def _feature_pair(name: str, a: Any, b: Any, spread: float) -> FeaturePair:
    gap = abs(float(a) - float(b)) / spread if spread > 0 else None
    both_texts = isinstance(a, str) and isinstance(b, str)
    shown = (wording(a, _DOCUMENT), wording(b, _DOCUMENT)) if both_texts else two_values(a, b)
    return FeaturePair(wording(name), *shown, differs=not same_value(a, b), gap=plain(gap))


CONTRADICTIONS = Question(
    "contradictions",
    "Where it fails",
    "Where does it fail?",
    "Two rows that were told the same and predicted differently: of the explanations that contradict themselves most, "
    "the rows that differ in the fewest features. What differs between them is marked.",
    subject="where it fails",
    ask=_ask,
    detail=False,
    lead_of_numbers="Two rows that were told the same, with predictions that are far apart. What differs between them "
    "is marked.",
)
