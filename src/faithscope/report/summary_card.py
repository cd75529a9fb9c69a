"""The card of a summary: verdicts, measures, populations, windows of time, differences and remarks."""

from dataclasses import replace

from faithscope.card import Card, Sentence, Table
from faithscope.measures.comparing.differences import difference_tables
from faithscope.report.explainer import Summary, remarks
from faithscope.report.sections.measures import by_measure, measures_table
from faithscope.report.sections.populations import group_table


def summary_card(summary: Summary, *, short: bool = False) -> Card:
    """What Markdown and a terminal show of a summary; rows of the data are left to the page.

    Parameters
    ----------
    short : bool
        Without differences, windows of time and discretizations, for which a terminal has no room.

    Examples
    --------
    >>> import faithscope as fs
    >>> from faithscope.report.summary import summarize
    >>> result = fs.evaluate(["yes", "no", "no", "no"], ["old", "old", "young", "young"], [[7], [8], [1], [2]])
    >>> summary_card(summarize(result)).sentences[0].text.partition(":")[0]
    'Cannot tell yet'
    """
    overview = measures_table(summary)
    tables: list[Table] = [replace(overview, wide=(*overview.wide, "discretization")) if short else overview]
    said = [Sentence(each.said, each.name, each.verdict.level) for each in summary.explainers]
    for each in summary.explainers:
        if each.slices is not None and short:
            said.append(Sentence(f"for whom does it fail?\n{each.slices}", each.name))
        elif each.slices is not None:
            tables += each.slices._tables(f"{each.name}: for whom does it fail?")
        for groups in each.populations:
            title = f"{each.name}: {groups.title}"
            if not (short and groups.over_time):
                tables.append(group_table(groups, title))
            if not short:
                tables += difference_tables(groups.differences[0], f"{title}: differences", groups.differences[1])
    for title, lines in () if short else by_measure(summary):
        tables += difference_tables(lines, title, summary.together)
    return Card(
        title=summary.title,
        sentences=tuple(said),
        tables=tuple(tables),
        notes=tuple(remark for each in summary.explainers for remark in remarks(each, over_time=not short)),
    )
