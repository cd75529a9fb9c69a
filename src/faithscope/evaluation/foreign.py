"""Explainers of shap, lime and InterpretML as explainers of rows; none of these libraries is imported."""

from collections.abc import Callable, Mapping
from copy import copy, deepcopy
from dataclasses import dataclass
from importlib import import_module
from inspect import signature
from typing import Any

import numpy as np

from faithscope.errors import BadInput, WrongType
from faithscope.explainers.base import Progress
from faithscope.explanations.base import Explanations
from faithscope.explanations.importances import Importances
from faithscope.inputs.arrays import frame_names, is_frame
from faithscope.inputs.columns import Rows
from faithscope.inputs.documents import to_documents
from faithscope.inputs.hints import hint
from faithscope.inputs.models import Model, is_torch_module, to_tensor
from faithscope.inputs.numbers import to_matrix
from faithscope.inputs.rebuilt import rebuilder
from faithscope.inputs.rows import flat_rows, rows_of, take_rows
from faithscope.inputs.seeds import row_digests, seeded
from faithscope.readers import as_explanations

_INSTEAD = {  # of libraries whose explainers are not called row by row
    "anchor-exp": "use fs.explainers.Anchors(model, X_train), or pass fs.read of what it explained",
    "captum": "pass a function, such as lambda X: explainer.attribute(torch.as_tensor(X), target=1), or use "
    "fs.explainers.Gradient",
    "dice-ml": "use fs.explainers.Dice(model, X_train), or pass fs.read of what it generated for X",
}
# Of shap's: those that draw nothing, and those that take a model, not a function of it.
_EXACT = frozenset({"Additive", "Deep", "Exact", "GPUTree", "Linear", "Partition", "Tree"})
_OF_MODELS = frozenset({"GPUTree", "Linear", "Tree"})


def library_of(explainer: Any) -> str | None:
    """The library that an explainer is of, by its methods; None if it explains rows as it is."""

    def has(name: str) -> bool:
        return callable(getattr(explainer, name, None))

    if isinstance(explainer, type):
        return None
    # First of all, since some of shap's have an `explain`, of one row.
    if callable(explainer) and (has("shap_values") or has("explain_row")):
        return "shap"
    if has("explain"):
        return None
    if has("explain_instance"):
        return "anchor-exp" if "threshold" in signature(explainer.explain_instance).parameters else "lime"
    if has("attribute") and hasattr(explainer, "forward_func"):
        return "captum"
    if has("generate_counterfactuals"):
        return "dice-ml"
    return "interpret" if has("explain_local") else None


def adapted(explainer: Any, model: Any, run: int | None = None) -> Any:
    """An explainer of another library as one with ``explain(X)``, which asks this model; any other as it is.

    Parameters
    ----------
    explainer : object
    model : model or function
        Whose predictions are explained, if the explainer does not hold a model of its own.
    run : int, optional
        Which of several runs asks it: draws that it takes no seed for then differ between runs.
    """
    library = library_of(explainer)
    if library is None:
        return explainer
    if library in _INSTEAD:
        raise BadInput(f"{library}'s {type(explainer).__name__} is not asked about rows here: {_INSTEAD[library]}.")
    # Imported here, since it loads all explainers.
    label_of = import_module("faithscope.explainers.classes").label_of
    label = label_of(explainer if library == "interpret" else model, None)
    return Foreign(explainer, library, model if library == "lime" else None, run, label)


