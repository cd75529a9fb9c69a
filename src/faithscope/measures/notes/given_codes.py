"""A note on codes that only one prediction gets: they are then consistent, whatever they say."""

from collections.abc import Collection
from typing import Any

import numpy as np

from faithscope.explanations.codes import Codes
from faithscope.measures.notes.restatement import NO_MERIT
from faithscope.sample import Sample
from faithscope.visible import visible


def given_code_notes(sample: Sample) -> tuple[str, ...]:
    """A note if all rows with a code are of one prediction, and all others of other ones."""
    if not isinstance(sample.explanations, Codes) or sample.agreement.of_numbers:
        return ()
    names, numbers = sample.numbered_labels
    has_code = np.fromiter(map(len, sample.explanations.values), np.int64, len(numbers)) > 0
    given, left = (np.unique(numbers[mask]).tolist() for mask in (has_code, ~has_code))
    return given_code_note([names[number] for number in given], [names[number] for number in left])


def given_code_note(given: Collection[Any], left: Collection[Any]) -> tuple[str, ...]:
    """The note, from the predictions of rows with a code, and of rows without one.

    Examples
    --------
    >>> given_code_note(["denied"], ["approved"])[0].partition(":")[0]
    'all rows predicted denied have codes and no other row has one; perfect consistency is then no merit'
    >>> given_code_note(["denied", "approved"], ["approved"])
    ()
    """
    if len(given) != 1 or not left or set(map(str, given)) & set(map(str, left)):
        return ()
    whom = f"all rows predicted {visible(str(next(iter(given))))} have codes and no other row has one"
    return (f"{whom}; {NO_MERIT}: log the codes of every decision, whatever it was, to check them",)
