"""A lean part of benchmarks/esnli.py, and that the page on reasons shows what the study printed."""

import importlib
import os
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import faithscope as fs

ROOT = Path(__file__).parents[1]
KEPT = (ROOT / "benchmarks" / "results" / "esnli.txt").read_text().splitlines()
DATA = pytest.mark.skipif("FAITHSCOPE_DATA" not in os.environ, reason="FAITHSCOPE_DATA names no folder of data sets")


@pytest.fixture
def study(monkeypatch):
    """The study's modules; their folder comes last, so that its scripts hide no package."""
    monkeypatch.setattr(sys, "path", [*sys.path, str(ROOT / "benchmarks")])
    return importlib.import_module("esnli_rows"), importlib.import_module("esnli_tables")


def test_tables_of_the_page_are_those_that_the_study_printed():
    page = (ROOT / "docs" / "reasons.md").read_text()
    interval = re.compile(r"\[\d\.\d{3}, \d\.\d{3}\]")  # the study has three digits where lines of results have two
    shown = [line for block in re.findall(r"```text\n(.*?)```", page, re.S) for line in block.splitlines()]
    quoted = [line for line in shown if interval.search(line) and ";" not in line]
    assert len(quoted) > 30
    kept = {" ".join(line.split()) for line in KEPT}  # the page is narrower
    assert [line for line in quoted if " ".join(line.split()) not in kept] == []


def test_the_codebook_has_24_cues_and_none_that_names_a_label():
    codebook = fs.Codebook.load(ROOT / "examples" / "esnli_codebook.json")
    assert len(codebook.names) == 24
    naming = fs.Reasons(["entailment", "neutral", "contradiction", "entails", "contradicts"])
    assert codebook(naming).values.tolist() == [frozenset({"other"})] * 5


@DATA
def test_splits_share_no_row_and_every_premise_has_its_cluster(study):
    rows, _ = study
    dev, test = rows.splits()
    assert (len(dev.labels), len(test.labels)) == (9_842, 9_824)
    assert test.premises.nunique() == 3_323
    pairs = [set(zip(split.X["premise"], split.X["hypothesis"], strict=True)) for split in (dev, test)]
    assert not pairs[0] & pairs[1]


@DATA
def test_one_row_per_premise_is_drawn_alike_every_time(study):
    rows, tables = study
    _, test = rows.splits()
    chosen = tables.one_per_premise(test)
    assert test.premises.iloc[chosen].is_unique
    assert len(chosen) == 3_323
    assert (chosen == tables.one_per_premise(test)).all()


@DATA
@pytest.mark.slow
def test_the_study_prints_what_it_kept(study):
    rows, tables = study
    dev, test = rows.splits()
    codebook = fs.Codebook.load(rows.CODEBOOK)
    measured = fs.consistency(test.reasons(), test.labels, discretizer=codebook, clusters=test.premises)
    assert tables.told("codebook of 24 cues", measured) in KEPT
    words = test.take(np.arange(5)).documents
    assert all(word.startswith(("new:", "both:", "share:")) for text in words for word in text.split())
    assert np.mean(rows.fitted(dev).predict(test.documents) == test.labels) > 0.6
