"""What a result says in passing."""


def noted(result, words):
    """The notes of a result in which these words stand."""
    return [note for note in result.notes if words in note]
