"""How many rows are enough? The curve of the unverifiable share, exact up to the rows there are, then a forecast."""

from faithscope.card import Sentence
from faithscope.charts import specs
from faithscope.measures.planning import Plan
from faithscope.report.document import Block, Chart, Group
from faithscope.report.explainer import Explainer, Question


def _ask(asked: Explainer) -> list[Block]:
    charts = [_chart(asked.name, measure, plan) for measure, plan in asked.plans.items()]
    return [Group([Group([chart]) for chart in charts], "pair")] if charts else []


def _chart(name: str, measure: str, plan: Plan) -> Block:
    tested, backtest = "", plan.backtest
    if backtest is not None:
        forecast = f"a forecast of {backtest.forecast:.1%} where {backtest.observed:.1%} was observed"
        tested = f"The same forecast, made from half of the rows, gave {forecast}."
    words = (
        f"Share of rows that cannot be checked by number of rows, {name}, {measure}: "
        f"{plan.unverifiable:.0%} at the {plan.n:,} rows there are; {plan.reason}."
    )
    caption = f"{measure.capitalize()}: {plan.reason}. {tested}"
    if len(plan.curve) < 2:  # one point is no picture
        return Sentence(caption)
    return Chart(specs.curve(plan), words, caption)


ROWS = Question(
    "rows",
    "How many rows",
    "How many rows are enough?",
    "The more rows, the fewer stand alone with their explanation. The curve is exact up to the rows there are, and a "
    "[forecast] beyond.",
    subject="how many rows are enough",
    ask=_ask,
)
