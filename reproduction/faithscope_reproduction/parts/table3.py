"""Table 3: the data sets."""

import sys

from faithscope.datasets import PAPER, load
from faithscope_reproduction.models.reviews import vocabulary_size
from faithscope_reproduction.printed import printed
from faithscope_reproduction.records import Outcome, Record, Setting, total
from faithscope_reproduction.settings import Settings, Steps

ID = "table3"
TITLE = "Data sets"
_CHESS = (
    "the file has 18 labels, draw and the depths zero to sixteen; 17 is what remains if the words are mapped to the "
    "numbers 0 to 16 and draw, which is no number, is left out of the count (arithmetic alone)"
)


def run(settings: Settings) -> Outcome:
    """How many classes, rows and features each data set has."""
    steps = Steps(settings, sys.modules[__name__])
    return total(steps.do(name, _of_data_set, name, settings) for name in PAPER)


def _of_data_set(name: str, settings: Settings) -> Outcome:
    dataset = load(name, settings.folder)
    rows, columns = dataset.X.shape
    if name != "rt_polarity":
        sizes = {"classes": len(dataset.classes), "n": rows, "d": columns}
        return Outcome((*_records(name, "as_defined", sizes), *_records(name, "as_run", sizes)))
    texts = dataset.X["text"].tolist()
    ascii_only = [text for text in texts if text.isascii()]
    whole = {"classes": 2, "n": rows, "d": vocabulary_size(texts)}
    used = {"classes": 2, "n": len(ascii_only), "d": vocabulary_size(ascii_only, train_only=True)}
    return Outcome((*_records(name, "as_defined", whole), *_records(name, "as_run", used)))


def _records(name: str, setting: Setting, sizes: dict[str, int]) -> list[Record]:
    return [
        Record(
            ID, name, measure, setting, sizes["n"], ours, printed(ID, measure, dataset=name), note=_note(name, setting)
        )
        for measure, ours in sizes.items()
    ]


def _note(name: str, setting: Setting) -> str:
    if name == "chess":
        return _CHESS
    if name == "rt_polarity":
        whole = "all documents, and all words of all of them"
        used = "documents in pure ASCII, and the words of the training four fifths"
        return whole if setting == "as_defined" else used
    return ""
