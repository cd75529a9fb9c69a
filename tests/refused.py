"""What every refusal owes its reader: the right kind of error, with the words that help."""

import pytest


def refused(error, words, call, *given, **options):
    """The call raises this error, in whose message (one line, as errors are made) these words are found by `re`."""
    with pytest.raises(error, match=words):
        call(*given, **options)
