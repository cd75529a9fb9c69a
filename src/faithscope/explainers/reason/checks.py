"""What a caller asks of sufficient reasons, checked; and whether the trees were read as the model computes them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from faithscope.errors import BadInput, WrongType
from faithscope.explainers.reason.bounds import Bound, LabelBound, NumberBound, total
from faithscope.explainers.reason.boxes import Boxes
from faithscope.explainers.reason.ensemble import Ensemble
from faithscope.explainers.shared.arrays import Ints
from faithscope.explainers.shared.models import name_of
from faithscope.inputs.hints import hint

_LEAST = 2.0**-20  # differences of exact sums are larger


def check_eps(eps: Any, ensemble: Ensemble, model: Any) -> float | None:
    """How far predicted numbers may go, which models of numbers need and models of labels must not have."""
    name = name_of(model)
    if ensemble.classes is not None:
        if eps is not None:
            raise BadInput(f"eps= is for predicted numbers, and {name} predicts labels: leave it out.")
        return None
    if eps is None:
        raise BadInput(f"{name} predicts numbers: pass eps=, how far from the row's own prediction they may go.")
    if isinstance(eps, bool) or not isinstance(eps, int | float | np.number) or not 0 <= eps < np.inf:
        raise BadInput(f"eps must be a finite number of at least 0; got {eps!r}.")
    return float(eps)


def check_order(order: Any, ensemble: Ensemble, names: Sequence[str] | None) -> list[int]:
    """Positions of the features whose conditions are dropped first."""
    if isinstance(order, str):
        if order == "coverage":
            raise BadInput('order="coverage" was removed: use "importance", or list features, those to drop first.')
        if order != "importance":
            raise BadInput(f'order must be "importance" or a list of features; got {order!r}.')
        return []
    try:
        listed = list(order)
    except TypeError:
        raise WrongType(f'order must be "importance" or a list of features; got {order!r}.') from None
    known = tuple(ensemble.names or names or [f"x{j}" for j in range(ensemble.features)])
    positions = [_position(feature, known) for feature in listed]
    if len(set(positions)) < len(positions):
        raise BadInput("order lists a feature twice: list each feature once.")
    return positions


def check_names(names: Sequence[str], known: Sequence[str] | None) -> None:
    """Raise if a table has other columns than the model was fitted with, or has them in another order.

    Spaces count as underscores, since LightGBM keeps names so.
    """
    pairs = zip(names, known or (), strict=False)
    wrong = next((pair for pair in pairs if pair[0].replace(" ", "_") != pair[1].replace(" ", "_")), None)
    if wrong is not None:
        raise BadInput(
            f"Rows have the column {wrong[0]!r} where the model, or X_train, has {wrong[1]!r}: pass the same columns "
            "in the same order."
        )


def _position(feature: Any, names: tuple[str, ...]) -> int:
    if isinstance(feature, str) and feature in names:
        return names.index(feature)
    if isinstance(feature, int | np.integer) and not isinstance(feature, bool) and 0 <= feature < len(names):
        return int(feature)
    advice = hint(feature, names) if isinstance(feature, str) else f"Positions go from 0 to {len(names) - 1}."
    raise BadInput(f"order names {feature!r}, which is no feature of the model. {advice}")


def ordered_first(order: Ints, listed: list[int]) -> Ints:
    """The features listed, then the others in the order of each row."""
    if not listed:
        return order
    rest = order[~np.isin(order, listed)].reshape(len(order), order.shape[1] - len(listed))
    return np.concatenate([np.tile(np.array(listed, np.int64), (len(order), 1)), rest], axis=1)


def check_read(boxes: Boxes, bound: Bound, model: Any) -> None:
    """Raise if the trees' own sums do not give the model's predictions: then nothing can be proven."""
    ensemble = bound.ensemble
    if isinstance(bound, LabelBound):
        wrong = bound.slack(boxes.reach) < -2 * ensemble.tolerance - _LEAST
    else:
        assert isinstance(bound, NumberBound)
        sums = total(bound._least(ensemble.leaves.values[:, 0], boxes.reach)) + ensemble.base[0]
        ends = [ensemble.number(sums + side * 2 * ensemble.tolerance) for side in (-1, 1)]
        rounding = 16 * ensemble.precision * np.abs(bound.predictions)
        wrong = (bound.predictions < ends[0] - rounding) | (bound.predictions > ends[1] + rounding)
    if wrong.any():
        raise misread(model, "its predictions are not those of its trees")


def misread(model: Any, why: str) -> BadInput:
    """The error that a model is not what its trees say."""
    return BadInput(f"The trees of this {name_of(model)} are not all that decides: {why}, so nothing can be proven.")
