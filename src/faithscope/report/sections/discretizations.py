"""How fine should explanations be? The consistency of each discretization."""

from faithscope.charts import specs
from faithscope.measures.telling import estimate_table
from faithscope.report.document import Block, Chart
from faithscope.report.explainer import Explainer, Question
from faithscope.report.sections.measures import drawn_row
from faithscope.report.wording import wording

_TITLE = "Consistency of each discretization"


def _ask(asked: Explainer) -> list[Block]:
    known = asked.attempt(DISCRETIZATIONS, "consistency", lambda: asked.result._discretized)
    if known is None or len(known) < 2:
        return []
    estimates = {wording(name): estimate for name, estimate in known.items()}
    rows = [drawn_row(name, estimate) for name, estimate in estimates.items()]
    table = estimate_table(("discretization",), [((name,), each) for name, each in estimates.items()], _TITLE)
    return [Chart(specs.estimates(rows), specs.in_words(rows), f"{_TITLE}."), table]


DISCRETIZATIONS = Question(
    "discretizations",
    "How fine",
    "How fine should explanations be?",
    "A [discretization] makes explanations coarser: fewer rows stand alone, so more can be checked, and each "
    "explanation says less.",
    subject="how fine explanations should be",
    ask=_ask,
)
