"""The names that logs give to inputs, answers, explanations and ids."""

import re
from collections.abc import Sequence

from faithscope.errors import BadInput
from faithscope.inputs.hints import close

# Of each tier exactly one may occur; the next tier counts only if none of the first does. A "label" is often the truth.
ANSWERS = (("answer", "prediction", "predicted", "verdict", "decision"), ("output", "response", "completion"))
EXPLANATIONS = (
    ("explanation", "rationale", "reason", "reasons", "reasoning", "justification"),
    ("comment", "chain_of_thought", "cot", "thoughts", "thinking"),
)
INPUTS = (("input", "inputs"), ("prompt", "question", "query", "text", "document", "request"))
SAID = (*ANSWERS, ("label", "class", "category"))  # in a reply, where all of it is the model's
IDS = (("id", "custom_id", "sample_id", "trace_id", "case_id", "uuid"),)

_ABOUT = re.compile(r"(?:^|_)(?:id|index|time|timestamp|date|model|tokens|cost|seed|at)$")  # of a case, or of its call

Tiers = tuple[tuple[str, ...], ...]


def the_field(known: Sequence[str], tiers: Tiers, what: str, option: str) -> str | None:
    """The only field that has one of the names, in whatever case; None if there is none, an error if there are two."""
    for tier in tiers:
        named = sorted((name for name in known if _plain(name) in tier), key=lambda name: tier.index(_plain(name)))
        if len(named) > 1:
            raise BadInput(f"Both {named[0]!r} and {named[1]!r} may hold the {what}: say which, {option}={named[0]!r}.")
        if named:
            return named[0]
    return None


def _plain(name: object) -> str:
    return str(name).strip().lower()


def needed(known: Sequence[str], tiers: Tiers, what: str, option: str) -> str:
    """`the_field`, or an error if there is none."""
    name = the_field(known, tiers, what, option)
    if name is None:
        names = list(map(str, known))
        others = {word for tier in (*ANSWERS, *EXPLANATIONS, *INPUTS, *IDS) for word in tier}
        likely = [each for each in names if _plain(each) not in others and not _ABOUT.search(_plain(each))]
        named = [each for each in likely if what == "answer" and _plain(each) in SAID[-1]]
        near = next(iter(named or close(what, likely) or likely), None)
        listed = ", ".join(map(repr, names[:12])) or "none"
        truth = ", and what the model said, not the truth" if what == "answer" else ""
        advice = f"say which, such as {option}={near!r}{truth}" if near else f"read a log that holds the {what}"
        raise BadInput(f"No field looks like the {what}; there are {listed}: {advice}.")
    return name
