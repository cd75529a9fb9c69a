"""Two systems that answer differently never share a cached answer, and the same system in a second process does."""

import json
import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import pytest

from laws.edits import EDITS, NEEDED, files, package
from once import once_json

pytestmark = [pytest.mark.slow, pytest.mark.thorough]  # runs make systems in processes of their own
COMPUTED = {  # each time: what they name cannot be followed
    "a global by its name",
    "code in a text",
    "an empty constant imported inside",
    "a module imported inside",
    "a module imported inside under another name",
    "a function imported inside",
}

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
    truth = kept
    if sys.argv[2] != "2":  # whose truth is the first one's
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


def answers(folder, names, seed, after):
    """What each of these systems answers in a process of its own, through the cache and without it."""
    for name in names:
        for file, text in files(name, after).items():
            path = folder / package(name) / file
            path.parent.mkdir(exist_ok=True)
            if not path.exists() or path.read_text() != text:
                path.write_text(text)
                # Python takes a compiled file for the same where size and second are.
                os.utime(path, (after, after))
    command = [sys.executable, "-c", CHILD, json.dumps([package(name) for name in names]), seed]
    env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join([str(folder), *sys.path])}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    return {name: told[package(name)] for name in names}


def make(names):
    with tempfile.TemporaryDirectory() as folder:
        return [answers(Path(folder), names, seed, after) for seed, after in (("1", False), ("2", False), ("3", True))]


@pytest.fixture(scope="module", params=["light", "heavy"])
def runs(request):
    """The answers before the edits, again in a second process, and after the edits; once for all workers."""
    names = [name for name in EDITS if (name in NEEDED) == (request.param == "heavy")]
    return once_json(f"{request.param} edits", partial(make, names))


def test_after_an_edit_the_cache_answers_as_if_there_were_none(runs):
    first, _, edited = runs
    assert [name for name in first if first[name]["kept"] != first[name]["truth"]] == []
    assert [name for name in first if edited[name]["truth"] == first[name]["truth"]] == [], "the edit changes nothing"
    assert [name for name in first if edited[name]["kept"] != edited[name]["truth"]] == []


def test_in_a_second_process_what_is_unchanged_is_found(runs):
    for name in runs[0].keys() - COMPUTED:
        first, second, _ = (run[name] for run in runs)
        assert first["told"] == second["told"] == [], name
        assert first["asked"] == 1, name
        assert (second["asked"], second["files"]) == (0, first["files"]), name
        assert second["kept"] == first["truth"], name


def test_what_cannot_be_followed_is_not_kept_and_a_sentence_says_so(runs):
    for name in runs[0].keys() & COMPUTED:
        for run in runs:
            assert (run[name]["asked"], len(run[name]["told"])) == (0, 1), name
