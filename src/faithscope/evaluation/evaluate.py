"""evaluate(): a model, an explainer and rows in; an Evaluation out."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.counting.counts import count
from faithscope.discretizers import Discretize, discretize
from faithscope.errors import BadInput, WrongType
from faithscope.evaluation.asking import framed, rows_of_its_own
from faithscope.evaluation.best import Best, to_choice
from faithscope.evaluation.cache import Cache, takes_progress, to_cache
from faithscope.evaluation.result import Evaluation, assess
from faithscope.explanations import Explanations, as_explanations
from faithscope.inputs.alignment import index_of, is_fresh, labels_of, made_in_order, same_rows
from faithscope.inputs.arrays import is_frame, to_vector
from faithscope.inputs.checks import same_length
from faithscope.inputs.labels import to_predictions
from faithscope.inputs.rows import rows_of, take_rows
from faithscope.measures import scopes
from faithscope.measures.estimate import Interval
from faithscope.measures.local import Local, at_row
from faithscope.relations import says_where, to_relation
from faithscope.runtime.memory import in_memory
from faithscope.runtime.progress import Step, Told, Watch


@in_memory("evaluate fewer rows at a time")
def evaluate(
    predict: Any,
    explainer: Any,
    X: Any,
    *,
    discretizer: Discretize | Best | None = None,
    confidence: float = 0.95,
    interval: Interval = "jackknife",
    weights: Any = None,
    relation: Any = None,
    seed: int = 0,
    cache: Any = None,
    progress: bool | Told | None = None,
) -> Evaluation:
    """Measure how faithful an explainer is to a model on the rows X.

    Parameters
    ----------
    predict : model, function or array-like
        Anything with ``predict``, a function from rows to labels, or the predictions themselves.
    explainer : explainer, function or array-like
        Anything with ``explain``, a function from rows to explanations, or the explanations themselves.
    X : array-like or table, n rows
        Rows the model will meet in use; no labels are needed.
    discretizer : discretizer, str or callable, optional
        As for `consistency`; or `Best` ("best"), which chooses one on half of the rows and reports on the other half.
    confidence, interval, weights
        As for `consistency`.
    relation : Nearest, Ball or callable, optional
        As for `sufficiency`.
    seed : int
        Of what is random here: the halves of `Best`. Explainers have seeds of their own.
    cache : path or Cache, optional
        A folder that keeps what was computed, so that an interrupted run goes on and a second run is instant.
    progress : None, bool or callable
        None shows phases that take more than a second, False nothing; or a function (phase, done, total).

    Returns
    -------
    Evaluation
    """
    system = System(to_cache(cache), Watch(progress)).knowing(predict, explainer)
    name = name_of(explainer)
    labels = system.predictions(predict, X)
    given = system.explanations(explainer, X, name)
    same_length(X=rows_of(X), predictions=len(labels), explanations=len(given))
    labelled = given if index_of(explainer) is None else explainer  # a table of theirs can be aligned by label
    notes = same_rows(X=X, predictions=predict, explanations=labelled, weights=weights)
    given = labelled_like(given, X, predict, weights)
    options: dict[str, Any] = {"confidence": confidence, "interval": interval, "relation": relation}
    about: dict[str, Any] = {"name": name, "explainer": described(explainer), "seed": seed, "notes": notes}
    about["baseline"] = is_baseline(explainer)
    how = to_choice(discretizer)
    if isinstance(how, Best):
        kept, how = how.choose(given, labels, seed, confidence)
        given, labels, X, about["rows"] = given.take(kept), labels[kept], take_rows(X, kept), kept
        weights = None if weights is None else to_vector(weights, "Weights")[kept]
    with system.watch.phase(f"measuring {name}", len(labels)):
        found = assess(given, labels, X, discretizer=how, weights=weights, **options, **about)
    return replace(found, seconds=system.watch.seconds)


@dataclass(frozen=True)
class System:
    """How models and explainers are asked: through a cache or not, watched or not, each with rows of its own."""

    cache: Cache | None
    watch: Watch
    questions: dict[int, str | None] = field(default_factory=dict)

    def knowing(self, predict: Any, *explainers: Any) -> "System":
        """The same, with everybody's fingerprint taken before anybody is asked: answering may leave traces."""
        for one, method in ((predict, "predict"), *((one, "explain") for one in explainers)):
            if function_of(one, method) is not None and not isinstance(one, Explanations):
                self._question(one)
        return self

    def predictions(self, predict: Any, X: Any) -> NDArray[Any]:
        """What the model says to rows, or what it has said."""
        function = function_of(predict, "predict")
        if function is None:
            return to_predictions(predict)
        n = rows_of(X)

        def ask(rows: Any) -> NDArray[Any]:
            with framed("predicting", 0, n, n):
                made = function(rows_of_its_own(rows))
                made_in_order(rows, made, "predictions")
                return to_predictions(made)

        with self.watch.phase("predicting", n):
            return ask(X) if self.cache is None else self.cache.labels(self._question(predict), ask, X)

    def explanations(self, explainer: Any, X: Any, name: str) -> Explanations:
        """What the explainer says to rows, or what it has said."""
        function = function_of(explainer, "explain")
        if isinstance(explainer, Explanations) or function is None:
            return as_explanations(explainer)
        told, n = takes_progress(function), rows_of(X)

        def explain(rows: Any, step: Step, start: int = 0) -> Explanations:
            with framed(f"explaining with {name}", start, rows_of(rows), n):
                given = rows_of_its_own(rows)
                made = as_explanations(function(given, progress=step) if told else function(given))
                made_in_order(rows, made, "explanations")
                return made._with(index=None) if is_fresh(made.index) else made

        with self.watch.phase(f"explaining with {name}", n) as step:
            if self.cache is None:
                return explain(X, step)
            tokenizer, question = getattr(explainer, "tokenizer", None), self._question(explainer)
            # A plain function may look at all rows at once; what explains by contract explains a row by itself.
            if function is explainer:
                return self.cache.one("explanations", question, explain, X, step, tokenizer)
            return self.cache.explanations(question, explain, X, step, tokenizer=tokenizer)

    def _question(self, asked: Any) -> str | None:
        """What whoever is asked is known by in the cache; None where nothing is kept."""
        if self.cache is not None and id(asked) not in self.questions:
            name = str(getattr(asked, "__name__", type(asked).__name__))
            self.questions[id(asked)] = self.cache.question(asked, name)
        return self.questions.get(id(asked))