@dataclass(frozen=True, eq=False, repr=False)
class Foreign:
    """An explainer of another library, whose draws depend on its seed and on the row alone.

    Attributes
    ----------
    library : str
    model : model or None
        The one that is asked, if the explainer holds none of its own.
    run : int or None
        Which of several runs asks it; None if there are no others.
    label : str or None
        The label of class 1 of two, which importances of one class speak of, if the model says it.
    """

    explainer: Any
    library: str
    model: Any = None
    run: int | None = None
    label: str | None = None

    @property
    def __name__(self) -> str:
        return type(self.explainer).__name__

    def __repr__(self) -> str:
        return self.__name__

    def explain(self, X: Any, *, progress: Progress | None = None) -> Explanations:
        """An explanation per row: of class 1 of two, else of all classes that the library explains."""
        return _EXPLAIN[self.library](self, X, progress)

    def row_by_row(
        self, rows: Any, ask: Callable[[int, int], Any], progress: Progress | None, start: int | None = None
    ) -> list[Any]:
        """The answers for each row, by its place and a seed of its own, which the global generators have too."""
        answers, digests = [], row_digests(start if start is not None else self.run or 0, rows)
        for place, digest in enumerate(digests):
            with seeded(seed := int.from_bytes(digest[:4], "little")):
                answers.append(ask(place, seed))
            if progress is not None:
                progress(place + 1, len(digests))
        return answers

    def told(self, answers: Any, *, unseeded: bool, of_class_1: bool = True) -> Explanations:
        """Explanations with their label, and with a remark on draws without a seed unless runs are compared."""
        explanations = as_explanations(answers)
        if unseeded and self.run is None:
            draws = f"{self.__name__} has no seed and draws anew at each call; here each row has a seed of its own"
            remark = f"{draws}, so other runs of {self.__name__} give other explanations"
            explanations = explanations._with(remarks=(*explanations.remarks, remark))
        unsaid = of_class_1 and isinstance(explanations, Importances) and explanations.label is None
        return explanations._with(label=self.label) if unsaid else explanations

    def by_name(self, X: Any, names: Any) -> Any:
        """The rows with the columns that the explainer knows, in its order; by position if it or they have no names."""
        wanted = None if names is None else tuple(map(str, names))
        if not is_frame(X) or wanted in (None, frame_names(X), tuple(map(str, range(len(wanted or ()))))):
            return X
        known = frame_names(X)
        unclear = [name for name in wanted or () if known.count(name) != 1]
        if unclear:
            raise BadInput(
                f"{self.__name__} knows {len(wanted or ())} features, and X has no column, or several, called "
                f"{unclear[0]!r}. {hint(unclear[0], known)} Pass a table with the columns that it was fitted on."
            )
        places = [known.index(name) for name in wanted or ()]
        return X.iloc[:, places] if hasattr(X, "iloc") else X.select([known[place] for place in places])

    def numbers(self, X: Any, function: Callable[[Any], Any]) -> tuple[Any, Callable[[Any], Any]]:
        """Rows of numbers as vectors, and a function of vectors that asks a function of the model's own rows."""
        rows = Rows(X)
        wrong = next((column for column in rows.columns if column.values.dtype.kind not in "biuf"), None)
        if wrong is not None:
            raise WrongType(
                f"{self.__name__} takes rows of numbers, and column {wrong.name!r} holds {wrong.values[0]!r}: pass "
                "rows as it was fitted on, with a model of such rows; or an explainer of fs.explainers, such as "
                "fs.explainers.Lime(model, X_train), which takes tables as they are."
            )
        rebuild, matrix = rebuilder(rows, X), to_matrix(flat_rows(X)[0], "Rows")[0].astype(np.float64)
        return matrix, lambda vectors: np.asarray(function(rebuild(list(np.asarray(vectors, np.float64).T))))


