"""The granularity at which explainers are compared: a discretizer for each of them."""

from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from faithscope.discretizers import (
    Chain,
    Discretizer,
    Grouped,
    Original,
    Pool,
    ReasonCodes,
    SignOfTop,
    TopFeatures,
    TopRegions,
    discretize,
    to_discretizer,
)
from faithscope.errors import BadInput, UnknownName, WrongType
from faithscope.explanations.base import Explanations
from faithscope.explanations.importances import Importances, Rankings
from faithscope.inputs.hints import hint
from faithscope.measures.explainer_agreement.named_features import NamedFeatures, named_features

_USUAL = SignOfTop(5)
_KEEPING = SignOfTop | TopFeatures | TopRegions | ReasonCodes  # discretizers that keep k features


class ComparedExplainer(NamedTuple):
    """One explainer of several, at the granularity at which it is compared.

    Attributes
    ----------
    name : str
    explanations : Explanations
        As they are compared for equality.
    naming : Explanations
        Those that the features it names are read from: not discretized, but for sums of features.
    discretizer : str
    named : NamedFeatures or None
        The features that it names, once they were read.
    top : int
        How many features its discretizer keeps; 0 if that is not said.
    """

    name: str
    explanations: Explanations
    naming: Explanations
    discretizer: str
    named: NamedFeatures | None = None
    top: int = 0

    @classmethod
    def of(cls, name: str, raw: Explanations, chosen: Any, ready: Explanations | None = None) -> "ComparedExplainer":
        """An explainer by a discretizer; `ready` are its discretized explanations if there are any already."""
        coarse = discretize(raw, chosen) if ready is None else ready
        told = repr(Original() if chosen is None else chosen)
        naming, rest = _with_its_features(raw, chosen)
        if isinstance(coarse, Importances) and naming is not raw:  # sums of one-hot features are comparable with others
            coarse = coarse._with(form=" | ".join(map(repr, rest)))
        kept = [step.k for step in _steps(chosen) if isinstance(step, _KEEPING)]
        return cls(name, coarse, naming, told, top=kept[-1] if kept else 0)

    def reading(self, k: int) -> "ComparedExplainer":
        """The same explainer with the features that it names."""
        return self._replace(named=named_features(self.naming, k))

    def take(self, rows: NDArray[np.int64]) -> "ComparedExplainer":
        """The same explainer on some of the rows."""
        return self._replace(explanations=self.explanations.take(rows), naming=self.naming.take(rows))


Compared = tuple[list[ComparedExplainer], tuple[str, ...]]  # and notes


def at_granularity(raw: Mapping[str, Explanations], discretizer: Any) -> Compared:
    """All explainers by the discretizers that a caller chose: one for all that take it, one by name, or none.

    Without any, importances are compared by ``SignOfTop(5)``, since sixteen decimals are never the same.
    """
    raw, order = in_one_order(raw)
    if isinstance(discretizer, Mapping):
        chosen, notes = _by_name(discretizer, raw), tuple[str, ...]()
    else:
        chosen, notes = _usual(raw) if discretizer is None else _for_all(to_discretizer(discretizer), raw)
    return [ComparedExplainer.of(name, given, chosen.get(name)) for name, given in raw.items()], (*order, *notes)


def _usual(raw: Mapping[str, Explanations]) -> tuple[dict[str, Any], tuple[str, ...]]:
    plain = [name for name, given in raw.items() if _is_plain(given)]
    note = f"importances were compared by {_USUAL!r}, since no discretizer was given: pass what people see of them"
    return dict.fromkeys(plain, _USUAL), (note,) if plain else ()


def _is_plain(explanations: Explanations) -> bool:
    """Whether these are importances that nobody has discretized."""
    return isinstance(explanations, Importances) and not isinstance(explanations, Rankings) and not explanations.form


def _for_all(
    discretizer: Callable[[Explanations], Any] | None, raw: Mapping[str, Explanations]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    taking = {name: refusal(discretizer, given) for name, given in raw.items()}
    if all(why is not None for why in taking.values()):
        raise next(why for why in taking.values() if why is not None)
    left = [name for name, why in taking.items() if why is not None]
    notes = tuple(f"{name} is compared as it is, since {discretizer!r} does not take its explanations" for name in left)
    return {name: discretizer for name in raw if name not in left}, notes


def refusal(discretizer: Callable[[Explanations], Any] | None, explanations: Explanations) -> WrongType | None:
    """What the discretizer says if it does not take this kind of explanations."""
    try:
        discretize(explanations.take(np.arange(min(1, len(explanations)))), discretizer)
    except WrongType as why:
        return why
    except BadInput:
        if not getattr(discretizer, "learns", False):  # it takes them once it has learned
            raise
    return None


def _by_name(chosen: Mapping[Any, Any], raw: Mapping[str, Explanations]) -> dict[str, Any]:
    named = {str(name): to_discretizer(choice) for name, choice in chosen.items()}
    unknown = next((name for name in named if name not in raw), None)
    if unknown is not None:
        raise UnknownName(f"discretizer names {unknown!r}, which is no explainer here. {hint(unknown, raw)}")
    return named


def in_one_order(raw: Mapping[str, Explanations]) -> tuple[dict[str, Explanations], tuple[str, ...]]:
    """All importances with their features in the order of the first, so that ties are decided alike; and notes."""
    first = next((given for given in raw.values() if isinstance(given, Importances) and given.names), None)
    ordered = {
        name: first._with_my_order(given) if first is not None and isinstance(given, Importances) else given
        for name, given in raw.items()
    }
    return ordered, _on_order(raw)


def _on_order(raw: Mapping[str, Explanations]) -> tuple[str, ...]:
    """A note if importances without names meet others whose columns are named in several orders."""
    importances = {name: given for name, given in raw.items() if isinstance(given, Importances)}
    named = {name: given.names for name, given in importances.items() if given.names}
    if len(named) == len(importances) or len(set(named.values())) < 2:
        return ()
    without, first = next(name for name in importances if name not in named), next(iter(named))
    return (
        f"{without} has no names of features, so its columns were taken to be in the order of {first}'s: pass names",
    )


def _with_its_features(raw: Explanations, chosen: Any) -> tuple[Explanations, Sequence[Discretizer]]:
    """The explanations by the sums of features that a discretizer begins with, and its other steps."""
    if not isinstance(chosen, Discretizer):
        return raw, ()
    steps = _steps(chosen)
    sums = list(takewhile(lambda step: isinstance(step, Grouped | Pool), steps))
    summed = raw
    for step in sums:
        summed = discretize(summed, step)
    return (summed._with(form="") if sums else raw), steps[len(sums) :]


def _steps(discretizer: Any) -> tuple[Any, ...]:
    if isinstance(discretizer, Chain):
        return (*_steps(discretizer.first), *_steps(discretizer.second))
    return (discretizer,)
