"""Which features explanations name, and how many of them two explainers share, on one row or on different ones."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.discretizers import Modified
from faithscope.errors import Incompatible
from faithscope.explanations.base import Explanations
from faithscope.explanations.codes import Codes
from faithscope.explanations.concepts import Concepts
from faithscope.explanations.counterfactuals import Counterfactuals
from faithscope.explanations.forms import CHANGED, NAMED, are_codes, signs, top_signs
from faithscope.explanations.highlights import Highlights
from faithscope.explanations.importances import Importances, Rankings
from faithscope.explanations.rules import Rules
from faithscope.inputs.array_types import Floats, Ints
from faithscope.inputs.columns import default_names
from faithscope.measures.intervals.margins import IndependentUnits
from faithscope.notes import Notes

_SHOWN = 4  # features that a note names


@dataclass(frozen=True, eq=False)
class NamedFeatures:
    """The features that explanations name, as pairs of a row and a feature, none of them twice.

    Attributes
    ----------
    n : int
        Number of rows.
    names : tuple of str
        All features that could be named; x0, x1, … if only their positions are known.
    rows, features : (m,) arrays
    signs : (m,) array or None
        -1 or 1; None if features have no signs here.
    anonymous : bool
        Whether only the positions of features are known.
    in_columns : bool
        Whether features are all columns of the rows, in their order.
    """

    n: int
    names: tuple[str, ...]
    rows: Ints
    features: Ints
    signs: NDArray[np.int8] | None = None
    anonymous: bool = False
    in_columns: bool = True

    @cached_property
    def sizes(self) -> Ints:
        """How many features each row names."""
        return np.bincount(self.rows, minlength=self.n)

    @property
    def signed(self) -> "NamedFeatures":
        """The same, where a feature with another sign is another feature."""
        return replace(self, features=3 * self.features + 1 + (0 if self.signs is None else self.signs))


def named_features(explanations: Explanations, k: int) -> NamedFeatures | None:
    """The features that these explanations name; None for kinds that name none, such as plain keys.

    Importances name the k largest in size, the earlier of equal ones, and never a feature of importance 0. If only
    signs are left of them, or which features are the largest, they name all that are not 0. Rules name the features of
    their conditions, highlights their words, codes themselves, counterfactuals the features that they change.
    """
    if isinstance(explanations, Codes):
        explanations = Highlights(explanations.values)
    if isinstance(explanations, Rules | Highlights):
        return _named_parts(explanations)
    if isinstance(explanations, Counterfactuals):
        explanations = Modified()(explanations)
    if not isinstance(explanations, Importances) or isinstance(explanations, Rankings):
        return None
    values, left = explanations.values, explanations.left
    marks = signs(values) if left else top_signs(values, k)
    if are_codes(left):
        marks = -np.abs(marks)  # reasons against
    rows, features = np.nonzero(marks)
    names = explanations.names or default_names(values.shape[1])
    signed = None if left in (NAMED, CHANGED) else marks[rows, features]
    return NamedFeatures(len(values), names, rows, features, signed, anonymous=explanations.names is None)


def _named_parts(given: Rules | Highlights) -> NamedFeatures:
    """The features of the conditions of rules; the words of highlights."""
    names: Sequence[str]
    if isinstance(given, Rules):
        names = given.features
        parts = [sorted({part.position for part in parts} - {-1}) for parts in given.distinct]
    else:
        names = given.concepts if isinstance(given, Concepts) else list(dict.fromkeys(map(str, chain(*given.distinct))))
        places = {name: place for place, name in enumerate(names)}
        parts = [[places[str(word)] for word in words] for words in given.distinct]
    of_rows = [parts[code] for code in given.codes.tolist()]
    rows = np.repeat(np.arange(len(given)), list(map(len, of_rows)))
    features = np.fromiter(chain.from_iterable(of_rows), np.int64)
    in_columns = isinstance(given, Rules) and given.positional
    return NamedFeatures(len(given), tuple(names), rows, features, in_columns=in_columns)


def matched(a: NamedFeatures, b: NamedFeatures) -> tuple[NamedFeatures, bool, Notes]:
    """The features of b by the numbers that a has for them, whether both know the same ones, and a note if not.

    All columns of the rows, of which at most one knows names, are the same by their positions, others by their names;
    raises `Incompatible` if names do not say which features are the same.
    """
    nameless = a.anonymous or b.anonymous or a.names == b.names
    if len(a.names) == len(b.names) and a.in_columns and b.in_columns and nameless:
        return b, True, ()
    known_a, known_b = set(a.names), set(b.names)
    twice = len(known_a) < len(a.names) or len(known_b) < len(b.names)
    apart = sorted(known_a ^ known_b)
    if (a.anonymous and b.anonymous) or twice or (known_a and known_b and known_a.isdisjoint(known_b)):
        such = f", such as {a.names[0]!r} and {b.names[0]!r}" if a.names and b.names else ""
        raise Incompatible(
            f"their features cannot be matched by name{such}: give both the same names, each once, or sum one-hot "
            "features with fs.Grouped"
        )
    numbers = {name: number for number, name in enumerate(dict.fromkeys([*a.names, *b.names]))}
    features = np.array([numbers[name] for name in b.names], np.int64)[b.features]
    notes: Notes = ()
    if apart and not (known_a <= known_b or known_b <= known_a):  # as one-hot columns and their source
        told = ", ".join(map(repr, apart[:_SHOWN]))
        notes = (f"features were matched by name, and {told} are known to one explainer only: see fs.Grouped",)
    return replace(b, features=features), not apart, notes


def shared(a: NamedFeatures, b: NamedFeatures, weights: Any = 1.0, group: Ints | None = None) -> Floats:
    """For each row i of a, the sum over the rows j of b of the same group of their weight by what the two share.

    ``Σ_j w_j |A_i ∩ B_j| / max(|A_i|, |B_j|)``, the larger number being the literature's k if both name k; rows that
    name nothing share everything. By default each row is its own group. One pass per size of B.
    """
    weights, group = np.broadcast_to(weights, a.n), np.arange(a.n) if group is None else group
    width = 1 + max(int(each.features.max(initial=0)) for each in (a, b))
    keys = np.concatenate([group[each.rows] * width + each.features for each in (a, b)])
    if keys.max(initial=0) > len(keys):
        keys = np.unique(keys, return_inverse=True)[1]
    in_a, in_b = np.split(keys, [len(a.rows)])
    total = np.where(a.sizes == 0, np.bincount(group, weights * (b.sizes == 0))[group], 0.0)
    for size in np.unique(b.sizes[b.sizes > 0]):
        chosen = b.sizes[b.rows] == size
        naming = np.bincount(in_b[chosen], weights[b.rows[chosen]], 1 + keys.max(initial=0))
        total += np.bincount(a.rows, naming[in_a], a.n) / np.maximum(a.sizes, size)
    return total


def shared_elsewhere(a: NamedFeatures, b: NamedFeatures, own: Floats, units: IndependentUnits) -> Floats:
    """Per unit, the weight of its rows by what a names there and b on the rows of other units; `own` is on each row."""
    within = units.weight * own if units.clusters is None else shared(a, b, units.weight, units.clusters)
    return units.sums(shared(a, b, units.weight, np.zeros(a.n, np.int64)) - within)
