"""What every refusal owes its reader: the right kind of error, in one line, with the words that help."""

import pytest


def refused(error, words, call, *given, **options):
    """The call raises this error, whose message is one line that these words (a regular expression) are found in."""
    with pytest.raises(error, match=words) as caught:
        call(*given, **options)
    assert "\n" not in str(caught.value)
