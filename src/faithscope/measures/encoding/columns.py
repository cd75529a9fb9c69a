"""The table of encoding: one line per explanation that can be tested."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from faithscope.counting.encoding.sums import Encoded, LabelCells, NumberTable
from faithscope.explanations.arrow.columns import to_objects
from faithscope.measures.encoding.choice_tests import ChoiceTests

Ints = NDArray[np.int64]

if TYPE_CHECKING:
    from faithscope.measures.encoding.result import Encoding


def columns(encoded: Encoded, tests: ChoiceTests, wrong: float, k: int | None = None) -> dict[str, Any]:
    """The columns of the first k tests, or of all."""
    first = tests.first(k)
    tables = encoded.tables
    told = _labels(encoded.labels, tables, first) if isinstance(tables, LabelCells) else _numbers(tables, first)
    return {
        "explanation": [encoded.explanations.describe(int(number)) for number in first.explanation],
        "n": first.given,
        "others": first.others,
        **told,
        "total_variation" if isinstance(tables, LabelCells) else "distance": first.distance,
        "p": first.p,
        "p_adjusted": first.adjusted,
        "flagged": first.adjusted <= wrong,
    }


def _labels(names: tuple[object, ...], cells: LabelCells, tests: ChoiceTests) -> dict[str, Any]:
    starts, stops = (np.searchsorted(cells.explanation, tests.explanation, side=side) for side in ("left", "right"))
    ranges = [slice(start, stop) for start, stop in zip(starts.tolist(), stops.tolist(), strict=True)]
    top = np.array([part.start + int(cells.given[part].argmax()) for part in ranges], np.int64)
    return {
        "given": [_by_label(names, cells.label[part], cells.given[part]) for part in ranges],
        "covered": [_by_label(names, cells.label[part], cells.others[part]) for part in ranges],
        "label": to_objects([names[j] for j in cells.label[top]]),
        "given_share": cells.given[top] / np.maximum(tests.given, 1),
        "covered_share": cells.others[top] / np.maximum(tests.others, 1),
    }


def _by_label(names: tuple[object, ...], labels: Ints, rows: Ints) -> dict[object, int]:
    return {names[label]: many for label, many in zip(labels.tolist(), rows.tolist(), strict=True) if many}


def _numbers(columns: NumberTable, tests: ChoiceTests) -> dict[str, Any]:
    means = (columns.given_mean[tests.explanation], columns.others_mean[tests.explanation])
    return dict(zip(("given_mean", "covered_mean"), means, strict=True))


def encoding_columns(encodings: Mapping[str, "Encoding"]) -> dict[str, list[Any]]:
    """The columns of several results, one line per explainer."""
    names = (
        "value",
        "low",
        "high",
        "unverifiable",
        "alone",
        "exclusive",
        "tested",
        "flagged",
        "encodes",
        "n",
        "distinct",
    )
    lines = {name: [getattr(encoding, name) for encoding in encodings.values()] for name in names}
    return {"explainer": list(encodings), **lines}
