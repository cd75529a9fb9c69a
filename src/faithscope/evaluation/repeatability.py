"""repeatability(): asks several runs for explanations of the same rows, and measures how often they are the same."""

from collections.abc import Iterator, Mapping
from typing import Any

from faithscope.discretizers import Discretize
from faithscope.discretizers.choice import to_discretizer
from faithscope.errors import BadInput, FaithscopeError, WrongType
from faithscope.evaluation.asker import Asker, called, is_ready
from faithscope.evaluation.cache import to_cache
from faithscope.inputs.checks import check_whole
from faithscope.measures.intervals.margins import check_confidence
from faithscope.measures.repeatability import Repeatability, measure_repeatability
from faithscope.runtime.memory import in_memory
from faithscope.runtime.messages import Told, Watch

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
        How many runs to make, at least 2, if `explain` makes them. The interval tells of further runs from 3 on; 5 are
        usually enough, unless a rare run differs much: of 5 runs that are alike, the next may still be another.
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
    listed = isinstance(explain, list | tuple | Mapping)
    explains = callable(getattr(explain, "explain", None)) and not isinstance(explain, type)
    if not listed and (not callable(explain) or explains):
        one = "one run, and repeatability compares several" if explains or hasattr(explain, "__len__") else "none"
        raise WrongType(f"explain is {type(explain).__name__}, which makes {one}: {_MAKER}; {_READY}.")
    many = len(explain) if listed else check_whole(runs, "runs", 0)
    if many < 2:
        raise BadInput(f"Repeatability compares runs, and got {many}: pass at least two, better 5.")

    def made() -> Iterator[tuple[str, Any]]:
        """Each run with its name, made when it is its turn."""
        if listed:
            pairs = explain.items() if isinstance(explain, Mapping) else enumerate(explain)
            yield from ((f"runs[{key!r}]", run) for key, run in pairs)
            return
        for seed in range(many):
            with watch.phase(f"making run {seed + 1} of {many}", 1):
                try:
                    run = explain(seed)
                except (FaithscopeError, TypeError, AttributeError, IndexError) as error:
                    told = f"explain({seed}), which is called with a seed, failed ({type(error).__name__}: {error})"
                    raise WrongType(f"{told}: {_MAKER}.") from error
                except Exception as error:
                    error.add_note(f"Raised by explain({seed}), which is called with a seed.")
                    raise
            yield f"seed {seed}", run

    explanations: dict[str, Any] = {}
    for place, (name, run) in enumerate(made()):
        if is_ready(run):
            if isinstance(run, str) or not hasattr(run, "__len__"):
                raise WrongType(f"{name} is {type(run).__name__}, which is no explainer: {_MAKER}.")
            explanations[name] = run
            continue
        if X is None:
            raise BadInput(f"X is missing: pass the rows that {name} ({type(run).__name__}) is to explain.")
        asker = Asker(kept, watch).knowing(None, run)
        key = asker.questions.get(id(run))
        if key is not None:  # a run's own, since explainers that look alike may draw from a generator elsewhere
            asker.questions[id(run)] = f"{key}, run {place}"
        explanations[name] = asker.explanations(run, X, f"{called(run)}, run {place + 1} of {many}")
    return measure_repeatability(explanations, X, weights, clusters, chosen, confidence)
