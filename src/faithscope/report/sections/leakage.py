"""Do reasons name the answer? How many name a label, and their consistency with these words masked."""

from dataclasses import replace

from faithscope.card import Sentence
from faithscope.report.document import Block
from faithscope.report.explainer import Explainer, Question
from faithscope.rounding import down, up

_MASKED = "Consistency of the reasons as given, and with every word of a label masked"


def _ask(asked: Explainer) -> list[Block]:
    leak = asked.attempt(LEAKAGE, "consistency", asked.result._leakage)
    if leak is None:
        return []
    apart = leak.difference
    margin = f"{down(apart.low, 2, signed=True)} and {up(apart.high, 2, signed=True)}"
    names = f"{leak.share:.1%} of reasons name a label, {leak.own:.1%} that of their own row"
    sentence = f"{names}. As given less masked, consistency is {apart.value:+.3f} (between {margin})."
    consistency, *words = leak._tables()
    return [Sentence(sentence), replace(consistency, title=_MASKED), *words]


LEAKAGE = Question(
    "leakage",
    "Do reasons name the answer",
    "Do reasons name the answer?",
    "A reason that says the answer is as consistent as can be, and explains nothing. So the words of all labels are "
    "masked, and consistency is measured once more.",
    subject="whether reasons name a label",
    nothing="These explanations are no reasons in words, or no word names a label.",
    ask=_ask,
    detail=False,
)
