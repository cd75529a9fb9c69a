"""Which column each feature of a fitted scikit-learn pipeline is made of; scikit-learn is not imported.

Every transformer names its features after its inputs. So each is asked for the names that it would give if its inputs
had marks for names, and the mark in a feature's name tells the input: columns and categories cannot be confused,
whatever they are called.
"""

import re
from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np

from faithscope.errors import BadInput, WrongType
from faithscope.inputs.tensors import known_as

_MARK = re.compile("\ue000(\\d+)\ue001")  # between characters of Unicode's private use, which are in no name
_BY_HAND = "name the groups by hand, fs.Grouped({'job': ['job_clerk', 'job_cook']})"
_ADVICE = f"explain the pipeline on its own columns, fs.explainers.Shap(pipe, X), or {_BY_HAND}"

Columns = list[int]  # for each feature, the position of the column that it is made of

_ALONE = (  # transformers of scikit-learn's that make every feature of one column, without a look at others
    "Binarizer KBinsDiscretizer MaxAbsScaler MinMaxScaler MissingIndicator OneHotEncoder OrdinalEncoder "
    "PowerTransformer QuantileTransformer RobustScaler SimpleImputer SplineTransformer StandardScaler TargetEncoder "
    "VarianceThreshold SelectKBest SelectPercentile SelectFpr SelectFdr SelectFwe GenericUnivariateSelect RFE RFECV "
    "SelectFromModel SequentialFeatureSelector"
)


def columns_of_features(transformer: Any) -> tuple[list[str], Columns]:
    """The columns that a fitted transformer takes, and for each feature the position of the one that it is made of.

    Raises if a step is not known to treat every column by itself: that it names a feature after one column does not
    say so, since an imputer may look at other columns of the row.
    """
    names = _names_in(transformer)
    ahead = [transformer]
    for part in ahead:  # which grows
        inner = [*getattr(part, "steps", ()), *getattr(part, "transformers_", getattr(part, "transformer_list", ()))]
        ahead += [step[1] for step in inner if step[1] is not None and not isinstance(step[1], str)]
        library, name = known_as(type(part))
        same = name == "FunctionTransformer" and part.func is None  # what a ColumnTransformer passes through
        alone = inner or same or name in _ALONE.split()
        if not alone or library != "sklearn":
            raise BadInput(f"{name} is not known to make every feature of one column alone.")
    return names, _origins(transformer, list(range(len(names))), names)


def features_of_columns(pipe: Any) -> dict[str, list[str]]:
    """The features that a fitted pipeline makes of each column, in the order of the columns."""
    transformer = _transformer(pipe)
    features, names = _names_out(transformer), _names_in(transformer)
    origins = _origins(transformer, list(range(len(names))), names)
    if len(origins) != len(features) or len(set(features)) < len(features):
        raise BadInput(
            f"{type(pipe).__name__} gives two features one name, or names others than its steps make, so columns and "
            f"features cannot be matched: {_ADVICE}."
        )
    groups: dict[str, list[str]] = {name: [] for name in names}
    for feature, column in zip(features, origins, strict=True):
        groups[names[column]].append(feature)
    return {name: group for name, group in groups.items() if group}


def _transformer(pipe: Any) -> Any:
    """The part of a pipeline, or of the best one of a search, before its model."""
    best = getattr(pipe, "best_estimator_", pipe)
    steps = getattr(best, "steps", ())
    if steps and steps[-1][1] not in (None, "passthrough") and not hasattr(steps[-1][1], "transform"):
        best = best[:-1] if len(steps) > 1 else steps[0][1]
    if isinstance(best, type) or not callable(getattr(best, "transform", None)):
        raise WrongType(
            "Grouped.from_pipeline takes a fitted Pipeline or ColumnTransformer of scikit-learn that changes columns; "
            f"got {getattr(best, '__name__', type(best).__name__)}."
        )
    return best


def _names_in(transformer: Any) -> list[str]:
    """The columns that a transformer was fitted on; x0, x1, … if they had no names."""
    try:
        names = getattr(transformer, "feature_names_in_", None)
        return [f"x{j}" for j in range(transformer.n_features_in_)] if names is None else list(map(str, names))
    except AttributeError:
        raise BadInput(
            f"{type(transformer).__name__} does not know the columns that it was fitted on (n_features_in_): {_ADVICE}."
        ) from None


def _names_out(transformer: Any, names: Sequence[str] | None = None) -> list[str]:
    """The names of the features that a transformer makes of inputs with these names."""
    who = type(transformer).__name__
    try:
        return list(map(str, transformer.get_feature_names_out(None if names is None else np.array(names, object))))
    except Exception as error:  # transformers of any library
        why = str(error).partition("\n")[0].partition(". ")[0].rstrip(".")
        raise BadInput(
            f"{who} does not name its features ({why}): fit it first; pass feature_names_out='one-to-one' to a "
            f"FunctionTransformer; or {_BY_HAND}."
        ) from None


def _origins(transformer: Any, inputs: Columns, names: list[str]) -> Columns:
    """The columns of the features that a transformer makes of inputs, which are made of columns themselves."""
    if transformer is None or isinstance(transformer, str):
        return [] if transformer == "drop" else inputs
    if hasattr(transformer, "steps"):
        for _, step in transformer.steps:
            inputs = _origins(step, inputs, names)
        return inputs
    if hasattr(transformer, "transformers_"):
        places = transformer._transformer_to_input_indices  # however its columns were given
        parts = [(part, [inputs[j] for j in places[name]]) for name, part, _ in transformer.transformers_]
        return [column for part, some in parts if some for column in _origins(part, some, names)]
    if hasattr(transformer, "transformer_list"):
        return [column for _, part in transformer.transformer_list for column in _origins(part, inputs, names)]
    # A copy that takes any names for its inputs, and writes them into the names of its features.
    probe, origins = copy(transformer), []
    vars(probe).pop("feature_names_in_", None)
    if hasattr(probe, "feature_name_combiner"):  # of a OneHotEncoder; a caller's own may leave the column out
        probe.feature_name_combiner = "concat"
    for feature in _names_out(probe, [f"\ue000{place}\ue001" for place in range(len(inputs))]):
        # A name without a mark may be of any input.
        columns = sorted({inputs[int(place)] for place in _MARK.findall(feature)} or set(inputs))
        if len(columns) != 1:
            mixed = " and ".join(repr(names[column]) for column in columns[:2])
            raise BadInput(
                f"{type(transformer).__name__} makes features of several columns, such as {mixed}, so their importance "
                f"is not that of one column: {_ADVICE}."
            )
        origins += columns
    return origins
