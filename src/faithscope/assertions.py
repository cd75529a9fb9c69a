"""assert_faithful(): a faithfulness requirement as a line of a test suite."""

from typing import Any

from faithscope.errors import WrongType
from faithscope.explanations.inputs import check_share
from faithscope.measures.estimate import Estimate


class Unfaithful(AssertionError):
    """Explanations were not shown to be as faithful as asked."""


def assert_faithful(estimate: Any, at_least: float = 0.9) -> None:
    """Pass only if the true measure is at least this with the estimate's confidence: ``estimate.low >= at_least``.

    Parameters
    ----------
    estimate : Estimate or Evaluation
        Of an evaluation, its consistency is meant; its worst counterexamples are then part of the message.
    at_least : float
        Between 0 and 1.

    Raises
    ------
    Unfaithful
        An ``AssertionError`` that says what was measured, whether more rows could help, and where it fails.

    Examples
    --------
    >>> from faithscope import consistency
    >>> assert_faithful(consistency(["a", "b"] * 500, [0, 1] * 500), at_least=0.9)
    """
    check_share(at_least, "at_least")
    found = getattr(estimate, "consistency", estimate)
    if not isinstance(found, Estimate):
        raise WrongType(f"assert_faithful reads an Estimate or an Evaluation; got {type(estimate).__name__}.")
    if found.low < at_least:
        lines = [f"{found.measure} was not shown to be at least {at_least:g}: {_reason(found, at_least)}", str(found)]
        raise Unfaithful("\n".join([*lines, *_examples(estimate)]))


def _reason(found: Estimate, wanted: float) -> str:
    interval = f"the {100 * found.confidence:g}% interval is [{found.low:.3f}, {found.high:.3f}]"
    if found.high < wanted:
        return f"{interval}, all of it below; these explanations are less faithful than that"
    if found.upper < wanted or found.unverifiable == 0:
        return f"{interval}; more rows would make it narrower"
    return (
        f"{interval}, and {found.unverifiable:.0%} of the rows have an explanation that covers no other row; "
        "measure more rows, or make explanations coarser (fs.plan says how many rows)"
    )


def _examples(evaluation: Any, k: int = 3) -> list[str]:
    """The worst pairs of rows, where an evaluation is at hand."""
    if not hasattr(evaluation, "counterexamples"):
        return []
    pairs = evaluation.counterexamples(k).to_dict("records")
    return [
        f"rows {pair['row_a']} and {pair['row_b']} are predicted {pair['prediction_a']!r} and "
        f"{pair['prediction_b']!r}, with the same explanation: {pair['explanation']}"
        for pair in pairs
    ]
