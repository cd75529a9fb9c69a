"""Data sets: where they are looked for, and how they are downloaded, from a server of our own."""

import gzip
import io
import os
import tarfile
import zipfile

import numpy as np
import pandas as pd
import pytest

from faithscope import datasets
from faithscope.datasets import catalog
from faithscope.errors import BadInput
from faults.serving import served
from refused import refused

HEART = b"63.0,1.0,1.0,145.0,233.0,1.0,2.0,150.0,0.0,2.3,3.0,0.0,6.0,0\n67,1,4,160,286,0,2,108,1,1.5,2,?,3.0,2\n"
ADULT = b"39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Unmarried, White, Male, 2174, 0, 40, ?, "
SOIL = b"0,1,0,0," + b"0," * 39 + b"1,"


def zipped(**members):
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "/").replace("_D", "-").replace("_P", "."), content)
    return held.getvalue()


def tarred(**members):
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w:gz") as archive:
        for name, content in members.items():
            member = tarfile.TarInfo("rt-polaritydata/rt-polarity." + name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return held.getvalue()


AVILA = b"0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1.0,"
ARCHIVES = {
    "heart": zipped(processed_Pcleveland_Pdata=HEART),
    "chess": zipped(krkopt_Pdata=b"a,1,b,3,c,2,draw\na,1,c,1,c,2,zero\n"),
    "avila": zipped(avila__avila_Dtr_Ptxt=AVILA + b"A\n", avila__avila_Dts_Ptxt=AVILA + b"F\n"),
    "bank": zipped(bank_Pzip=zipped(bank_Dfull_Pcsv=b'"age";"job";"y"\n58;"unknown";"no"\n44;"None";"yes"\n')),
    "adult": zipped(adult_Pdata=ADULT + b"<=50K\n\n", adult_Ptest=b"|1x3 Cross validator\n" + ADULT + b">50K.\n\n"),
    "covtype": zipped(covtype_Pdata_Pgz=gzip.compress(b"2596,51,3,258,0,510,221,232,148,6279," + SOIL + b"5\n")),
    "rt_polarity": tarred(neg=b"dull \nna\xefve plot \n", pos=b"great \n"),
}


@pytest.fixture
def server(monkeypatch, tmp_path):
    with served(monkeypatch, tmp_path) as server:
        yield server


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "datasets"


@pytest.fixture
def chess(server):
    """Chess, served by our server: two rows of it."""
    server.content = ARCHIVES["chess"]
    server.stands_for("chess", content=catalog.content_of(catalog.CATALOG["chess"].parse(server.content)))


LABELS = {
    "heart": [0, 1],
    "chess": ["draw", "zero"],
    "avila": ["A", "F"],
    "bank": ["no", "yes"],
    "adult": ["<=50K", ">50K"],
    "covtype": [5],
    "rt_polarity": [0, 0, 1],
}


def test_every_source_is_read_as_a_table_with_the_label_last():
    read = {name: catalog.CATALOG[name].parse(archive) for name, archive in ARCHIVES.items()}
    assert {name: table["label"].tolist() for name, table in read.items()} == LABELS
    assert {table.columns[-1] for table in read.values()} == {"label"}
    # Question marks are missing, and words like None are not.
    assert read["heart"]["ca"].isna().tolist() == [False, True]
    assert read["adult"]["native-country"].isna().all()
    assert read["bank"]["job"].tolist() == ["unknown", "None"]
    assert read["rt_polarity"]["text"][1] == "naïve plot "


def test_the_digest_of_the_content_sees_values_and_names_but_not_types():
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", None]})
    same = frame.astype({"a": "float64"}).astype({"b": object})
    assert catalog.content_of(frame) == catalog.content_of(same)
    others = [frame.rename(columns={"a": "c"}), frame.assign(a=[1, 3]), frame.assign(b=["x", "y"]), frame[::-1]]
    assert len({catalog.content_of(table) for table in [frame, *others]}) == 5


def test_a_download_is_checked_kept_and_not_repeated(server, chess, cache):
    first, again = datasets.load("chess"), datasets.load("chess")
    assert len(server.paths) == 1
    assert first.X.equals(again.X)
    assert first.classes == ("draw", "zero")
    assert first.categorical == ("white-king-file", "white-rook-file", "black-king-file")
    assert sorted(file.name for file in cache.iterdir()) == ["chess.parquet"]


def test_a_download_that_was_cut_off_is_tried_again(server, chess):
    server.faults = ["cut", 503, "cut"]
    assert datasets.load("chess").X.shape == (2, 6)
    assert len(server.paths) == 4


@pytest.mark.parametrize(("faults", "why"), [([404], "answered 404"), (["cut"] * 9, "connection ended|Incomplete")])
def test_what_cannot_be_reached_is_said_in_one_sentence(server, chess, faults, why):
    server.faults = faults
    with pytest.raises(BadInput, match=why) as caught:
        datasets.load("chess")
    assert "--data or FAITHSCOPE_DATA" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_content_that_is_not_the_papers_is_refused_and_not_kept(server, chess, cache):
    server.content = zipped(krkopt_Pdata=b"a,1,b,3,c,2,draw\n")
    refused(BadInput, "'chess' as published", datasets.load, "chess")
    assert not cache.exists()


NO_ARCHIVES = [
    *(("chess", content, "as published") for content in (b"<html>", b"PK\x03\x04")),
    ("chess", zipped(other=b"1"), "no krkopt"),
    *(("rt_polarity", content, "as published") for content in (b"", b"<html>", ARCHIVES["rt_polarity"][:60])),
    ("rt_polarity", tarred(neg=b"x \n"), "is not 'rt_polarity' as published"),
    ("covtype", zipped(covtype_Pdata_Pgz=b"1,2,3"), "as published"),
]


def test_an_archive_that_is_none_is_refused(server):
    for name, content, why in NO_ARCHIVES:
        server.content = content
        server.stands_for(name)
        refused(BadInput, why, datasets.load, name)


def test_an_archive_cannot_fill_memory(monkeypatch):
    monkeypatch.setattr(catalog, "_LARGEST", 1_000)
    refused(BadInput, "unpacks to more", catalog.CATALOG["chess"].parse, zipped(krkopt_Pdata=b"0" * 5_000))


def test_a_name_with_dots_never_leaves_the_archive(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    archive = zipped(**{".._P.__.._P.__krkopt_Pdata": b"a,1,b,3,c,2,draw\n"})
    assert len(catalog.CATALOG["chess"].parse(archive)) == 1
    assert not list(tmp_path.iterdir())


def test_a_cached_file_that_was_changed_is_downloaded_again(server, chess, cache):
    datasets.load("chess")
    pd.DataFrame({"a": [1], "label": ["draw"]}).to_parquet(cache / "chess.parquet")
    with pytest.warns(UserWarning, match="changed after"):
        assert len(datasets.load("chess").y) == 2
    assert len(server.paths) == 2


def test_a_named_folder_comes_first_and_then_the_environment(chess, server, tmp_path, monkeypatch):
    folders = []
    for label in ("draw", "zero"):
        folders.append(tmp_path / label)
        folders[-1].mkdir()
        pd.DataFrame({"a": [1.0], "label": [label]}).to_parquet(folders[-1] / "chess.parquet")
    monkeypatch.setenv("FAITHSCOPE_DATA", str(folders[1]))
    with pytest.warns(UserWarning, match="the rows of 'chess' as published"):
        assert datasets.load("chess", folders[0]).y.tolist() == ["draw"]
    with pytest.warns(UserWarning, match="the rows of 'chess' as published"):
        assert datasets.load("chess").y.tolist() == ["zero"]
    assert server.paths == []


def test_what_is_not_there_is_answered_with_what_there_is(tmp_path):
    np.savetxt(tmp_path / "x.csv", [1])
    refused(BadInput, r"has no chess\.parquet; it has no Parquet file", datasets.load, "chess", tmp_path)
    refused(BadInput, "choose among heart, chess", datasets.load, "iris")


@pytest.mark.skipif("FAITHSCOPE_DATA" not in os.environ, reason="FAITHSCOPE_DATA names no folder of data sets")
@pytest.mark.thorough
def test_the_real_files_hold_what_the_catalog_says(recwarn):
    sizes = {name: datasets.load(name).X.shape for name in datasets.NAMES}
    assert sizes["adult"] == (48_842, 14)
    assert not recwarn.list
