"""Notes on explanations that restate the prediction: whatever they say, they are then perfectly consistent."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.counting.profile import Counted
from faithscope.explanations.highlights import Highlights
from faithscope.explanations.rules import Rules
from faithscope.inputs.grouping import group
from faithscope.inputs.missing import missing_values
from faithscope.inputs.rows import take_rows
from faithscope.relations import Same
from faithscope.sample import Sample

Ints = NDArray[np.int64]

NO_MERIT = "perfect consistency is then no merit"
RESTATE = "restate the prediction if"
_FEWEST_ROWS = 20  # with fewer, a prediction may have a single explanation by accident
_FEWEST_OF_SECOND = 5  # rows of the second commonest prediction
PROBED = 1_000  # rows that are looked at first
_MISSING = object()


def restatement_notes(counts: Counted) -> tuple[str, ...]:
    """A note if every explanation has one prediction, and every prediction one explanation.

    The prediction as its own explanation is of this kind, and so are the two leaves of a tree with one split. Nothing
    is told of numbers, nor of few rows.

    Examples
    --------
    >>> from faithscope import count
    >>> restatement_notes(count(["yes", "no"] * 20, [1, 0] * 20))[0].partition(",")[0]
    'each prediction has exactly one explanation'
    >>> restatement_notes(count(["yes", "no", "no"] * 20, [1, 0, 1] * 20))
    ()
    """
    if counts.agreement.of_numbers or counts.relation != Same():
        return ()
    profile = counts.profile()
    predicted = np.count_nonzero(profile.label_rows)
    if profile.distinct != predicted or profile.modal != profile.n or not are_enough(profile.label_rows):
        return ()
    so = f"so these explanations say no more than the prediction itself; {NO_MERIT}"
    return (f"each prediction has exactly one explanation, {so}: check that they are reasons, not its other name",)


def are_enough(label_rows: Ints) -> bool:
    """Whether rows of several predictions are so many that what they share is no accident."""
    most = np.sort(label_rows)[::-1]
    return len(most) > 1 and int(most.sum()) >= _FEWEST_ROWS and int(most[1]) >= _FEWEST_OF_SECOND


def copy_notes(sample: Sample) -> tuple[str, ...]:
    """A note per column that rules test and that has one value per prediction; the like of highlighted words.

    Columns are compared with the predictions of 1,000 rows first, and those that pass with all of them.
    """
    if sample.agreement.of_numbers or sample.X is None:
        return ()
    names, numbers = sample.numbered_labels
    if not are_enough(np.bincount(numbers, minlength=len(names))):
        return ()
    if isinstance(sample.explanations, Rules):
        return tuple(_copied_columns(sample.explanations, sample.X, numbers))
    if isinstance(sample.explanations, Highlights):
        return _copied_words(sample.explanations, sample.X, numbers)
    return ()


def copy_note(feature: str, testing: int, rules: int) -> str:
    """The note on a column: how many of the different rules test it."""
    told = f"column {feature!r} has one value per prediction; rules that test it"
    return f"{told} ({testing:,} of {rules:,}) {RESTATE} it is a copy of it"


def rules_by_feature(rules: Rules) -> tuple[dict[str, int], int]:
    """By feature, how many of the different rules test it; and how many different rules there are."""
    given: list[Any] = [rules.distinct[code] for code in np.unique(rules.codes)]
    tests = (condition.feature for conjunction in given for condition in conjunction if condition.position >= 0)
    return dict(Counter(tests)), len(given)


def _copied_columns(rules: Rules, X: Any, numbers: Ints) -> Iterator[str]:
    testing, different = rules_by_feature(rules)
    first = take_rows(X, np.arange(min(PROBED, len(numbers))))
    for feature, times in testing.items():
        if one_to_one(_codes(rules._values(feature, first)), numbers[:PROBED]) and (
            len(numbers) <= PROBED or one_to_one(_codes(rules._values(feature, X)), numbers)
        ):
            yield copy_note(feature, times, different)


def _codes(column: NDArray[Any]) -> Ints:
    """The values of a column by number; missing ones are one value."""
    if column.dtype.kind != "O":
        return np.unique(column, return_inverse=True)[1].reshape(-1)
    column = column.copy()
    column[missing_values(column)] = _MISSING
    return group([column])[0]


def one_to_one(a: Ints, b: Ints) -> bool:
    """Whether rows that have the same number in one array have the same number in the other, and the reverse."""
    (_, a), (_, b) = (np.unique(codes, return_inverse=True) for codes in (a, b))
    a, b = a.reshape(-1), b.reshape(-1)
    groups = int(b.max(initial=-1)) + 1
    return int(a.max(initial=-1)) + 1 == groups == len(np.unique(a * groups + b))


def _copied_words(highlights: Highlights, X: Any, numbers: Ints) -> tuple[str, ...]:
    given = [highlights.distinct[code] for code in np.unique(highlights.codes)]
    words = list(dict.fromkeys(word for conjunction in given for word in conjunction))
    for rows in sorted({min(PROBED, len(numbers)), len(numbers)}):
        part = X if rows == len(numbers) else take_rows(X, np.arange(rows))
        words = _words_of_labels(highlights, words, part, numbers[:rows])
    if not words:
        return ()
    marked = sum(not set(words).isdisjoint(conjunction) for conjunction in given)
    told = f"each prediction has a word that all of its documents hold and no others, such as {words[0]!r}"
    return (f"{told}; highlights of such words ({marked:,} of {len(given):,}) {RESTATE} they are copies of it",)


def _words_of_labels(highlights: Highlights, words: Sequence[Any], X: Any, numbers: Ints) -> list[Any]:
    """The words that are in all documents of one label and in no others; none if some label has no such word."""
    if not words:
        return []
    which, rows = highlights.postings(words, X)
    _, label, size = np.unique(numbers, return_inverse=True, return_counts=True)
    pairs, times = np.unique(which * len(size) + label.reshape(-1)[rows], return_counts=True)
    word, of = np.divmod(pairs, len(size))
    marks = (times == size[of]) & (np.bincount(word, minlength=len(words))[word] == 1)
    return [words[number] for number in word[marks]] if len(np.unique(of[marks])) == len(size) else []
