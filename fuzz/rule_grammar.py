"""Fuzz the rule grammar: what is read is written and read back the same; what is not is refused in one sentence."""

import sys

from faithscope.errors import FaithscopeError
from faithscope.explanations.rule_text import parse_rule, write_rule
from faithscope.explanations.rules import Rules

LONGEST = 400  # characters of a sentence


def one_input(data: bytes) -> bool:
    """Whether these bytes are a rule; raises where the law is broken."""
    text = data.decode("utf-8", "surrogateescape")
    try:
        conditions = parse_rule(text)
        written = write_rule(conditions)
    except FaithscopeError as error:
        _refused(error)
        return False
    again = parse_rule(written)
    if again != conditions or write_rule(again) != written:
        raise AssertionError(f"{text!r} was read as {conditions!r}, written as {written!r} and read as {again!r}")
    try:
        rules = Rules.from_conditions([conditions])
    except FaithscopeError as error:
        _refused(error)
        return False
    if Rules.from_conditions(rules.to_conditions(), rules.features).describe(0) != rules.describe(0):
        raise AssertionError(f"{text!r} changes when its conditions are read again")
    return True


def _refused(error: FaithscopeError) -> None:
    message = str(error)
    if not message or len(message.splitlines()) != 1 or len(message) > LONGEST:
        raise AssertionError(f"not one sentence: {message!r}")


def main() -> None:
    """Fuzz for as long as the arguments of libFuzzer say."""
    import atheris

    atheris.instrument_all()
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
