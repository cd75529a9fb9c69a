"""Rows that contradict an explanation, side by side, with the features that differ."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.inputs.arrays import frame_columns, is_frame
from faithscope.inputs.rows import take_rows
from faithscope.report.missing import Missing, attempt
from faithscope.report.wording import plain, same_value, two_values, wording

_FEATURES = 30  # of two rows side by side
_DOCUMENT = 800  # characters of a document that are shown
_NAME = 80  # characters of a row's label that are shown


@dataclass(frozen=True)
class Feature:
    """One feature of two rows."""

    name: str
    a: str
    b: str
    differs: bool
    gap: float | None  # of the range of the feature in all rows; None where it has none


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
        What the rows are called there; their positions where they have no labels.
    pairs : int or None
        How many pairs of rows this explanation contradicts itself on, where known.
    features : tuple of Feature
        Those that differ most first; empty where rows were not kept or have no columns.
    left_out : int
        Further features, which are no farther apart.
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
    features: tuple[Feature, ...]
    left_out: int


def contradictions(evaluation: Any, k: int) -> tuple[tuple[Contradiction, ...], tuple[Missing, ...]]:
    """Up to k pairs for consistency, and k for sufficiency where it was measured; and what could not be found."""
    found: list[tuple[str, dict[str, Any]]] = []
    missing: list[Missing] = []
    for measure, question in (("consistency", "counterexamples"), ("sufficiency", "wrongly_covered")):
        if getattr(evaluation, measure, None) is not None:
            pairs, why = attempt("contradictions", measure, partial(_pairs, evaluation, question, k))
            found += [(measure, pair) for pair in pairs or ()]
            missing += why
    rows = Rows.of(evaluation.X, getattr(evaluation, "rows", None)) if found else None
    return tuple(_contradiction(rows, measure, pair) for measure, pair in found), tuple(missing)


def _pairs(evaluation: Any, question: str, k: int) -> list[dict[str, Any]]:
    """The answer's lines; none where this cannot be asked. An audit tells positions here, and to nobody else."""
    ask = getattr(evaluation, f"_{question}", None) or getattr(evaluation, question, None)
    return [] if ask is None else [_renamed(line) for line in ask(k).to_dict("records")]


def _renamed(line: dict[str, Any]) -> dict[str, Any]:
    names = {"row": "row_a", "wrong_row": "row_b", "index": "index_a", "wrong_index": "index_b"}
    names |= {"prediction": "prediction_a", "wrong_prediction": "prediction_b"}
    return {names.get(name, name): value for name, value in line.items()}


def _contradiction(rows: "Rows | None", measure: str, pair: dict[str, Any]) -> Contradiction:
    a, b = int(pair["row_a"]), int(pair["row_b"])
    features = () if rows is None else rows.side_by_side(a, b)
    names = [wording(pair.get(f"index_{end}", row), _NAME) for end, row in (("a", a), ("b", b))]
    return Contradiction(
        measure=measure,
        explanation=wording(pair["explanation"]),
        row_a=a,
        row_b=b,
        index_a=names[0],
        index_b=names[1],
        prediction_a=wording(pair["prediction_a"]),
        prediction_b=wording(pair["prediction_b"]),
        pairs=plain(pair.get("disagreeing_pairs")),
        features=features[:_FEATURES],
        left_out=max(0, len(features) - _FEATURES),
    )


@dataclass(frozen=True)
class Rows:
    """The columns of the rows, or documents as one column, with how far each number ranges."""

    names: tuple[str, ...]
    columns: tuple[NDArray[Any], ...]
    ranges: tuple[float, ...]  # 0 for what is no number
    positions: NDArray[np.int64] | None = None  # by which rows are asked for, ascending; None for 0 to n - 1

    @classmethod
    def of(cls, X: Any, positions: NDArray[np.int64] | None = None) -> "Rows | None":
        """The columns of rows of any kind; None where there are none to show (no rows, or a sparse matrix)."""
        if X is None or hasattr(X, "tocsr"):
            return None
        if is_frame(X):
            names, columns = frame_columns(X)
        else:
            array = X if isinstance(X, np.ndarray) else np.asarray(take_rows(X, np.arange(len(X))), object)
            array = array.reshape(len(array), -1)
            columns = list(array.T)
            names = ("text",) if len(columns) == 1 else tuple(f"x{j}" for j in range(len(columns)))
        return cls(tuple(map(str, names)), tuple(columns), tuple(map(_range, columns)), positions)

    def side_by_side(self, a: int, b: int) -> tuple[Feature, ...]:
        """Every feature of two rows: those farthest apart first, equal ones last, in the order of the columns."""
        if self.positions is not None:
            a, b = np.searchsorted(self.positions, [a, b]).tolist()
        pairs = zip(self.names, self.columns, self.ranges, strict=True)
        found = [_feature(name, column[a], column[b], spread) for name, column, spread in pairs]
        return tuple(sorted(found, key=lambda one: (not one.differs, -(1.0 if one.gap is None else one.gap))))


def _range(column: NDArray[Any]) -> float:
    if column.dtype.kind not in "iuf" or not len(column):
        return 0.0
    finite = column[np.isfinite(column)]
    return float(finite.max()) - float(finite.min()) if len(finite) else 0.0


def _feature(name: str, a: Any, b: Any, spread: float) -> Feature:
    gap = abs(float(a) - float(b)) / spread if spread > 0 else None
    if isinstance(a, str) and isinstance(b, str):
        shown = wording(a, _DOCUMENT), wording(b, _DOCUMENT)
    else:
        shown = two_values(a, b)
    return Feature(wording(name), *shown, differs=not same_value(a, b), gap=plain(gap))
