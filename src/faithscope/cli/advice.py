"""Advice in notes, with options of the command line in place of Python's arguments."""

from dataclasses import replace

from faithscope.measures.estimate import Estimate
from faithscope.report.summary import Explainer, Groups, Summary

_OPTIONS = (
    ("pass clusters= with one value per case", "name a column that tells cases apart with --cluster"),
    ("pass clusters=", "pass --cluster"),
    ("measure without clusters=", "audit it without --cluster"),
)


def with_options(summary: Summary) -> Summary:
    """The same summary with advice that can be typed."""
    return replace(summary, explainers=tuple(map(_explainer, summary.explainers)))


def options_in(text: str) -> str:
    """Text with options in place of arguments.

    Examples
    --------
    >>> options_in("drop them, or pass clusters= with one value per case")
    'drop them, or name a column that tells cases apart with --cluster'
    """
    for argument, option in _OPTIONS:
        text = text.replace(argument, option)
    return text


def _explainer(explainer: Explainer) -> Explainer:
    return replace(
        explainer,
        measures=tuple(map(_estimate, explainer.measures)),
        populations=tuple(map(_groups, explainer.populations)),
        notes=tuple(map(options_in, explainer.notes)),
    )


def _groups(groups: Groups) -> Groups:
    return replace(groups, groups=tuple((name, _estimate(estimate)) for name, estimate in groups.groups))


def _estimate(estimate: Estimate) -> Estimate:
    return replace(estimate, notes=tuple(map(options_in, estimate.notes)))
