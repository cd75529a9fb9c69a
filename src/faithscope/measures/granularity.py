"""The granularity at which explainers are compared with each other: a discretizer for each of them."""

from collections.abc import Mapping
from itertools import takewhile
from typing import Any, NamedTuple

from faithscope.discretizers import (
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
from faithscope.discretizers.base import steps
from faithscope.errors import BadInput, WrongType
from faithscope.explanations.base import Explanations
from faithscope.explanations.importances import Importances
from faithscope.inputs.checks import by_name
from faithscope.sample import Sample

Named = Mapping[str, Explanations]

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
    top : int
        How many features its discretizer keeps; 0 if that is not said.
    """

    name: str
    explanations: Explanations
    naming: Explanations
    discretizer: str
    top: int

    @classmethod
    def of(cls, name: str, raw: Explanations, chosen: Any, ready: Explanations | None) -> "ComparedExplainer":
        """An explainer by a discretizer; `ready` are its discretized explanations if there are any already."""
        coarse = discretize(raw, chosen) if ready is None else ready
        naming, parts = raw, steps(chosen)
        sums = list(takewhile(lambda step: isinstance(step, Grouped | Pool), parts))
        for step in sums:
            naming = discretize(naming, step)
        if sums:  # sums of one-hot features are comparable with others
            naming = naming._with(form="")
            coarse = coarse._with(form=" | ".join(map(repr, parts[len(sums) :])))
        kept = [0, *(step.k for step in parts if isinstance(step, _KEEPING))]
        return cls(name, coarse, naming, repr(Original() if chosen is None else chosen), kept[-1])


def at_granularity(rows: Sample, raw: Named, discretizer: Any, ready: Named) -> tuple[Sample, list[ComparedExplainer]]:
    """The rows to compare on, and all explainers by the discretizers that a caller chose.

    Parameters
    ----------
    discretizer : discretizer, mapping of str to discretizers, or None
        One for all that take it, one by name, or none: then importances are compared by ``SignOfTop(5)``, since sixteen
        decimals are never the same.
    ready : mapping of str to Explanations
        Explanations that were discretized before.
    """
    ordered, order = _in_one_order(raw)
    chosen, notes = _chosen(ordered, discretizer)
    rows, given, known = rows.learned(chosen, ordered)
    ready = {name: each for name, each in ready.items() if given[name] is raw[name]}
    explainers = [ComparedExplainer.of(name, given[name], known[name], ready.get(name)) for name in raw]
    return rows.noting((*order, *notes)), explainers


def _chosen(raw: Named, discretizer: Any) -> tuple[dict[str, Any], list[str]]:
    """The discretizer of each explainer, None for one that is compared as it is; and notes."""
    as_it_is = dict.fromkeys(raw)
    if isinstance(discretizer, Mapping):
        named = by_name(discretizer, raw, "discretizer")
        return as_it_is | {name: to_discretizer(choice) for name, choice in named.items()}, []
    if discretizer is None:
        plain = [name for name, given in raw.items() if type(given) is Importances and not given.form]
        note = f"importances were compared by {_USUAL!r}, since no discretizer was given: pass what people see of them"
        return as_it_is | dict.fromkeys(plain, _USUAL), [note] if plain else []
    chosen = to_discretizer(discretizer)
    reasons = {name: refusal(chosen, given) for name, given in raw.items()}
    refused = [name for name, why in reasons.items() if why is not None]
    if len(refused) == len(raw):
        raise reasons[refused[0]]
    notes = [f"{name} is compared as it is, since {chosen!r} does not take its explanations" for name in refused]
    return dict.fromkeys(raw, chosen) | dict.fromkeys(refused), notes


def refusal(discretizer: Any, explanations: Explanations) -> Any:
    """The error of a discretizer that does not take this kind of explanations; None if it does."""
    try:
        discretize(explanations.take(slice(0, 1)), discretizer)
    except WrongType as why:
        return why
    except BadInput:
        if not getattr(discretizer, "learns", False):  # it takes them once it has learned
            raise
    return None


def _in_one_order(raw: Named) -> tuple[Named, list[str]]:
    """All importances with their features in the order of the first, so that ties are decided alike.

    With a note if importances without names meet others whose columns are named in several orders.
    """
    importances = {name: given for name, given in raw.items() if isinstance(given, Importances)}
    named = {name: given for name, given in importances.items() if given.names}
    if not named:
        return raw, []
    first, orders = next(iter(named)), {given.names for given in named.values()}
    ordered = {**raw, **{name: named[first]._with_my_order(given) for name, given in importances.items()}}
    without = [name for name in importances if name not in named and len(orders) > 1]
    told = "{} has no names of features, so its columns were taken to be in the order of {}'s: pass names"
    return ordered, [told.format(name, first) for name in without[:1]]
