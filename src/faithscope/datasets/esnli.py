"""e-SNLI: the files of its authors' repository that hold pairs of sentences, labels and rationales, and their table.

O.-M. Camburu, T. Rocktäschel, T. Lukasiewicz and P. Blunsom, "e-SNLI: Natural Language Inference with Natural Language
Explanations", NeurIPS 2018. Development and test split, three rationales per pair; the training split has one.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

FOLDER = "https://raw.githubusercontent.com/OanaMariaCamburu/e-SNLI/"
FILES = (  # in the commits that added them, which never change
    "c39b05bcceff28b1ea0a7fcb2fec8bea086f7e94/dataset/s1.dev",
    "c39b05bcceff28b1ea0a7fcb2fec8bea086f7e94/dataset/s2.dev",
    "38f9d62ad6da930d0575e97bafa26023822130a5/dataset/eSNLI/preproc1_expl_1.dev",
    "38f9d62ad6da930d0575e97bafa26023822130a5/dataset/eSNLI/preproc1_expl_2.dev",
    "b42870ea843fcea851e767e4cc98228206506db2/dataset/preproc1_expl_3.dev",
    "38f9d62ad6da930d0575e97bafa26023822130a5/dataset/eSNLI/labels.dev",
    "c39b05bcceff28b1ea0a7fcb2fec8bea086f7e94/dataset/s1.test",
    "38f9d62ad6da930d0575e97bafa26023822130a5/dataset/eSNLI/s2.test",
    "38f9d62ad6da930d0575e97bafa26023822130a5/dataset/eSNLI/preproc1_expl_1.test",
    "b42870ea843fcea851e767e4cc98228206506db2/dataset/preproc1_expl_2.test",
    "b42870ea843fcea851e767e4cc98228206506db2/dataset/preproc1_expl_3.test",
    "38f9d62ad6da930d0575e97bafa26023822130a5/dataset/eSNLI/labels.test",
)
COLUMNS = ("premise", "hypothesis", "explanation_1", "explanation_2", "explanation_3", "label")


def parse(*contents: bytes) -> "pd.DataFrame":
    """The table that these files hold, in the order of `FILES`: one line per pair of sentences in each."""
    import pandas as pd

    tables = []
    for split, files in (("dev", contents[: len(COLUMNS)]), ("test", contents[len(COLUMNS) :])):
        # Without blanks at the ends of lines; some files end in a line break, and some do not.
        columns = ([line.strip() for line in content.decode().removesuffix("\n").split("\n")] for content in files)
        tables.append(pd.DataFrame({"split": split, **dict(zip(COLUMNS, columns, strict=True))}))
    return pd.concat(tables, ignore_index=True)
