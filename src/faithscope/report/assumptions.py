"""What every number of a report takes for granted: independent rows, or clusters of rows, and a fixed explainer."""

from faithscope.measures.estimate import Estimate


def assumptions(estimate: Estimate, clusters: str = "") -> str:
    """The two assumptions behind an estimate, in sentences.

    Parameters
    ----------
    estimate : Estimate
    clusters : str
        The name of what says which rows belong together; empty if it has none.

    Examples
    --------
    >>> from faithscope import consistency
    >>> assumptions(consistency(["a", "a", "b"], [0, 1, 1], clusters=[1, 2, 2]), "customer")[:97]
    'Two things are taken for granted: the 2 clusters of rows (rows with the same customer) are indepe'
    """
    weighted = getattr(estimate.counts, "weight", None) is not None
    population = "the population that these numbers speak of"
    source = f"draws, weighted so that they stand for {population}" if weighted else f"draws from {population}"
    fixed = "and the explainer was fixed before they were seen."
    if estimate.clusters is None:
        drawn = f"rows are independent {source}"
        otherwise = "Rows that repeat or belong together, and rows that the explainer was fitted on, make"
        beside = ""
    else:
        named = f"rows with the same {clusters}" if clusters else "rows that belong together"
        drawn = f"the {estimate.clusters:,} clusters of rows ({named}) are independent {source}"
        otherwise = "Rows that the explainer was fitted on make"
        beside = " Rows of one cluster are never compared with each other."
    return f"Two things are taken for granted: {drawn}, {fixed} {otherwise} it look more faithful than it is.{beside}"
