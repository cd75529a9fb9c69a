"""Necessity in words: how many of the rows with a prediction the explanation of one of them covers. No verdict."""

from faithscope.measures.estimate import Estimate


def recall_sentence(estimate: Estimate) -> str:
    """What necessity says, beside the share of all rows that explanations cover.

    Examples
    --------
    >>> from faithscope import Rules, necessity
    >>> rules = Rules.from_conditions([[("age", "<=", 40.0)]] * 20, features=["age"])
    >>> recall_sentence(necessity(rules, [0, 1] * 10, [[25.0], [51.0]] * 10))
    'Explanations apply to 50% of the other rows with the same prediction (13% to 87%), and to 50% of all others.'
    """
    same = "of the other rows with the same prediction"
    if estimate.agreement.of_numbers:
        same = "of the other rows, each by how much its prediction agrees"
    if estimate.verified is None:
        return f"Nothing can be told of necessity: there are no others {same[3:]}."
    between = f"({estimate.low:.0%} to {estimate.high:.0%})"
    chance = "" if estimate.chance is None else f", and to {estimate.chance:.0%} of all others"
    return f"Explanations apply to {estimate.verified:.0%} {same} {between}{chance}."
