"""Grouped: importances of one-hot and other derived features summed into the columns that they come from."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from faithscope.discretizers.importances import OfImportances
from faithscope.errors import BadInput, WrongType
from faithscope.explanations.importances import Importances
from faithscope.inputs.array_types import Names
from faithscope.inputs.pipelines import features_of_columns
from faithscope.words import hint, several

_SHOWN = 12  # features that the repr writes out
_PER_CLASS = " | "  # between a feature and its class


@dataclass(frozen=True, init=False, repr=False)
class Grouped(OfImportances):
    """The sum of the importances of each group of features, such as the one-hot features of one column.

    Importances need names, by which the features of a group are recognized. Features in no group keep their names and
    places. Groups stand at the places of their first features, in the order in which they are given. Sums are in double
    precision, in the order of the features. If importances hold several classes ("age | class 0", …), each class has
    its own sums.

    Parameters
    ----------
    groups : mapping from str to list of str
        The features of each group, by the name of the group.

    Examples
    --------
    >>> from faithscope import Importances
    >>> importances = Importances([[0.2, 0.5, -0.1]], names=["age", "job_clerk", "job_cook"])
    >>> Grouped({"job": ["job_clerk", "job_cook"]})(importances).describe(0)
    'age 0.2, job 0.4'
    """

    groups: tuple[tuple[str, tuple[str, ...]], ...]

    orders_features = True
    cell = 8

    def __init__(self, groups: Mapping[str, Sequence[str]]) -> None:
        if not isinstance(groups, Mapping) or not groups:
            raise WrongType(
                "Grouped takes the features of each group, such as {'job': ['job_clerk', 'job_cook']}; got "
                f"{groups!r}."
            )
        self._fill(groups=tuple((str(parent), _features(parent, groups[parent])) for parent in groups))
        _refuse_twice([parent for parent, _ in self.groups], "is the name of two groups")
        _refuse_twice([child for _, children in self.groups for child in children], "is named twice in these groups")

    @classmethod
    def from_pipeline(cls, pipe: Any) -> "Grouped":
        """The groups of a fitted pipeline of scikit-learn: each column with the features that are made of it.

        Every transformer is asked which of its inputs a feature comes from, so names are never taken apart: "a_b_c" is
        category "c" of "a_b" or "b_c" of "a", as the encoder says. Columns come in the order of the table that the
        pipeline was fitted on; columns of which it makes no feature are left out.

        Parameters
        ----------
        pipe : Pipeline or ColumnTransformer
            Fitted; the last step may be a model. Features that mix columns, as those of PCA do, have no group: such a
            pipeline is refused.

        Examples
        --------
        >>> from sklearn.compose import make_column_transformer
        >>> from sklearn.preprocessing import OneHotEncoder
        >>> encoder = make_column_transformer((OneHotEncoder(), [0]), remainder="passthrough")
        >>> Grouped.from_pipeline(encoder.fit([["clerk", 3], ["cook", 4]]))
        Grouped({'x0': ['onehotencoder__x0_clerk', 'onehotencoder__x0_cook'], 'x1': ['remainder__x1']})
        """
        return cls(features_of_columns(pipe))

    def _coarser(self, importances: Importances) -> Importances:
        names, members = self._layout(importances.names)
        sums = np.zeros((len(importances), len(members)))
        for group, places in enumerate(members):
            for place in places:  # one column after the other, so that rows do not depend on others
                sums[:, group] += importances.values[:, place]
        most = max(map(len, members))  # the standard error of a sum is at most the sum of the standard errors
        return self._made(importances, sums, names=names, error=importances.error * most, shape=None)

    def _layout(self, names: Names | None) -> tuple[Names, list[list[int]]]:
        """Names of the sums, and the positions of the features in each."""
        if names is None:
            raise BadInput(
                f"{self!r} recognizes features by name, and these importances have no names: pass "
                "fs.Importances(values, names=...), of a pipeline with names=pipe[:-1].get_feature_names_out()."
            )
        places, times, suffixes = {name: j for j, name in enumerate(names)}, Counter(names), [""]
        known = any(child in places for _, children in self.groups for child in children)
        if not known and all(_PER_CLASS in name for name in names):  # importances of several classes
            suffixes = list(dict.fromkeys(_PER_CLASS + name.rpartition(_PER_CLASS)[2] for name in names))
        groups = []
        for suffix in suffixes:
            for parent, children in self.groups:
                features = [child + suffix for child in children]
                odd = next((name for name in features if times[name] != 1), None)
                if odd is not None:
                    advice = "Give every feature a name of its own." if times[odd] else hint(odd, places)
                    raise BadInput(
                        f"{times[odd]} features of these importances are named {odd!r}, and Grouped needs one. {advice}"
                    )
                groups.append((parent + suffix, sorted(places[name] for name in features)))
        starts, grouped = {members[0] for _, members in groups}, {j for _, members in groups for j in members}
        alone = {name for j, name in enumerate(names) if j not in grouped}
        both = {parent for parent, _ in groups} & alone
        if both:
            raise BadInput(
                f"Grouped has a group {min(both)!r}, which is also the name of a feature in no group: put the feature "
                "in the group, or give the group another name."
            )
        given = iter(groups)
        layout = [
            next(given) if j in starts else (name, [j])
            for j, name in enumerate(names)
            if j in starts or j not in grouped
        ]
        return tuple(name for name, _ in layout), [members for _, members in layout]

    def __repr__(self) -> str:
        features = sum(len(children) for _, children in self.groups)
        if features > _SHOWN:
            return f"Grouped(<{several(len(self.groups), 'group', 'groups')} of {features} features>)"
        return f"Grouped({ {parent: list(children) for parent, children in self.groups} })"


def _features(parent: object, children: Iterable[object]) -> tuple[str, ...]:
    if isinstance(children, str) or not hasattr(children, "__iter__"):
        raise WrongType(f"The group {parent!r} must be a list of features; got {children!r}.")
    features = tuple(map(str, children))
    if not features:
        raise BadInput(f"The group {parent!r} has no features: name at least one, or leave the group out.")
    return features


def _refuse_twice(names: list[str], what: str) -> None:
    name, times = Counter(names).most_common(1)[0]
    if times > 1:
        raise BadInput(f"{name!r} {what}: a feature belongs to one group, and a group has one name.")
