"""The card of a summary: verdicts, measures, populations, windows of time, differences and remarks."""

from faithscope.measures.comparing.differences import difference_tables
from faithscope.report.explainer import Summary, remarks
from faithscope.report.sections.measures import by_measure, measures_table
from faithscope.report.sections.populations import group_table
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
    named = [(f"{each.name}: " if len(summary.explainers) > 1 else "", each) for each in summary.explainers]
    tables: list[Table] = [measures_table(summary)]
    for name, each in named:
        tables += [] if each.slices is None else each.slices.tables(f"{name}for whom does it fail?")
    for name, each in named:
        for groups in each.populations:
            title = f"{name}{groups.title}"
            apart = difference_tables(groups.differences[0], f"{title}: differences", groups.differences[1])
            tables += [group_table(groups, title), *apart]
    for title, lines in by_measure(summary):
        tables += difference_tables(lines, title, summary.together)
    return Card(
        title=summary.title,
        sentences=tuple(Sentence(explainer.said, explainer.name) for explainer in summary.explainers),
        tables=tuple(tables),
        notes=tuple(remark for explainer in summary.explainers for remark in remarks(explainer, over_time=True)),
    )
