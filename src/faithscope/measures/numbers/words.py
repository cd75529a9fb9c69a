"""Agreements of numbers in words, as estimates, reports and charts say them."""

from typing import Any

from faithscope.agreements import Agreement, Close, OwnAgreement, Same, Spread, Tolerance
from faithscope.visible import visible


def named(agreement: Agreement) -> str:
    """The agreement as a reader may write it down: ``Close(eps=0.5)``, or the name of a function.

    Examples
    --------
    >>> named(Close(0.5))
    'Close(eps=0.5)'
    """
    if isinstance(agreement, OwnAgreement):
        return visible(str(getattr(agreement.function, "__name__", type(agreement.function).__name__)))
    return repr(agreement)


def agreeing(agreement: Agreement, share: str) -> str:
    """What holds of the predictions of rows that are explained alike, after "are", such as "alike 90% of the time".

    Parameters
    ----------
    share : str
        A share in words: "at least 90.0%".

    Examples
    --------
    >>> agreeing(Tolerance(2.0), "at least 90.0%")
    'predicted within 2 of each other at least 90.0% of the time'
    """
    if isinstance(agreement, Same):
        return f"predicted alike {share} of the time"
    if isinstance(agreement, Tolerance):
        return f"predicted within {told_number(agreement.eps)} of each other {share} of the time"
    if isinstance(agreement, Close):
        return f"predicted alike {share} on average (100% if equal, 0% if {told_number(agreement.eps)} or more apart)"
    return f"predicted alike {share} on average, by {named(agreement)}"


def described(agreement: Agreement) -> str:
    """What the agreement of two numbers is, in a sentence; empty for labels.

    Examples
    --------
    >>> described(Tolerance(2.0))
    'Two predictions agree if they are at most 2 apart.'
    """
    if isinstance(agreement, Same):
        return ""
    if isinstance(agreement, Spread):
        return "A measure is the share of the variance of the predictions that explanations account for."
    if isinstance(agreement, Tolerance):
        return f"Two predictions agree if they are at most {told_number(agreement.eps)} apart."
    if isinstance(agreement, Close):
        never = f"not at all if they are {told_number(agreement.eps)} or more apart"
        return f"Two predictions agree wholly if they are equal, {never}, and in proportion in between."
    return f"Two predictions agree from 0 to 1 by {named(agreement)}."


def told_number(value: Any) -> str:
    """A number in four digits; a vector in parentheses."""
    if isinstance(value, tuple | list):
        return f"({', '.join(map(told_number, value))})"
    return f"{value:,.4g}" if abs(value) < 1e4 or abs(value) >= 1e15 else f"{value:,.0f}"
