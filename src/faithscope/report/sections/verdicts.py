"""The verdicts, and the sentence on top of a report, to be quoted by itself: a verdict and the line of an estimate."""

from faithscope.measures.telling import WORDS, weakest_first
from faithscope.report.document import Finding, Findings, Section
from faithscope.report.explainer import Summary

ICONS = {
    "faithful": "✓",
    "consistent": "=",
    "unknown": "?",
    "partly": "◐",
    "random": "≈",
    "chance": "≈",
    "unfaithful": "✕",
}


def verdicts(summary: Summary) -> Section:
    """The section of the verdicts, the most faithful explainer first."""
    found, several = list[Finding](), len(summary.explainers) > 1
    for place, each in enumerate(summary.explainers):
        level = each.verdict.level
        said = each.verdict.sentence.removeprefix(f"{WORDS[level]}: ")  # which the badge says
        badge, said = f"{ICONS[level]} {each.verdict.word}", said[:1].upper() + said[1:]
        found.append(Finding(level, each.name, badge, said, each.doubts, place if several else None))
    return Section("verdicts", "Verdict", "Verdict", [Findings(found)])


def headline(summary: Summary) -> str:
    """What a report says about the explainer that it is about, by the measure that decides, with what makes one doubt.

    Examples
    --------
    >>> import faithscope as fs
    >>> from faithscope.report.summary import summarize
    >>> rows = [[age] for age in range(200)]
    >>> result = fs.evaluate(["yes", "no"] * 100, ["old", "old", "young", "young"] * 50, rows)
    >>> print(headline(summarize(result)).partition(";")[0])
    No better than chance: consistency 0.49, 95% interval [0.45, 0.54], chance 0.50
    """
    explainer = summary.explainers[summary.about]
    level = explainer.verdict.level
    decides = weakest_first(explainer.measures, summary.wanted)[0][1]
    if level in {"consistent", "random"}:  # said of consistency alone, and of the features that importances name
        decides = explainer.measures[0 if level == "consistent" else -1]
    by = f"{explainer.name}: " if len(summary.explainers) > 1 else ""
    doubts = (f"Read with care: {doubt}." for doubt in explainer.doubts)
    return " ".join([f"{by}{WORDS[level]}: {decides.line}.", *doubts])
