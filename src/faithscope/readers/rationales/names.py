"""The names that logs give to inputs, answers, explanations and ids."""

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
IDS = (("id", "custom_id", "sample_id", "trace_id", "case_id", "uuid"),)

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
        near = (close(what, names) or names or [what])[0]
        listed = ", ".join(map(repr, names[:12])) or "none"
        truth = ", and what the model said, not the truth" if what == "answer" else ""
        raise BadInput(
            f"No field looks like the {what}; there are {listed}: say which, such as {option}={near!r}{truth}."
        )
    return name
