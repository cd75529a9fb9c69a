"""Two systems that answer differently never share a cached answer, and the same system in a second process does."""

import json
import os
import re
import subprocess
import sys

import pytest

from laws.edits import EDITS

pytestmark = pytest.mark.slow

CHILD = """
import hashlib, importlib, json, sys, warnings
from pathlib import Path
import numpy as np
import faithscope as fs

rows = np.random.default_rng(0).normal(size=(60, 2))
answers = {}
for name in json.loads(sys.argv[1]):
    system = importlib.import_module(f"{name}.system")
    folder = Path("kept", name)
    before = set(folder.glob("*"))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        kept = fs.evaluate(system.predict, system.explainer, rows, cache=folder, progress=False)
    truth = fs.evaluate(system.predict, system.explainer, rows, progress=False)
    answers[name] = {
        "kept": hashlib.sha256(np.ascontiguousarray(kept.explanations.values)).hexdigest(),
        "truth": hashlib.sha256(np.ascontiguousarray(truth.explanations.values)).hexdigest(),
        "asked": len(set(folder.glob("explanations-*")) - before),
        "files": len(list(folder.glob("*"))),
        "told": [str(one.message) for one in told if "cache" in str(one.message)],
    }
print(json.dumps(answers))
"""


def package(name):
    return re.sub(r"\W", "_", name)


def answers(folder, seed):
    """What every system answers in a process of its own, through the cache and without it."""
    command = [sys.executable, "-c", CHILD, json.dumps([package(name) for name in EDITS])]
    env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join([str(folder), *sys.path])}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """The answers before the edits, again in a second process, and after the edits."""
    folder = tmp_path_factory.mktemp("edits")
    for name, one in EDITS.items():
        (folder / package(name)).mkdir()
        for file, text in one.files.items():
            (folder / package(name) / file).write_text(text.replace("PKG", package(name)))
    before = answers(folder, "1"), answers(folder, "2")
    for name, one in EDITS.items():
        path = folder / package(name) / one.file
        old, new = (text.replace("PKG", package(name)) for text in (one.old, one.new))
        path.write_text(path.read_text().replace(old, new))
        # Python takes a compiled file for the same where size and second are.
        os.utime(path, (0, 0))
    return *before, answers(folder, "3")


@pytest.mark.parametrize("name", EDITS)
def test_after_an_edit_the_cache_answers_as_if_there_were_none(runs, name):
    first, _, edited = (run[package(name)] for run in runs)
    assert first["truth"] == first["kept"]
    assert edited["truth"] != first["truth"], "the edit changes nothing"
    assert edited["kept"] == edited["truth"]


@pytest.mark.parametrize("name", EDITS)
def test_in_a_second_process_what_is_unchanged_is_found(runs, name):
    first, second, _ = (run[package(name)] for run in runs)
    assert first["told"] == second["told"] == []
    assert first["asked"] == 1
    assert (second["asked"], second["files"]) == (0, first["files"])
    assert second["kept"] == first["truth"]
