"""For whom does it fail? The same measure for each population, and slices that were looked for."""

from faithscope.card import Cell, Sentence, Table
from faithscope.charts import specs
from faithscope.measures.comparing.differences import difference_tables
from faithscope.measures.comparing.populations import AMONG
from faithscope.measures.telling import estimate_table, intervals
from faithscope.report.document import Block, Chart, Group
from faithscope.report.explainer import Explainer, Question
from faithscope.report.result import Breakdown
from faithscope.report.sections.measures import drawn_row


def group_table(groups: Breakdown, title: str) -> Table:
    """The table of populations, and below it what is not shown and who is lower than the rest."""
    lines = [((name, Cell(f"{each.n:,}", each.n)), each) for name, each in groups.groups]
    more = (f"; {groups.more}" if groups.more else "") + (f". {groups.lower}" if groups.lower else "")
    return estimate_table((groups.by or "population", "rows"), lines, title, f"{intervals(lines[0][1])}{more}")


def _ask(explainer: Explainer) -> list[Block]:
    blocks: list[Block] = []
    if explainer.slices is not None:
        tables = explainer.slices._tables("Where rows agree less with everybody") if explainer.slices.found else []
        found = f"{explainer.slices.sentence} They were looked for on one half of the rows, and shown by the other."
        blocks += [Sentence(found), *tables]
    for groups in explainer.populations:
        title = groups.title[:1].upper() + groups.title[1:]
        rows = [drawn_row(name, estimate) for name, estimate in groups.groups]
        table = group_table(groups, title)
        blocks += [Chart(specs.estimates(rows), specs.in_words(rows), f"{title}.")]
        essential = groups.compared != AMONG and groups.measure == "consistency"
        blocks += [table if essential else Group([table], "detail")]
        differences, together = groups.differences
        pairs = len(differences)
        apart = difference_tables(differences, f"Differences by {groups.by or 'population'}", together, pairs)
        fold = f"Differences between populations ({pairs} {'pair' if pairs == 1 else 'pairs'})"
        blocks += [Group(apart, fold=fold)] if apart else []
    return blocks


POPULATIONS = Question(
    "populations",
    "For whom",
    "For whom does it fail?",
    "The same measure for each population. Beside everybody, its rows are compared with all rows: does somebody here "
    "get the prediction that anybody with that explanation gets? Among themselves, they are compared with each other "
    "alone; small populations are then silent on more of their rows, which makes their intervals wider.",
    ask=_ask,
    detail=False,
)
