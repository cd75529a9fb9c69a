"""The explanations of benchmarks/for_whom.py, all of them rules, and points drawn at random inside rules."""

from typing import Any

import numpy as np

import faithscope as fs

THRESHOLDS = (0.5, 0.8, 0.95)
TOP = 3  # features of LIME's that make a box
LEAVES = 16  # of the tree that is fitted to the model
_QUARTERS = (25, 50, 75)


def explained(model: Any, train: np.ndarray, X: np.ndarray, categorical: tuple[int, ...]) -> dict[str, fs.Rules]:
    """The rules of each explainer for the same rows of the same model."""
    anchors = fs.explainers.Anchors(model, train, beam=1, categorical=categorical).explain_at(X, THRESHOLDS)
    return {
        "LIME's top 3": lime_boxes(model, train, X, categorical),
        "tree path": fs.explainers.TreePath.surrogate(model, train, max_leaf_nodes=LEAVES).explain(X),
        **{f"anchor {threshold}": rules for threshold, rules in anchors.items()},
        "formal reason": fs.explainers.SufficientReason(model).explain(X),
    }


def lime_boxes(model: Any, train: np.ndarray, X: np.ndarray, categorical: tuple[int, ...]) -> fs.Rules:
    """The row's quarter, or category, of each of the three features that LIME finds most important."""
    weights = fs.explainers.Lime(model, train, categorical=categorical).explain(X).values
    per_class = weights.reshape(len(X), -1, X.shape[1])  # of two classes there is one vector, of more one per class
    weights = per_class[np.arange(len(X)), model.predict(X) if per_class.shape[1] > 1 else 0]
    top = np.argsort(-np.abs(weights), axis=1, kind="stable")[:, :TOP]
    edges = [np.unique(np.percentile(column, _QUARTERS)) for column in train.T]
    boxes = [
        [condition for j in sorted(features) for condition in _quarter(j, row[j], edges[j], j in categorical)]
        for row, features in zip(X, top.tolist(), strict=True)
    ]
    return fs.Rules.from_conditions(boxes, features=[f"x{j}" for j in range(X.shape[1])])


def _quarter(j: int, value: float, edges: np.ndarray, category: bool) -> list[tuple[str, str, float]]:
    """The conditions that a value meets."""
    if category:
        return [(f"x{j}", "==", float(value))]
    place = int(np.searchsorted(edges, value))
    above = [(f"x{j}", ">", float(edges[place - 1]))] if place else []
    return above + ([(f"x{j}", "<=", float(edges[place]))] if place < len(edges) else [])


def covers(rules: fs.Rules, row: int, others: np.ndarray) -> np.ndarray:
    """Which rows the rule of one row covers."""
    return np.logical_and.reduce([np.ones(len(others), bool), *rules.holds(rules.conjunction(row), others)])


def uniform_points(
    rules: fs.Rules, X: np.ndarray, train: np.ndarray, categorical: tuple[int, ...], draws: int, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Points drawn evenly inside the rule of each row, (n · draws, d), and the row of each.

    A number lies anywhere between the least and the largest of training, also between whole numbers; a category is any
    that training has. If a rule leaves no such value of a feature, the row keeps its own.
    """
    place = {name: j for j, name in enumerate(rules.features)}
    known = {j: np.unique(train[:, j]) for j in categorical}
    ends = train.min(axis=0), train.max(axis=0)
    points = []
    for row, (own, rule) in enumerate(zip(X, rules.to_conditions(), strict=True)):
        rng = np.random.default_rng([seed, row])
        tests = [(place[name], operator, value) for name, operator, value in rule]
        columns = [
            _inside([test[1:] for test in tests if test[0] == j], own[j], known.get(j), ends[0][j], ends[1][j])(
                rng, draws
            )
            for j in range(X.shape[1])
        ]
        points.append(np.column_stack(columns))
    return np.concatenate(points), np.repeat(np.arange(len(X)), draws)


def _inside(tests: list[Any], own: float, known: np.ndarray | None, first: float, last: float) -> Any:
    """A function that draws values of one feature, all of which pass the tests."""
    above = max((value for operator, value in tests if operator == ">"), default=-np.inf)
    below = min((value for operator, value in tests if operator == "<="), default=np.inf)
    equal = [value for operator, value in tests if operator == "=="]
    strange = {operator for operator, _ in tests} - {">", "<=", "=="}
    if strange:
        raise ValueError(f"No values are drawn for conditions with {sorted(strange)}.")
    if known is not None or equal:
        values = np.array(equal[:1] if known is None else known)
        values = values[(values > above) & (values <= below) & np.isin(values, equal or values)]
        return lambda rng, draws: rng.choice(values if len(values) else [own], draws)
    low, high = max(first, np.nextafter(above, np.inf)), min(last, below)
    return lambda rng, draws: rng.uniform(low, high, draws) if low <= high else np.full(draws, own)
