"""The verdicts, and the sentence on top of a report, to be quoted by itself: a share, its interval, chance."""

from faithscope.agreements import Spread
from faithscope.measures.comparing.populations import AMONG
from faithscope.measures.telling import WORDS, Measured, holds, mostly_silent, silent_rows, weakest_first, why_unknown
from faithscope.report.document import Finding, Findings, Section
from faithscope.report.explainer import Explainer, Summary
from faithscope.report.result import Breakdown
from faithscope.rounding import percent_down, percent_up

ICONS = {"faithful": "✓", "consistent": "=", "unknown": "?", "partly": "◐"} | {
    "random": "≈",
    "chance": "≈",
    "unfaithful": "✕",
}


def verdicts(summary: Summary) -> Section:
    """The section of the verdicts, the most faithful explainer first."""
    several = len(summary.explainers) > 1
    found = [
        Finding(
            each.verdict.level,
            each.name,
            f"{ICONS[each.verdict.level]} {each.verdict.word}",
            _spoken(each),
            each.doubts,
            place if several else None,
        )
        for place, each in enumerate(summary.explainers)
    ]
    return Section("verdicts", "Verdict", "Verdict", [Findings(found)])


def _spoken(explainer: Explainer) -> str:
    """The sentence without its first word, which the badge says."""
    rest = explainer.verdict.sentence.removeprefix(f"{WORDS[explainer.verdict.level]}: ")
    return rest[:1].upper() + rest[1:]


def headline(summary: Summary) -> str:
    """What a report says about the explainer that it is about, by the measure that decides, with what makes one doubt.

    Examples
    --------
    >>> import faithscope as fs
    >>> from faithscope.report.summary import summarize
    >>> rows = [[age] for age in range(200)]
    >>> result = fs.evaluate(["yes", "no"] * 100, ["old", "old", "young", "young"] * 50, rows)
    >>> print(headline(summarize(result)).partition(" (")[0])
    Rows with the same explanation are predicted alike 49.5% of the time
    """
    explainer = summary.first
    by = f"{explainer.name}: " if len(summary.explainers) > 1 else ""
    level, estimate = weakest_first(explainer.measures, summary.wanted)[0]
    if explainer.verdict.level == "consistent":
        estimate = next(each for each in explainer.measures if each.measure == "consistency")
    naming = [each for each in explainer.measures if each.beyond_random is not None]
    if explainer.verdict.level == "random" and naming:
        level, estimate = "chance", naming[0]
    sentence = _sentence(estimate, by, _worst_group(explainer, estimate), no_better=level in {"chance", "unfaithful"})
    sentence = sentence if by else sentence[:1].upper() + sentence[1:]
    return " ".join([sentence, *(f"Read with care: {doubt}." for doubt in explainer.doubts)])


def _sentence(estimate: Measured, by: str, group: str, *, no_better: bool) -> str:
    unknown = why_unknown(estimate)
    if unknown:
        return f"{by}whether the explanations are faithful cannot be told: {unknown}."
    confidence, ends = f"{100 * estimate.confidence:g}%", f"{percent_down(estimate.low)} to {percent_up(estimate.high)}"
    if (estimate.unverifiable and mostly_silent(estimate)) or not _lies_inside(estimate):
        told = f"at {confidence} confidence; {silent_rows(estimate)}, so that more cannot be told"
        between = f"between {ends.replace(' to ', ' and ')}"
        return f"{by}{holds(estimate, between)} ({told}){_chance(estimate, no_better=False)}."
    of_all = " of all rows" if estimate.unverifiable else ""
    share, interval = holds(estimate, f"{estimate.verified:.1%}"), f"{confidence} interval{of_all} {ends}"
    return f"{by}{share} ({interval}){group}{_chance(estimate, no_better=no_better)}."


def _lies_inside(estimate: Measured) -> bool:
    """Whether the agreement where it can be checked lies in the interval, which is about all rows."""
    return estimate.verified is not None and estimate.low <= estimate.verified <= estimate.high


def _chance(estimate: Measured, *, no_better: bool) -> str:
    """What chance would give; nothing for shares of variance, of which chance gives none."""
    if isinstance(estimate.agreement, Spread):
        return ", no more than chance would give" if no_better else ""
    if no_better and estimate.beyond_random is not None:
        random = estimate.value - estimate.beyond_random[0]
        return f"; that is no better than features drawn at random, which give {random:.1%}"
    what = "that is no better than chance, which gives" if no_better else "chance alone gives"
    return f"; {what} {estimate.chance:.1%}"


def _worst_group(explainer: Explainer, whole: Measured) -> str:
    """The group that is worst off, if that is no accident: below all rows, and below another group."""
    told = [each for each in explainer.populations if each.measure == whole.measure and each.compared != AMONG]
    groups = [each for each in told if not each.over_time]
    below = [
        (estimate.high, f"{each.by} {name}".strip(), estimate)
        for each in groups
        for name, estimate in each.groups
        if estimate.high < whole.low and _lies_inside(estimate) and name in _lower(each)
    ]
    if not below:
        return ""
    _, name, estimate = min(below, key=lambda group: group[0])
    return f"; among {name} {estimate.verified:.1%} ({percent_down(estimate.low)} to {percent_up(estimate.high)})"


def _lower(groups: Breakdown) -> set[str]:
    """The groups that are shown to be below another one; intervals of many differences hold together."""
    lower = {line.a for line in groups.differences[0] if line.high < 0}
    return lower | {line.b for line in groups.differences[0] if line.low > 0}
