"""Do reasons name the answer? How many name a label, and their consistency with these words masked."""

from faithscope.measures.telling import number, numbers
from faithscope.report.document import Block, aside
from faithscope.report.question import Asked, Question
from faithscope.report.wording import wording
from faithscope.rounding import down, up
from faithscope.sinks.card import Sentence, Table

_MOST_WORDS = 8
_MASKED = "Consistency of the reasons as given, and with every word of a label masked"


def _ask(asked: Asked) -> list[Block]:
    leak = asked.attempt(LEAKAGE, "consistency", asked.result._leakage)
    if leak is None:
        return []
    apart = leak.difference
    margin = f"{down(apart.low, 2, signed=True)} and {up(apart.high, 2, signed=True)}"
    names = f"{leak.share:.1%} of reasons name a label, {leak.own:.1%} that of their own row"
    sentence = f"{names}. As given less masked, consistency is {apart.value:+.3f} (between {margin})."
    estimates = (("as given", leak.consistency), ("labels masked", leak.masked))
    rows = tuple((name, number(each.verified), numbers(each)[1], numbers(each)[3]) for name, each in estimates)
    table = Table(("reasons", "consistency", "interval", "unverifiable"), rows, 1, _MASKED)
    words = ", ".join(f"{wording(word)} {n:,}" for word, n in leak.words[:_MOST_WORDS])
    told = [aside(f"Words that name a label, and the reasons that have them: {words}.")] if words else []
    return [Sentence(sentence), table, *told]


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