def _shap(foreign: Foreign, X: Any, progress: Progress | None) -> Explanations:
    """Called on all rows, or, if it draws at random, on one row at a time."""
    explainer, kind = foreign.explainer, foreign.__name__.removesuffix("Explainer")
    places = ((explainer, "data_feature_names"), (explainer, "feature_names"))
    held = [getattr(*place, None) for place in (*places, (getattr(explainer, "masker", None), "feature_names"))]
    names = next((list(names) for names in held if names is not None and not callable(names)), None)
    rows = foreign.by_name(X, names)
    inner = getattr(getattr(explainer, "explainer", None), "model", None)
    rows = to_tensor(inner, rows) if is_torch_module(inner) else rows
    explainer = _copied(explainer)
    silent = {"silent": True} if "silent" in signature(explainer.__call__).parameters else {}  # no bars of progress
    draws = kind not in _EXACT and rows_of(rows) > 0
    if draws:
        texts = isinstance(rows, list | np.ndarray) and isinstance(rows[0], str)
        cells = to_documents(rows) if texts else flat_rows(rows)[0]
        answers = foreign.row_by_row(
            cells, lambda place, _: explainer(take_rows(rows, np.array([place])), **silent), progress
        )
    else:
        answers = explainer(rows, **silent)
    first: Any = answers[0] if draws else answers
    # A function of one output may be of either class.
    of_class_1 = kind in _OF_MODELS or np.ndim(first.values) == 3
    return foreign.told(answers, unseeded=draws, of_class_1=of_class_1)


def _copied(explainer: Any) -> Any:
    """A copy that shares the model: explainers and their maskers keep traces of their calls."""
    if not hasattr(explainer, "masker"):
        return copy(explainer)
    try:
        return deepcopy(explainer, {id(explainer.model): explainer.model})
    except Exception:  # a masker that holds what cannot be copied
        return copy(explainer)


def _lime(foreign: Foreign, X: Any, progress: Progress | None) -> Explanations:
    """Importances of all features, or highlights of texts; by its own generator if it has a seed."""
    lime, model = deepcopy(foreign.explainer), foreign.model
    of_numbers = getattr(lime, "mode", "") == "regression"
    asked = getattr(model, "__self__", model)  # a bound predict or predict_proba names its model
    function = Model(model).find("numbers") if of_numbers else getattr(asked, "predict_proba", None)
    if not callable(function):
        raise BadInput(
            f"{foreign.__name__} asks the model about rows that it draws, so the model must have predict_proba: pass "
            f"the model itself, fs.evaluate(model, {foreign.__name__}(...), X); or ready explanations in place of the "
            "explainer."
        )
    tabular = next(iter(signature(lime.explain_instance).parameters)) == "data_row"
    options: dict[str, Any] = {}
    if tabular:
        items, ask = foreign.numbers(foreign.by_name(X, getattr(lime, "feature_names", None)), function)
        options = {"num_features": items.shape[1]}
    else:
        items, ask = to_documents(X), lambda rows: np.asarray(function(rows))
    if not of_numbers:
        options |= _classes(foreign, np.shape(ask(items[:1])), tabular)
    has_seed = foreign.explainer.random_state is not np.random.mtrand._rand

    def explained(place: int, seed: int) -> Any:
        lime.random_state.seed(seed)
        return lime.explain_instance(items[place], ask, **options)

    start = int(lime.random_state.randint(2**31)) if has_seed else None
    answers = foreign.row_by_row(items, explained, progress, start)
    return foreign.told(answers, unseeded=not has_seed, of_class_1=not of_numbers)


def _classes(foreign: Foreign, shape: tuple[int, ...], tabular: bool) -> dict[str, Any]:
    """The classes to explain: class 1 of two, all of a table's, the predicted one of a text."""
    if len(shape) != 2:
        raise BadInput(
            f"{foreign.__name__} explains probabilities of shape (n_rows, n_classes), and the model gives several "
            f"labels per row, {shape}: explain one of them, such as fs.evaluate(model.estimators_[0], "
            f"{foreign.__name__}(...), X)."
        )
    if shape[1] == 2 or tabular:
        return {"labels": (1,) if shape[1] == 2 else tuple(range(shape[1])), "top_labels": None}
    return {"top_labels": 1}


def _interpret(foreign: Foreign, X: Any, progress: Progress | None) -> Explanations:
    """Importances over terms."""
    return foreign.told(foreign.explainer.explain_local(X), unseeded=False)


_EXPLAIN: Mapping[str, Callable[[Foreign, Any, Progress | None], Explanations]] = {
    "shap": _shap,
    "lime": _lime,
    "interpret": _interpret,
}