def labelled_like(explanations: Explanations, X: Any, *others: Any) -> Explanations:
    """Explanations with the row labels of predictions or weights where neither they nor X have any: groups may come."""
    index = labels_of(X, explanations, *others)
    untold = index_of(X) is None and explanations.index is None and index is not None
    return explanations._with(index=index) if untold else explanations


def name_of(explainer: Any) -> str:
    """What an explainer is called: the function's name or the object's class."""
    if isinstance(explainer, Explanations) or function_of(explainer, "explain") is None:
        return "explanations"
    return str(getattr(explainer, "__name__", type(explainer).__name__)).strip("<>")


def described(explainer: Any) -> str:
    """How an explainer was set up, in a line and without training rows; by its name where its repr takes more lines."""
    if function_of(explainer, "explain") is None or isinstance(explainer, Explanations):
        return "ready explanations"
    silent = "__repr__" not in {name for kind in type(explainer).__mro__[:-1] for name in vars(kind)}
    if silent or explainer is function_of(explainer, "explain"):
        return name_of(explainer)
    from faithscope.explainers.shared.manners import line_of  # here, since it brings all explainers along

    line = line_of(explainer)
    return line if len(line.splitlines()) == 1 else name_of(explainer)


def is_baseline(explainer: Any) -> bool:
    """Whether an explainer says nothing on purpose, which its attribute `baseline` says: True, and nothing else."""
    return getattr(explainer, "baseline", False) is True  # of Gradient it is a row


@in_memory("use fewer rows")
def local(
    x: Any,
    predict: Any,
    explainer: Any,
    X: Any,
    *,
    discretizer: Discretize | None = None,
    confidence: float = 0.95,
    relation: Any = None,
) -> Local:
    """Local consistency and sufficiency at a row outside the sample: the paper's Algorithm 1.

    Parameters
    ----------
    x : one row
        A vector, or a table of one row.
    predict, explainer, X, discretizer, relation
        As for `evaluate`; model and explainer must be functions, since x is new to them.

    Returns
    -------
    Local
    """
    if function_of(predict, "predict") is None or function_of(explainer, "explain") is None:
        raise WrongType(
            "local needs a model and an explainer that can be called on x, not ready predictions or explanations."
        )
    row = _one_row(x)
    system = System(None, Watch(progress=False))
    labels = system.predictions(predict, X)
    explanations = discretize(system.explanations(explainer, X, "explainer"), discretizer)
    one = discretize(system.explanations(explainer, row, "explainer"), discretizer)
    said = system.predictions(predict, row)
    same_length(x=1, predictions=len(said), explanations=len(one))
    prediction = said.tolist()[0]
    found = at_row(count(explanations, labels), one, prediction, confidence=confidence)
    if not says_where(explanations, relation):
        return found
    how = to_relation(relation, explanations)
    scope = scopes.at_row(one, prediction, explanations, labels, X, how, confidence=confidence)
    return replace(found, sufficiency=scope)


def _one_row(x: Any) -> Any:
    if is_frame(x):
        row = x
    elif hasattr(x, "to_frame") and hasattr(x, "index"):
        row = x.to_frame().T.infer_objects()  # a pandas Series: one row of a table, with its names
    else:
        row = [x] if isinstance(x, str) else np.asarray(x)
        row = row[None, :] if np.ndim(row) == 1 and not isinstance(row, list) else row
    if rows_of(row) != 1:
        raise BadInput(f"x must be one row; got {rows_of(row):,}.")
    return row


def function_of(given: Any, method: str) -> Callable[..., Any] | None:
    """The method of this name, or the function itself; None where it is neither: then it is the answer itself."""
    found = getattr(given, method, None)
    return found if callable(found) else given if callable(given) else None
