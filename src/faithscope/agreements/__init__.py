"""Agreements, K(y, y') in [0, 1]: how much two predictions agree. Equality of labels; closeness of numbers.

``dir(faithscope.agreements)`` lists those to choose from. `Agreement` is the base of all, and `OwnAgreement` is what a
function becomes.
"""

from faithscope.agreements.base import Agreement, Same
from faithscope.agreements.base import GroupedRows as GroupedRows
from faithscope.agreements.choice import OwnAgreement
from faithscope.agreements.choice import from_word as from_word
from faithscope.agreements.choice import to_agreement as to_agreement
from faithscope.agreements.numbers import Close, Spread, Tolerance
from faithscope.agreements.numbers import column_notes as column_notes
from faithscope.agreements.numbers import scaled as scaled

__all__ = ["Agreement", "Close", "OwnAgreement", "Same", "Spread", "Tolerance"]


def __dir__() -> list[str]:
    return [name for name in __all__ if name not in ("Agreement", "OwnAgreement")]
