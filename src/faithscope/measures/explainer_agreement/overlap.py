"""Which named features two explainers share, per row: the four measures of the disagreement literature.

Krishna, Han, Gu, Pombra, Jabbari, Wu, Lakkaraju, "The Disagreement Problem in Explainable Machine Learning: A
Practitioner's Perspective" (2022), section 4.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from faithscope.errors import Incompatible
from faithscope.measures.explainer_agreement.feature_chance import feature_chance
from faithscope.measures.explainer_agreement.named_features import Ints, NamedFeatures
from faithscope.measures.explainer_agreement.shares import CountedRows

Floats = NDArray[np.float64]
Marks = NDArray[np.integer]  # ranks or signs

OVERLAPS = ("feature_agreement", "rank_agreement", "sign_agreement", "signed_rank_agreement")
_SHOWN = 3  # features that a note names


@dataclass(frozen=True, eq=False)
class Overlap:
    """Per row, the share of the named features that both explainers name: by name, and with rank and sign.

    The denominator is the larger number of features that one of them names, so that it is the literature's k if both
    name k. A row on which neither names any agrees. None for what explanations do not have.
    """

    feature_agreement: Floats
    rank_agreement: Floats | None = None
    sign_agreement: Floats | None = None
    signed_rank_agreement: Floats | None = None
    notes: tuple[str, ...] = ()
    chance: float | None = None  # of the feature agreement


def overlap(a: NamedFeatures, b: NamedFeatures, counted: CountedRows) -> Overlap:
    """How far the features that two explainers name are the same; raises `Incompatible` if no names are shared."""
    aligned, notes = _in_one_numbering(a, b)
    size = max(a.width, int(aligned.features.max(initial=0)) + 1)
    first, second = (each.rows * size + each.features for each in (a, aligned))
    _, in_a, in_b = np.intersect1d(first, second, assume_unique=True, return_indices=True)
    rows, most = a.rows[in_a], np.maximum(a.sizes, b.sizes)

    def share(holds: NDArray[np.bool_]) -> Floats:
        shared = np.bincount(rows[holds], minlength=a.n).astype(np.float64)
        return np.divide(shared, most, out=np.ones(a.n), where=most > 0)

    shared = share(np.ones(len(rows), bool))
    whole = Overlap(shared, notes=notes, chance=feature_chance(a, aligned, shared, counted))
    if {*a.known_names} != {*b.known_names} and not _by_position(a, b):
        return whole
    ranked, signed = _equal(a.ranks, b.ranks, in_a, in_b), _equal(a.signs, b.signs, in_a, in_b)
    return replace(
        whole,
        rank_agreement=None if ranked is None else share(ranked),
        sign_agreement=None if signed is None else share(signed),
        signed_rank_agreement=None if ranked is None or signed is None else share(ranked & signed),
    )


def _equal(a: Marks | None, b: Marks | None, in_a: Ints, in_b: Ints) -> NDArray[np.bool_] | None:
    return None if a is None or b is None else np.asarray(a[in_a] == b[in_b])


def _by_position(a: NamedFeatures, b: NamedFeatures) -> bool:
    """Whether features are the same by their positions: all columns of the rows, of which at most one knows names."""
    alike = a.width == b.width and a.in_columns and b.in_columns
    return alike and (a.names is None or b.names is None or a.names == b.names)


def _in_one_numbering(a: NamedFeatures, b: NamedFeatures) -> tuple[NamedFeatures, tuple[str, ...]]:
    """The features of b by the numbers that a has for them, and new numbers for those that a does not have."""
    if _by_position(a, b):
        return b, ()
    if a.names is None and b.names is None:
        raise Incompatible(f"{a.width} and {b.width} features without names cannot be matched: pass names")
    for names in (a.known_names, b.known_names):
        if len(set(names)) < len(names):
            twice = max(names, key=names.count)
            raise Incompatible(f"two features are called {twice!r}, so features cannot be matched by name")
    places = {name: place for place, name in enumerate(a.known_names)}
    _check_shared(a, b)
    numbers = np.array([places.setdefault(name, len(places)) for name in b.known_names], np.int64)
    return replace(b, features=numbers[b.features]), _unmatched(a, b)


def _check_shared(a: NamedFeatures, b: NamedFeatures) -> None:
    nothing = not a.width or not b.width  # rules or highlights that name nothing at all
    if not nothing and not set(a.known_names) & set(b.known_names):
        raise Incompatible(
            f"they name different features, such as {a.known_names[0]!r} and {b.known_names[0]!r}: give both the same "
            "names, or sum one-hot features with fs.Grouped"
        )


def _unmatched(a: NamedFeatures, b: NamedFeatures) -> tuple[str, ...]:
    """A note if each has features that the other does not have, as one-hot columns and their source do."""
    first, second = ([x for x in each if x not in other] for each, other in _both_ways(a, b))
    importances = a.limited and b.limited
    if not (first and second) and not (importances and (first or second)):
        return ()
    told = ", ".join(map(repr, [*first[:_SHOWN], *second[:_SHOWN]]))
    return (f"features were matched by name, and {told} are known to one explainer only: see fs.Grouped",)


def _both_ways(a: NamedFeatures, b: NamedFeatures) -> list[tuple[tuple[str, ...], set[str]]]:
    return [(a.known_names, set(b.known_names)), (b.known_names, set(a.known_names))]
