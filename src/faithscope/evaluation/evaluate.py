"""evaluate(): measures an explainer of a model on rows; local(): measures it at one row outside the sample."""

from dataclasses import replace
from typing import Any

import numpy as np

from faithscope.discretizers import Discretize, discretize
from faithscope.errors import BadInput, WrongType
from faithscope.evaluation.asker import Asker, called, function_of, refuse_swapped
from faithscope.evaluation.best import Best
from faithscope.evaluation.compare import compare
from faithscope.evaluation.outputs import Output
from faithscope.evaluation.result import Evaluation
from faithscope.evaluation.run import sampled
from faithscope.explanations.forms import names_all
from faithscope.inputs.arrays import is_frame
from faithscope.inputs.checks import same_length
from faithscope.inputs.models import Model
from faithscope.inputs.rows import rows_of
from faithscope.measures import scopes
from faithscope.measures.estimate import Method
from faithscope.measures.local import Local, at_row
from faithscope.measures.telling import WANTED
from faithscope.relations import Alike, says_where, to_relation
from faithscope.runtime.memory import in_memory
from faithscope.runtime.messages import Told, Watch
from faithscope.runtime.of_logs import tells_new_words


@tells_new_words
def evaluate(
    model: Any,
    explainer: Any,
    X: Any,
    *,
    discretizer: Discretize | Best | None = None,
    confidence: float = 0.95,
    interval: Method | None = None,
    unseen: bool = False,
    weights: Any = None,
    clusters: Any = None,
    relation: Any = None,
    unlabeled: Any = None,
    by: Any = None,
    seed: int = 0,
    cache: Any = None,
    progress: bool | Told | None = None,
    agreement: Any = None,
    at_least: float = WANTED,
) -> Evaluation:
    """Measure how faithful an explainer is to a model on the rows X.

    Two things are taken for granted: rows are independent draws (say which belong together with `clusters`), and the
    explainer was fixed before they were seen (do not judge it on the rows that it was fitted on). Notes tell if whole
    rows repeat more often than chance gives, or if a surrogate was fitted on these rows.

    Parameters
    ----------
    model : model, function or array-like
        Anything with ``predict``, a function from rows to labels, or the predictions themselves. A torch module, or a
        model with ``predict_proba`` alone, predicts the class with its highest output; a text classifier of Hugging
        Face, the label with the highest score.
    explainer : explainer, function or array-like
        Anything with ``explain``, a function from rows to explanations, such as an explainer of shap, or the
        explanations themselves.
    X : array-like or table, n rows
        Rows like those that the model meets in use; no labels are needed.
    discretizer : discretizer, str or callable, optional
        As for `consistency`; or `Best` ("best"), which chooses one on half of the rows and reports it on the other.
    confidence, interval, unseen, weights, clusters
        As for `consistency`.
    relation : Alike, Nearest, Ball, Judged or callable, optional
        As for `sufficiency`. By default importances of the columns of X are measured by `Alike`.
    unlabeled : array-like or table, optional
        Further rows without predictions, as for `sufficiency`.
    by : array-like, (n,), or str or list of str, optional
        The population of each row, or columns of X by name (several are crossed): the explainer is then
        measured in each of them too (`Evaluation.populations`).
    seed : int
        The seed of what is random here: the halves of `Best`. Explainers have seeds of their own.
    cache : path or Cache, optional
        A folder that keeps what was computed, so that an interrupted run continues and a second run is instant.
    progress : None, bool or callable
        None shows phases that take more than a second, False shows nothing; a function gets (phase, done, total).
    agreement : Close, Tolerance, Spread, callable or str, optional
        How much two predictions agree if they are numbers, as for `consistency`. By default predictions are labels, but
        those of known regressors are measured by `Spread`, and a note says so: regressors of scikit-learn, XGBoost,
        LightGBM and CatBoost. ``fs.Same()`` takes the answers of a regressor for labels. For probabilities pass
        ``model.predict_proba`` and ``fs.Spread()``, or a function of those of one class.
    at_least : float
        What a faithful explainer is asked to reach, which stands beside the verdict of the report. Where chance is
        high, half of what it leaves open is asked for too.

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> rows = [[1.0], [2.0], [3.0], [4.0]]
    >>> ev = evaluate(lambda X: [x[0] > 2 for x in X], lambda X: [x[0] > 3 for x in X], rows, progress=False)
    >>> round(ev.consistency.value, 3)
    0.25
    """
    (evaluation,) = compare(
        model,
        {called(explainer): explainer},
        X,
        discretizer=discretizer,
        confidence=confidence,
        interval=interval,
        unseen=unseen,
        weights=weights,
        clusters=clusters,
        relation=relation,
        unlabeled=unlabeled,
        by=by,
        seed=seed,
        cache=cache,
        progress=progress,
        agreement=agreement,
        at_least=at_least,
    ).values()
    return evaluation


