"""How fine should explanations be? Consistency and uniqueness of each discretization."""

from typing import Any

from faithscope.charts import specs, upper_of
from faithscope.measures.telling import number
from faithscope.report.document import Block, Chart
from faithscope.report.explainer import Explainer, Question
from faithscope.report.wording import plain, wording
from faithscope.rounding import down, up
from faithscope.sinks.card import Cell, Table

_COLUMNS = ("discretization", "consistency", "interval", "unverifiable", "uniqueness", "explanations")


def _ask(asked: Explainer) -> list[Block]:
    known = asked.attempt(DISCRETIZATIONS, "consistency", lambda: asked.result._discretized)
    lines = [{name: plain(value) for name, value in line.items()} for line in known or ()]
    if len(lines) < 2:
        return []
    first = asked.measures[0]
    beside = {"measure": first.measure, "agreement": first.to_dict()["agreement"]}
    rows = [{**line, **beside, "name": wording(line["discretizer"]), "upper": upper_of(line)} for line in lines]
    table = Table(_COLUMNS, tuple(map(_row, rows)), 1, "Consistency of each discretization")
    return [Chart(specs.estimates(rows), specs.in_words(rows), "Consistency of each discretization."), table]


def _row(line: dict[str, Any]) -> tuple[str, ...]:
    shares = (Cell(f"{line[name]:.1%}", line[name]) for name in ("unverifiable", "uniqueness"))
    interval = Cell(f"{down(line['low'])}–{up(line['high'])}", line["low"])
    return line["name"], number(line["verified"]), interval, *shares, Cell(f"{line['distinct']:,}", line["distinct"])


DISCRETIZATIONS = Question(
    "discretizations",
    "How fine",
    "How fine should explanations be?",
    "A [discretization] makes explanations coarser: fewer rows stand alone, so more can be checked, and each "
    "explanation says less.",
    subject="how fine explanations should be",
    ask=_ask,
)
