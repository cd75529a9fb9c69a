"""Predictions that hold more than a label: scores of a text classifier, or several labels of 0 and 1 per row."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from faithscope.errors import BadInput
from faithscope.inputs.array_types import Array
from faithscope.inputs.arrays import to_objects

_SET = re.compile(r"\{(\d+(, \d+)*)?\}")
SETS = "predictions are several labels per row, as 0 and 1; rows agree if all of their labels do"


def of_scores(given: Any) -> list[Any] | None:
    """The labels of a text classifier's answers, as Hugging Face's pipelines give them; None for anything else.

    An answer is a dict with "label" and "score", or a list of them with one per class (``top_k=None``), of which the
    label with the highest score counts.

    Examples
    --------
    >>> of_scores([{"label": "good", "score": 0.9}, [{"label": "good", "score": 0.2}, {"label": "bad", "score": 0.8}]])
    ['good', 'bad']
    """
    if not isinstance(given, list | tuple) or not given or not _is_scored(_first(given[0])):
        return None
    labels = []
    for row, answer in enumerate(given):
        scores = [answer] if isinstance(answer, dict) else list(answer) if isinstance(answer, list | tuple) else []
        if not scores or not all(map(_is_scored, scores)):
            raise BadInput(
                f"Predictions are dicts with 'label' and 'score', but row {row} is {answer!r}: pass one answer per row."
            )
        labels.append(max(scores, key=lambda score: float(score["score"]))["label"])
    return labels


def _first(answer: Any) -> Any:
    return answer[0] if isinstance(answer, list | tuple) and answer else answer


def _is_scored(answer: Any) -> bool:
    return isinstance(answer, dict) and "label" in answer and "score" in answer


def of_sets(columns: Sequence[Array] | Array) -> Array | None:
    """Columns of 0 and 1 in whole numbers or booleans, one per label, as one text per row, "{0, 2}"; else None.

    One-hot classes are told apart in the same way, since rows of one class are equal. Floats may be probabilities, and
    are not taken.

    Examples
    --------
    >>> of_sets([np.array([1, 0]), np.array([0, 0]), np.array([1, 0])]).tolist()
    ['{0, 2}', '{}']
    """
    flags = all(
        column.ndim == 1 and column.dtype.kind in "biu" and ((column == 0) | (column == 1)).all() for column in columns
    )
    if not flags or len(columns) < 2 or not len(columns[0]):
        return None
    distinct, places = np.unique(np.column_stack(list(columns)), axis=0, return_inverse=True)
    texts = [f"{{{', '.join(map(str, np.flatnonzero(row)))}}}" for row in distinct]
    return to_objects(texts)[places.reshape(-1)]


def are_sets(labels: Sequence[Any]) -> bool:
    """Whether labels are sets of labels, as `of_sets` writes them."""
    return len(labels) > 0 and all(isinstance(label, str) and _SET.fullmatch(label) for label in labels)