@in_memory("use fewer rows")
def local(
    x: Any,
    model: Any,
    explainer: Any,
    X: Any,
    *,
    discretizer: Discretize | None = None,
    confidence: float = 0.95,
    relation: Any = None,
    agreement: Any = None,
) -> Local:
    """Local consistency and sufficiency at a row outside the sample: the paper's Algorithm 1.

    Parameters
    ----------
    x : one row
        A vector, or a table of one row.
    model, explainer, X, discretizer, relation, agreement
        As for `evaluate`; model and explainer cannot be ready predictions or explanations, since x is a new row.

    Returns
    -------
    Local

    Examples
    --------
    >>> rows = [[1.0], [2.0], [3.0], [4.0]]
    >>> print(local([5.0], lambda X: [x[0] > 2 for x in X], lambda X: [x[0] > 3 for x in X], rows))
    local consistency 1.000, 95% interval [0.02, 1.00];
      1 of 1 rows with this explanation agree (4 rows seen)
    """
    if Model(model).find() is None or function_of(explainer) is None:
        raise WrongType(
            "local needs a model and an explainer that can be called on x, not ready predictions or explanations: "
            "pass (x, model, explainer, X)."
        )
    refuse_swapped(model, explainer)
    row: Any = x
    if hasattr(x, "to_frame") and hasattr(x, "index"):
        row = x.to_frame().T.infer_objects()  # a pandas Series: one row of a table, with its names
    elif isinstance(x, str):
        row = [x]
    elif not is_frame(x):
        try:
            row = np.asarray(x)
        except ValueError:
            raise BadInput("x must be one row; got lists of different lengths.") from None
        row = row[None, :] if row.ndim == 1 else row
    if rows_of(row) != 1:
        raise BadInput(f"x must be one row; got {rows_of(row):,}.")
    asker = Asker(None, Watch(progress=False))
    question = Output.of(model, agreement)
    given, coarsen = sampled(model, {"explainer": explainer}, X, question, asker)["explainer"].settled(discretizer)
    explained = asker.explanations(explainer, row, "explainer")
    sample, explanation = given.discretized(coarsen), discretize(explained, coarsen)
    answer = asker.predictions(model, row, question)
    same_length(x=1, predictions=len(answer), explanations=len(explanation))
    prediction = answer.tolist()[0]
    alike = explanation.locate(sample.explanations) == 0
    consistency = at_row(sample, alike, explanation, prediction, confidence)
    if not says_where(sample.explanations, relation):
        return consistency
    if isinstance(relation, Alike):
        known, here = (sample, explanation) if names_all(getattr(explanation, "left", "")) else (given, explained)
        relation = replace(relation, X_train=X if relation.X_train is None else relation.X_train)
        explanation = relation.about(here, row)
        sample, relation = known._scoped_by(relation)
    chosen = to_relation(relation, sample.explanations)
    return replace(consistency, sufficiency=scopes.at_row(explanation, prediction, sample, chosen, confidence))
