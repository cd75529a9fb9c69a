"""How it was computed: by which method, on what assumptions, with which settings and versions."""

from faithscope.card import Sentence
from faithscope.measures.estimate import Estimate
from faithscope.measures.telling import caption, described, told_number
from faithscope.report.document import Block, Facts, Group, Section
from faithscope.report.explainer import Explainer, Summary
from faithscope.report.wording import wording


def method(summary: Summary, parts: list[Block]) -> Section:
    """The section; `parts` are the facts of each explainer."""
    versions = Group([Facts(tuple(summary.versions.items()))], title="Versions")
    blocks = [Sentence(_computed(summary)), Sentence(assumptions(summary.estimates[0])), *parts, versions]
    return Section("method", "How computed", "How it was computed", blocks, detail=True)


def _computed(summary: Summary) -> str:
    first = summary.estimates[0]
    compared = " ".join(dict.fromkeys(described(estimate.agreement) for estimate in summary.estimates))
    return (
        "Every row is compared with the other rows that its explanation covers, never with itself. "
        f"{compared}{' ' if compared else ''}Intervals are at {100 * first.confidence:g}% confidence ({first.method}). "
        f"An explainer is called faithful when the whole interval of both measures reaches {summary.wanted:.0%} and at "
        "least half of what chance leaves open, consistent when only that of consistency does, "
        "and no better than chance when rows that can be checked do not agree more than "
        "shuffled predictions would and its interval stays nearer to chance than to that."
    )


def facts(explainer: Explainer) -> Facts:
    """How an explainer was measured: names with values, without those that have nothing to say."""
    estimates, result = explainer.measures, explainer.result
    apart = [f"{each.measure}: {told_number(each.gap)}" for each in estimates if each.gap is not None]
    told = {
        "Explainer": wording(result.explainer, longest=1000),
        "Discretization": explainer.discretizer,
        "Rows": caption(estimates[0]),
        "Typically apart": ", ".join(apart),
        "Different explanations": f"{estimates[0].distinct:,}",
        "Intervals": ", ".join(f"{estimate.measure}: {estimate.method}" for estimate in estimates),
        "Notes": "; ".join(f"{measure}: {note}" if measure else note for measure, note in explainer.remarks),
    }
    return Facts(tuple((name, value) for name, value in told.items() if value))


def assumptions(estimate: Estimate) -> str:
    """The two assumptions behind an estimate, in sentences.

    Examples
    --------
    >>> from faithscope import consistency
    >>> assumptions(consistency(["a", "a", "b"], [0, 1, 1], clusters=[1, 2, 2]))[:68]
    'Two things are taken for granted: the 2 clusters of rows are indepen'
    """
    weighted = getattr(estimate.counts, "weight", None) is not None
    population = "the population that these numbers speak of"
    source = f"draws, weighted so that they stand for {population}" if weighted else f"draws from {population}"
    rows, beside = "rows", ""
    if estimate.clusters is not None:
        rows = f"the {estimate.clusters:,} clusters of rows"
        beside = " Rows of one cluster are never compared with each other."
    return (
        f"Two things are taken for granted: {rows} are independent {source}, and the explainer was fixed before they "
        "were seen. Rows that repeat or belong together otherwise, and rows that the explainer was fitted on, make it "
        f"look more faithful than it is.{beside}"
    )
