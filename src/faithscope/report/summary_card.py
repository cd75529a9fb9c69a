"""The card of a summary: verdicts, measures, populations, windows of time, differences and remarks."""

from faithscope.measures.telling import caption, difference_tables, estimate_table, intervals
from faithscope.report.summary import Explainer, Groups, Summary, remarks
from faithscope.sinks.card import Card, Sentence, Table


def summary_card(summary: Summary) -> Card:
    """What Markdown shows of a summary; rows of the data are left to the page.

    Examples
    --------
    >>> import faithscope as fs
    >>> from faithscope.report.summary import summarize
    >>> result = fs.evaluate(["yes", "no", "no", "no"], ["old", "old", "young", "young"], [[7], [8], [1], [2]])
    >>> summary_card(summarize(result)).sentences[0].text.partition(":")[0]
    'Cannot tell yet'
    """
    explainers = summary.explainers
    several = len(explainers) > 1
    sentences = [Sentence(explainer.said, explainer.name) for explainer in explainers]
    groups = [table for each in explainers for table in _slices(each, several)]
    groups += [table for each in explainers for parts in each.populations for table in _groups(each, parts, several)]
    return Card(
        title=summary.title,
        sentences=tuple(sentences),
        tables=(_measures(summary), *groups, *_differences(summary)),
        notes=tuple(remark for explainer in explainers for remark in remarks(explainer, over_time=True)),
    )


def _measures(summary: Summary) -> Table:
    lines = [
        ((explainer.name, explainer.discretizer, estimate.measure), estimate)
        for explainer in summary.explainers
        for estimate in explainer.told
    ]
    chosen = f"; discretizations were chosen on {summary.rows_to_choose:,} other rows" if summary.rows_to_choose else ""
    below = f"{caption(lines[0][1])}; faithscope {summary.versions['faithscope']}{chosen}"
    return estimate_table(("explainer", "discretization", "measure"), lines, below=below)


def _slices(explainer: Explainer, several: bool) -> list[Table]:
    if explainer.slices is None:
        return []
    title = f"{f'{explainer.name}: ' if several else ''}for whom does it fail?"
    return explainer.slices.tables(title)


def _groups(explainer: Explainer, groups: Groups, several: bool) -> list[Table]:
    by = groups.by or "population"
    title = f"{f'{explainer.name}: ' if several else ''}{groups.title}"
    more = f"; {groups.left_out:,} more, whose intervals begin no lower, are not shown" if groups.left_out else ""
    more += f". {groups.lower}" if groups.lower else ""
    lines = [((name, f"{estimate.n:,}"), estimate) for name, estimate in groups.groups]
    table = estimate_table((by, "rows"), lines, title, f"{intervals(lines[0][1])}{more}")
    return [table, *difference_tables(groups.differences, f"{title}: differences", groups.together)]


def _differences(summary: Summary) -> list[Table]:
    """Differences of explainers, a table per measure."""
    measures = dict.fromkeys(line.measure for line in summary.differences)
    of_measure = {name: [line for line in summary.differences if line.measure == name] for name in measures}
    return [
        table
        for name, lines in of_measure.items()
        for table in difference_tables(lines, f"{name}: differences of explainers", summary.together)
    ]
