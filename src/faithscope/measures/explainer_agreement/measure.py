"""explainer_agreement(): how far several explainers agree with each other on the same rows."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from faithscope.errors import BadInput, FaithscopeError, WrongType
from faithscope.explanations.base import Explanations, several
from faithscope.explanations.importances import Importances
from faithscope.inputs.alignment import index_of, row_labels, same_rows
from faithscope.inputs.checks import check_share, check_whole, same_length
from faithscope.measures.explainer_agreement.granularity import ComparedExplainer, at_granularity
from faithscope.measures.explainer_agreement.learning import learned
from faithscope.measures.explainer_agreement.pair import pair_agreement
from faithscope.measures.explainer_agreement.result import ExplainerAgreement
from faithscope.measures.explainer_agreement.shares import CountedRows
from faithscope.readers import as_explanations
from faithscope.runtime.memory import in_memory
from faithscope.sample import Sample
from faithscope.visible import visible

_USUAL = 5


@in_memory("compare fewer explainers, or on fewer rows")
def explainer_agreement(
    explanations: Mapping[str, Any],
    *,
    discretizer: Any = None,
    k: int | None = None,
    confidence: float = 0.95,
    weights: Any = None,
    clusters: Any = None,
) -> ExplainerAgreement:
    """How far several explainers agree with each other: the same explanation, the same features, ranks and signs.

    ``same`` is the share of rows on which two of them say the same, ``chance`` what they would reach if each drew from
    its own frequencies, and ``kappa = (same - chance) / (1 - chance)``. Of importances, the four measures of Krishna et
    al. (2022) are means over rows, of the k features largest in size: the share that both name (``feature_agreement``),
    at the same rank, with the same sign, and both; ``feature_chance`` is that of
    one row's explanation with another row's. A feature of importance 0 is never named: the denominator is the
    larger number of features that one of the two names, at most k, and a row on which neither names any agrees.
    Rules, highlights and counterfactuals name features too, and so have a feature agreement with importances.

    Explainers that agree need not be faithful: two may be wrong alike. `consistency` and `sufficiency` ask the model.

    Parameters
    ----------
    explanations : mapping of str to explanations
        One per explainer, by a name of your choice; each with one explanation per row, in the order of the same rows.
    discretizer : discretizer, str or callable, or mapping of str to these, optional
        At which granularity two explanations are the same: one for all explainers whose kind it takes, or one per
        explainer by name. By default importances are compared by ``SignOfTop(5)``, and all others as they are. One that
        learns, such as `CommonPhrases`, does so from one half of the rows, and the other half is compared.
    k : int, optional
        How many features importances name. By default as many as the discretizer keeps, such as 3 of ``SignOfTop(3)``,
        the most if they differ; 5 if none says.
    confidence : float
        Of each interval.
    weights, clusters : array-like, (n,), optional
        As for `consistency`.

    Returns
    -------
    ExplainerAgreement

    Examples
    --------
    >>> shap, lime = [[0.4, -0.1], [0.2, 0.3]], [[0.3, -0.2], [0.2, -0.1]]
    >>> agreement = explainer_agreement({"shap": shap, "lime": lime})
    >>> agreement.table()[["same", "feature_agreement", "sign_agreement"]].values.tolist()
    [[0.5, 1.0, 0.75]]
    """
    given = _named(explanations)
    raw = {name: _read(name, each) for name, each in given.items()}
    labels = {f"explanations of {visible(name)}": each for name, each in raw.items()}
    same_length(**{name: len(each) for name, each in labels.items()})
    first = next(iter(raw.values()))
    zeros = np.zeros(len(first), np.int64)  # there are no predictions
    rows = Sample.checked(first, zeros, None, weights, clusters, row_labels={"explanations": first})
    alignment = same_rows(**labels)
    rows, compared, chosen = learned(rows, raw, discretizer)
    explainers, notes = at_granularity(compared, chosen)
    return measure_agreement(explainers, rows.noting((*alignment, *notes)), k, confidence)


def measure_agreement(
    explainers: Sequence[ComparedExplainer], rows: Sample, k: int | None, confidence: float
) -> ExplainerAgreement:
    """The agreement of every two explainers on the rows of a sample, whose notes are told."""
    if k is None:
        k = max(each.top for each in explainers) or _USUAL
    check_whole(k, "k, the number of features that importances name,")
    check_share(confidence, "confidence")
    if len(explainers) < 2:
        raise BadInput(f"Agreement takes at least two explainers; got only {explainers[0].name!r}.")
    kept = None if rows.weights is None else np.flatnonzero(rows.weights > 0)
    if kept is not None and len(kept) < rows.n:
        explainers = [each.take(kept) for each in explainers]
    counted = rows.counted()
    mass, reading = CountedRows.of(counted), [each.reading(k) for each in explainers]
    pairs = tuple(pair_agreement(a, b, mass, confidence) for a, b in combinations(reading, 2))
    if not any(pair.comparable for pair in pairs):
        reason = pairs[0].notes[0].rstrip(".")
        raise BadInput(f"No two of these explainers can be compared; {pairs[0].a!r} and {pairs[0].b!r}: {reason}.")
    return ExplainerAgreement(
        explainers={each.name: each.discretizer for each in explainers},
        pairs=pairs,
        n=counted.n,
        clusters=None if counted.clusters is None else len(mass.by_cluster),
        k=int(k),
        confidence=float(confidence),
        notes=(*counted.notes, *_all_features(explainers, k)),
        positions=counted.positions,
        labels=_row_labels(counted),
        explanations={each.name: each.explanations for each in explainers},
    )


def _named(explanations: Any) -> dict[str, Any]:
    if not isinstance(explanations, Mapping):
        raise WrongType(
            "explainer_agreement takes explanations by name, such as {'shap': values, 'lime': weights}; got "
            f"{type(explanations).__name__}."
        )
    if len(explanations) < 2:
        raise BadInput(f"Agreement takes at least two explainers; got {len(explanations)}.")
    names = list(map(str, explanations))
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise BadInput(f"Two explainers are called {repeated!r} once their names are texts: give each its own name.")
    return dict(zip(names, explanations.values(), strict=True))


def _read(name: str, explanations: Any) -> Explanations:
    try:
        return as_explanations(explanations)
    except FaithscopeError as error:
        raise type(error)(f"Explanations of {visible(name)!r} cannot be read: {error}") from error


def _all_features(explainers: Sequence[ComparedExplainer], k: int) -> tuple[str, ...]:
    """A note if importances name all their features, so that the same ones are named by everybody."""
    widths = [each.naming.values.shape[1] for each in explainers if isinstance(each.naming, Importances)]
    if not widths or min(widths) > k:
        return ()
    features = several(min(widths), "feature", "features")
    return (f"k={k} names all of {features} that are not 0, so feature agreement says little: pass a smaller k",)


def _row_labels(rows: Sample) -> Any:
    """The labels of the rows of X, or of the explanations; None if there are none."""
    return row_labels(rows.X) if index_of(rows.X) is not None else row_labels(rows.explanations)
