"""Which features change between runs."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.discretizers import Modified
from faithscope.discretizers.importances import signs, top_signs
from faithscope.errors import BadInput
from faithscope.explanations import Explanations
from faithscope.explanations.conditions.condition import Condition
from faithscope.explanations.conditions.conjunctions import Shared
from faithscope.explanations.counterfactuals import Counterfactuals
from faithscope.explanations.importances import Importances, Rankings
from faithscope.measures.repeatability.runs import Ints, Runs, joined
from faithscope.visible import visible

Floats = NDArray[np.float64]

_CELLS = 2**20  # numbers at a time


def feature_columns(runs: Runs, top: int) -> dict[str, Any]:
    """Per feature how often two runs disagree on it, most first.

    Of importances: on its sign, and on whether it is among the `top` largest in size. Of rules, highlights, prototypes
    and counterfactuals: on whether it is used.
    """
    first = runs.given[0]
    if isinstance(first, Importances) and not isinstance(first, Rankings):
        return _of_importances(runs, [_in_order(first, each) for each in runs.given], top)
    if isinstance(first, Counterfactuals):
        changed = [Modified()(each) for each in runs.given]
        names = [changed[0]._label(j) for j in range(changed[0].values.shape[1])]
        return _of_use(runs, names, [_sparse(each.values != 0) for each in changed])
    if isinstance(first, Shared):
        return _of_use(runs, *_used_parts(joined(runs.given), len(runs.given)))
    raise BadInput(
        f"features() needs importances, rules, highlights, prototypes or counterfactuals, and these are {first.kind}, "
        "which name no features: table() tells which rows change."
    )


def _in_order(first: Importances, other: Explanations) -> NDArray[Any]:
    """The numbers of a run, its features in the order of the first run."""
    assert isinstance(other, Importances)
    if first.names is None or other.names is None or first.names == other.names:
        return other.values
    return other.values[:, [other.names.index(name) for name in first.names]]


def _of_importances(runs: Runs, values: Sequence[NDArray[Any]], top: int) -> dict[str, Any]:
    first = runs.given[0]
    assert isinstance(first, Importances)
    sums = sum(_block_sums(*block, top) for block in _blocks(values, runs.weights))
    sign, place, variance, size = np.asarray(sums) / runs.weights.sum()
    columns = {
        "feature": np.array([visible(first._label(j)) for j in range(len(size))], object),
        "sign_differs": sign,
        "top_differs": place,
        "spread": np.sqrt(variance),
        "mean_size": size,
    }
    return _ordered(columns, np.lexsort((-variance, -sign, -place)))


def _blocks(values: Sequence[NDArray[Any]], weights: Floats) -> Iterator[tuple[Floats, Floats]]:
    """Blocks of rows: the importances of all runs, (runs, rows, features), and the weights."""
    step = max(1, _CELLS // max(1, len(values) * values[0].shape[1]))
    for start in range(0, len(weights), step):
        block = slice(start, start + step)
        yield np.stack([each[block] for each in values]).astype(np.float64), weights[block]


def _block_sums(values: Floats, weights: Floats, top: int) -> Floats:
    """Weighted sums over rows, (4, features): pairs of runs that differ in sign, and in place; variance; size."""
    many, rows, features = values.shape
    sign = signs(values)
    kept = top_signs(values.reshape(many * rows, features), top).reshape(values.shape) != 0
    by_sign = np.stack([(sign == side).sum(axis=0) for side in (-1, 0, 1)])
    by_place = np.stack([kept.sum(axis=0), (~kept).sum(axis=0)])
    rows_of_sums = (_differing(by_sign), _differing(by_place), values.var(axis=0, ddof=1), np.abs(values).mean(axis=0))
    return np.stack([weights @ each for each in rows_of_sums])


def _differing(counts: Ints) -> Floats:
    """The share of pairs of runs that differ, from how many runs are of each kind (the first axis)."""
    many = int(counts.sum(axis=0).flat[0])
    return np.asarray(1 - (counts * (counts - 1)).sum(axis=0) / (many * (many - 1)))


def _of_use(runs: Runs, names: Sequence[str], used: Sequence[Any]) -> dict[str, Any]:
    """Columns from sparse (rows, features) matrices, one per run, that are 1 for features that are used."""
    many = len(used)
    times = sum(used[1:], start=used[0]).tocsr()
    apart = times.copy()
    apart.data = times.data * (many - times.data) * 2 / (many * (many - 1))
    differs, share = (each.T @ runs.weights / runs.weights.sum() for each in (apart, times / many))
    columns = {"feature": np.array([visible(name) for name in names], object), "use_differs": differs, "used": share}
    return _ordered(columns, np.lexsort((-share, -differs)))


def _used_parts(explanations: Explanations, many: int) -> tuple[list[str], list[Any]]:
    """The names of all features or words, and which of them each explanation of each run uses."""
    from scipy.sparse import csr_array

    assert isinstance(explanations, Shared)
    sets = [list(dict.fromkeys(map(_feature, parts))) for parts in explanations.distinct]
    places = {name: place for place, name in enumerate(dict.fromkeys(name for names in sets for name in names))}
    ends = np.cumsum([0, *map(len, sets)])
    columns = np.array([places[name] for names in sets for name in names], np.int64)
    parts = csr_array((np.ones(len(columns)), columns, ends), shape=(len(sets), len(places)))
    return list(places), [parts[codes] for codes in explanations.codes.reshape(many, -1)]


def _feature(part: Any) -> str:
    return part.feature if isinstance(part, Condition) else str(part)


def _sparse(mask: NDArray[np.bool_]) -> Any:
    from scipy.sparse import csr_array

    return csr_array(mask.astype(np.float64))


def _ordered(columns: dict[str, Any], order: Ints) -> dict[str, Any]:
    return {name: column[order] for name, column in columns.items()}
