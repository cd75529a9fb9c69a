"""repeatability(): asks several runs for explanations of the same rows, and measures how often they are the same."""

from collections.abc import Mapping
from typing import Any

from faithscope.discretizers import Discretize
from faithscope.discretizers.choice import to_discretizer
from faithscope.errors import BadInput, WrongType
from faithscope.evaluation.asker import Asker, called, is_ready
from faithscope.evaluation.cache import to_cache
from faithscope.explanations import Explanations
from faithscope.inputs.checks import check_whole
from faithscope.inputs.rows import rows_of
from faithscope.measures.intervals.margins import check_confidence
from faithscope.measures.repeatability import Repeatability, measure_repeatability
from faithscope.runtime.memory import in_memory
from faithscope.runtime.progress import Told, Watch

_USUAL = 5  # runs
_MAKER = (
    "pass a function from a seed to an explainer, such as lambda seed: fs.explainers.Lime(model, X, seed=seed), or "
    "lambda seed: f for a function f of rows"
)
_READY = "or a list of ready runs, [first, second]"


@in_memory("explain fewer rows, or fewer runs at a time")
def repeatability(
    explain: Any,
    X: Any = None,
    *,
    runs: int = _USUAL,
    discretizer: Discretize | None = None,
    confidence: float = 0.95,
    weights: Any = None,
    clusters: Any = None,
    cache: Any = None,
    progress: bool | Told | None = None,
) -> Repeatability:
    """Probability that two runs give a row the same explanation.

    A run is whatever may be different next time: another seed of the explainer, a retrained model, a resampled
    background. Runs are independent draws, and so are rows (say which rows belong together with `clusters`).

    Parameters
    ----------
    explain : function from a seed to an explainer, or list, tuple or dict of runs
        Called with the seeds 0, 1, …, ``runs - 1``; gives anything that `evaluate` takes as an explainer. Or the runs
        themselves: explainers, or explanations as `consistency` takes them, all of the same rows in the same order.
    X : array-like or table, n rows
        The rows that each run explains; not needed for ready explanations.
    runs : int
        How many runs to make, at least 2. The interval tells of further runs from 3 on; 5 are usually enough, unless
        a rare run differs much: of 5 runs that are alike, the next may still be another.
    discretizer : discretizer, str or callable, optional
        The granularity that people read, as for `consistency`: two real numbers are hardly ever equal. One that learns,
        such as `CommonPhrases`, does so from one half of the rows, and the runs of the other half are compared.
    confidence : float
        The confidence of the interval.
    weights, clusters : array-like, (n,), optional
        How much each row counts, and which rows belong together, as for `consistency`.
    cache, progress
        As for `evaluate`; a run that was kept is not made again, but `explain` is called.

    Returns
    -------
    Repeatability

    Examples
    --------
    >>> import numpy as np
    >>> def explain(seed):
    ...     noise = np.random.default_rng(seed).normal(size=(100, 1))
    ...     return lambda X: np.sign(X + 0.1 * noise)
    >>> print(repeatability(explain, np.linspace(-1, 1, 100)[:, None], runs=3, progress=False))
    repeatability 0.96, 95% interval [0.91, 1.00], chance 0.50; 100 rows, 3 runs, 2 explanations
      note: 3 runs may lack a kind that up to 63% of runs are of, of which the interval knows nothing
    """
    chosen, kept, watch = to_discretizer(discretizer), to_cache(cache), Watch(progress)
    check_confidence(confidence)

    def explained(run: Any, place: int, name: str, many: int) -> Any:
        """The explanations of X by one run; ready ones as they are."""
        if is_ready(run):
            return run
        if X is None:
            raise BadInput(f"{name} is an explainer ({type(run).__name__}), which needs rows: pass (explain, X).")
        asker = Asker(kept, watch).knowing(None, run)
        key = asker.questions.get(id(run))
        if key is not None:  # a run's own, since explainers that look alike may draw from a generator elsewhere
            asker.questions[id(run)] = f"{key}, run {place}"
        return asker.explanations(run, X, f"{called(run)}, run {place + 1} of {many}")

    explanations: dict[str, Any] = {}
    if isinstance(explain, list | tuple | Mapping):
        pairs = explain.items() if isinstance(explain, Mapping) else enumerate(explain)
        items = {f"runs[{key!r}]": run for key, run in pairs}
        if check_whole(runs, "runs", 0) not in (_USUAL, len(items)):
            raise BadInput(f"runs={runs}, but {len(items)} runs are given: leave runs= out, or pass as many.")
        if len(items) < 2:
            raise BadInput(f"Repeatability compares runs, and got {len(items)}: pass at least two, [first, second].")
        for place, (name, run) in enumerate(items.items()):
            explanations[name] = explained(run, place, name, len(items))
    else:
        explains = callable(getattr(explain, "explain", None))
        if not callable(explain) or isinstance(explain, Explanations) or (explains and not isinstance(explain, type)):
            one = "one run, and repeatability compares several" if explains or hasattr(explain, "__len__") else "none"
            raise WrongType(f"explain is {type(explain).__name__}, which makes {one}: {_MAKER}; {_READY}.")
        if X is None:
            raise BadInput("X is missing: pass the rows that each run is to explain, (explain, X).")
        if check_whole(runs, "runs", 0) < 2:
            raise BadInput(f"Repeatability compares runs, and runs={runs}: pass runs=2, or better runs=5.")
        for seed in range(runs):  # each is made when it is its turn
            with watch.phase(f"making run {seed + 1} of {runs}", rows_of(X)):
                try:
                    run = explain(seed)
                except Exception as error:
                    error.add_note(f"Raised by explain({seed}), which is called with a seed: {_MAKER}.")
                    raise
            if is_ready(run) and (isinstance(run, str) or not hasattr(run, "__len__")):
                raise WrongType(f"explain({seed}) gave {type(run).__name__}, which is no explainer: {_MAKER}.")
            explanations[f"seed {seed}"] = explained(run, seed, f"explain({seed})", runs)
    return measure_repeatability(explanations, X, weights, clusters, chosen, confidence)
