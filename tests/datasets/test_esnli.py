"""e-SNLI: twelve files of a repository, as they are written there, from a server of our own or from a folder."""

import pandas as pd
import pytest

from faithscope import datasets
from faithscope.datasets import catalog, esnli
from faithscope.errors import BadInput
from faults.serving import served
from refused import refused

# As in the repository: sentences end in a blank, rationales do not all, and their last line has no line break.
LINES = {
    "s1.dev": b"Two women are embracing . \nA man sells donuts \n",
    "s2.dev": b"The sisters hug . \nA man drinks coffee . \n",
    "preproc1_expl_1.dev": b"women may not be sisters .\nhe either sells donuts or drinks coffee .",
    "preproc1_expl_2.dev": b"not all women are sisters . \nselling is not drinking ;  he sells .",
    "preproc1_expl_3.dev": b"they may be friends .\nhe can not do both .",
    "labels.dev": b"neutral\ncontradiction\n",
    "s1.test": b"A choir sings . \n",
    "s2.test": b"There is song . \n",
    "preproc1_expl_1.test": b"singing is song .",
    "preproc1_expl_2.test": b"a choir makes song .",
    "preproc1_expl_3.test": b"`` sings '' means song .",
    "labels.test": b"entailment\n",
}
CONTENTS = {file: LINES[file.rpartition("/")[2]] for file in esnli.FILES}


@pytest.fixture
def repository(monkeypatch, tmp_path):
    """The repository, served here, and a cache of its own."""
    with served(monkeypatch, tmp_path) as server:
        server.files = dict(CONTENTS)
        server.stands_for("esnli", content=catalog.content_of(esnli.parse(*CONTENTS.values())))
        yield server


def path_of(name):
    return next(file for file in esnli.FILES if file.endswith(f"/{name}"))


def test_files_are_read_line_by_line_without_blanks_at_their_ends():
    table = esnli.parse(*CONTENTS.values())
    assert table.columns.tolist() == ["split", *esnli.COLUMNS]
    assert table["split"].tolist() == ["dev", "dev", "test"]
    assert table["label"].tolist() == ["neutral", "contradiction", "entailment"]
    assert table["premise"].tolist() == ["Two women are embracing .", "A man sells donuts", "A choir sings ."]
    assert table["explanation_2"].tolist()[:2] == [
        "not all women are sisters .",
        "selling is not drinking ;  he sells .",
    ]


def test_all_files_are_downloaded_checked_and_kept_as_one_table(repository, tmp_path):
    first, again = datasets.load("esnli"), datasets.load("esnli")
    assert sorted(repository.paths) == sorted(esnli.FILES)
    assert first.X.equals(again.X)
    assert first.classes == ("entailment", "neutral", "contradiction")
    assert [file.name for file in (tmp_path / "datasets").iterdir()] == ["esnli.parquet"]


def test_other_content_is_refused_and_not_kept(repository, tmp_path):
    for name, content, why in (
        ("labels.dev", b"neutral\n", "is not 'esnli' as published.*same length"),
        ("labels.test", b"neutral\n", "is not 'esnli' as published"),
        ("s1.test", b"\xff\xfe\n", "is not 'esnli' as published"),
    ):
        repository.files = CONTENTS | {path_of(name): content}
        refused(BadInput, why, datasets.load, "esnli")
        assert not (tmp_path / "datasets").exists()
    pd.DataFrame({"premise": ["a"], "hypothesis": ["b"]}).to_parquet(tmp_path / "esnli.parquet")
    refused(BadInput, "one column 'label'; it has ..premise', 'hypothesis'", datasets.load, "esnli", tmp_path)
