"""One summary of a result: terminal, page, notebook and Markdown all read it, so that they cannot disagree."""

import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version

from faithscope.inputs.checks import check_share
from faithscope.measures.comparing.differences import MANY, together
from faithscope.measures.planning import Plan, plan
from faithscope.measures.slices import Slices
from faithscope.measures.telling import READING_ORDER, judge
from faithscope.report.explainer import Explainer, Missing, Summary, attempt, shown_notes
from faithscope.report.reported import OfOneExplainer, Reported
from faithscope.report.sections import QUESTIONS
from faithscope.report.sections.agreement import agreement_blocks
from faithscope.report.sections.rows import ROWS
from faithscope.report.wording import wording

_MEASURED_WITH = ("faithscope", "numpy", "scipy", "scikit-learn", "pandas")


def summarize(
    result: Reported,
    *,
    title: str = "How faithful are these explanations?",
    wanted: float | None = None,
    examples: int = 4,
    slices: Mapping[str, Slices] | None = None,
) -> Summary:
    """Gather what a report tells.

    Parameters
    ----------
    result : Evaluation, Comparison or Audit
    title : str
    wanted : float, optional
        What a faithful explainer is asked to reach; by default what the result was asked for.
    examples : int
        Contradictions shown per explainer and measure.
    slices : mapping of str to Slices, optional
        Where each explainer fails, if that was looked for.

    Returns
    -------
    Summary

    Examples
    --------
    >>> import faithscope as fs
    >>> result = fs.evaluate(["yes", "no", "no", "no"], ["old", "old", "young", "young"], [[7], [8], [1], [2]])
    >>> summary = summarize(result, title="Who gets a loan?")
    >>> [estimate.value for explainer in summary.explainers for estimate in explainer.measures]
    [0.5]
    """
    results = result._explainers()
    wanted = next(iter(results.values()))._wanted if wanted is None else check_share(wanted, "wanted")
    many = len(result.pairs) > MANY
    pairs = together(result.pairs) if many else result.pairs
    found = slices or {}
    explainers = [_explainer(name, each, wanted, examples, found.get(name)) for name, each in results.items()]
    first = min(explainers, key=lambda each: each.result.baseline)
    ranked = sorted(  # by verdict, ties by the lower limit of the weakest measure
        explainers,
        key=lambda each: (
            each.result.baseline,
            READING_ORDER.index(each.verdict.level),
            -min(estimate.low for estimate in each.measures),
        ),
    )
    return Summary(
        title=wording(title),
        explainers=tuple(ranked),
        about=ranked.index(first),
        differences=tuple(pairs),
        wanted=wanted,
        rows_to_choose=result.rows_to_choose,
        created=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        versions={"python": platform.python_version()} | {name: version(name) for name in _MEASURED_WITH},
        together=len(pairs) if many else 0,
        agreement=agreement_blocks(result.explainer_agreement if len(results) > 1 else None),
    )


def _explainer(name: str, result: OfOneExplainer, wanted: float, examples: int, slices: Slices | None) -> Explainer:
    estimates = [estimate for estimate in (result.consistency, result.sufficiency) if estimate is not None]
    plans, missing = dict[str, Plan](), list[Missing]()
    for estimate in estimates:
        known, reason = attempt(partial(plan, estimate))
        if known is None:
            missing.append(Missing(ROWS.anchor, estimate.measure, reason, ROWS.subject))
        else:
            plans[estimate.measure] = known
    needed = {measure: f"; {known.reason}" for measure, known in plans.items() if known.unverifiable > known.wanted}
    told = Explainer(
        wording(name),
        result,
        tuple(estimates),
        judge(estimates, needed, wanted),
        plans,
        tuple(result._breakdowns()),
        shown_notes(result._remarks),
        examples,
        slices,
        missing=missing,
    )
    for question in QUESTIONS:
        told.parts[question.anchor] = question.ask(told)
    return told
