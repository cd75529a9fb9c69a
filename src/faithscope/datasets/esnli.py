"""e-SNLI: the files of its authors' repository that hold pairs of sentences, labels and rationales, and their table.

O.-M. Camburu, T. Rocktäschel, T. Lukasiewicz and P. Blunsom, "e-SNLI: Natural Language Inference with Natural Language
Explanations", NeurIPS 2018. Development and test split, three rationales per pair; the training split has one.
"""

from typing import TYPE_CHECKING

from faithscope.errors import BadInput

if TYPE_CHECKING:
    import pandas as pd

FOLDER = "https://raw.githubusercontent.com/OanaMariaCamburu/e-SNLI/"
_FIRST, _SECOND, _THIRD = (  # the commits that added the files, which never change
    "c39b05bcceff28b1ea0a7fcb2fec8bea086f7e94/dataset",
    "b42870ea843fcea851e767e4cc98228206506db2/dataset",
    "38f9d62ad6da930d0575e97bafa26023822130a5/dataset/eSNLI",
)
_SPLITS = {
    "dev": (
        f"{_FIRST}/s1.dev",
        f"{_FIRST}/s2.dev",
        f"{_THIRD}/preproc1_expl_1.dev",
        f"{_THIRD}/preproc1_expl_2.dev",
        f"{_SECOND}/preproc1_expl_3.dev",
        f"{_THIRD}/labels.dev",
    ),
    "test": (
        f"{_FIRST}/s1.test",
        f"{_THIRD}/s2.test",
        f"{_THIRD}/preproc1_expl_1.test",
        f"{_SECOND}/preproc1_expl_2.test",
        f"{_SECOND}/preproc1_expl_3.test",
        f"{_THIRD}/labels.test",
    ),
}
FILES = tuple(file for files in _SPLITS.values() for file in files)
COLUMNS = ("premise", "hypothesis", "explanation_1", "explanation_2", "explanation_3", "label")


def parse(*contents: bytes) -> "pd.DataFrame":
    """The table that these files hold, in the order of `FILES`: one line per pair of sentences in each."""
    import pandas as pd

    if len(contents) != len(FILES):
        raise BadInput(f"e-SNLI consists of {len(FILES)} files; got {len(contents)}: pass all of them, in order.")
    width = len(COLUMNS)
    parts = [contents[:width], contents[width:]]
    tables = [_table(split, files) for split, files in zip(_SPLITS, parts, strict=True)]
    return pd.concat(tables, ignore_index=True)


def _table(split: str, files: tuple[bytes, ...]) -> "pd.DataFrame":
    import pandas as pd

    columns = dict(zip(COLUMNS, map(_lines, files), strict=True))
    lengths = {len(lines) for lines in columns.values()}
    if len(lengths) > 1:
        counted = ", ".join(f"{name} {len(lines):,}" for name, lines in columns.items())
        raise BadInput(f"The files of the {split} split do not have equally many lines: {counted}.")
    return pd.DataFrame({"split": split, **columns})


def _lines(content: bytes) -> list[str]:
    """The lines without blanks at their ends; some files end in a line break, and some do not."""
    lines = content.decode().split("\n")
    return [line.strip() for line in (lines if lines[-1] else lines[:-1])]
