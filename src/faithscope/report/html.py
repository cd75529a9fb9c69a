"""The report as one HTML file: no network, opens from disk; its sections in the order that a reader asks."""

from faithscope.report.document import Block, Document, Group, Picker, Section, missing
from faithscope.report.explainer import Explainer, Question, Summary
from faithscope.report.offline_page import page_of
from faithscope.report.sections import QUESTIONS
from faithscope.report.sections.agreement import LEAD
from faithscope.report.sections.glossary import glossary, meanings
from faithscope.report.sections.measures import measures
from faithscope.report.sections.method import facts, method
from faithscope.report.sections.verdicts import headline, verdicts

_PAPER = (
    "Measures and estimators: Dasgupta, Frost and Moshkovitz, “Framework for Evaluating Faithfulness of Local "
    "Explanations”, ICML 2022. Predictions are the model’s, never the truth."
)
_SHORT = (
    "Printed in short: how many rows are enough, what the explanations hide, how fine they should be, how all of it "
    "was computed, and what each word means stand in the page itself, under “Print everything” too."
)


def render(summary: Summary) -> str:
    """The report as one page, which needs nothing else."""
    return page_of(document(summary))


def document(summary: Summary) -> Document:
    """What the report shows."""
    many = len(summary.explainers) > 1
    words = glossary([estimate.agreement for estimate in summary.estimates])
    contradictions, *others = (_section(summary, question) for question in QUESTIONS)
    computed = [_part(many, place, each, [facts(each)]) for place, each in enumerate(summary.explainers)]
    agreement = Section("agreement", "Do they agree", "Do the explainers agree?", summary.agreement, LEAD, detail=True)
    sections: list[Section | Picker | None] = [
        verdicts(summary),
        contradictions,
        measures(summary),
        Picker("pick", "Details of") if many else None,
        *others[:-1],
        agreement if summary.agreement else None,
        others[-1],
        method(summary, computed),
        meanings(words),
    ]
    first, chosen = summary.estimates[0], ""
    subject = f"{len(summary.explainers):,} explainers of the same model" if many else "One explainer"
    if summary.rows_to_choose:
        chosen = f" Discretizations were chosen on {summary.rows_to_choose:,} other rows."
    confidence = f"Every statement about the truth holds with {100 * first.confidence:g}% confidence."
    return Document(
        "faithscope report",
        summary.title,
        headline(summary),
        f"{subject}, measured on {first.n:,} rows.{chosen} {confidence}",
        summary.created,
        [section for section in sections if section is not None],
        [each.name for each in summary.explainers] if many else (),
        words,
        [_PAPER],
        _SHORT,
        about=summary.about,
    )


def _section(summary: Summary, question: Question) -> Section | None:
    """What each explainer answers; None if none of them does."""
    many, answered = len(summary.explainers) > 1, False
    parts: list[Block] = [Picker("pick-rows", "Explained by")] if many and question is QUESTIONS[0] else []
    for place, explainer in enumerate(summary.explainers):
        unknown = [missing(each.sentence) for each in explainer.missing if each.section == question.anchor]
        told = explainer.parts[question.anchor]
        answered |= bool(unknown or told)
        blocks = [*unknown, *told] or ([missing(question.nothing)] if question.nothing else [])
        parts += [_part(many, place, explainer, blocks)] if blocks else []
    if not answered:
        return None
    return Section(question.anchor, question.label, question.title, parts, question.lead, question.detail)


def _part(many: bool, place: int, explainer: Explainer, blocks: list[Block]) -> Group:
    return Group(blocks, title=explainer.name if many else "", place=place)
