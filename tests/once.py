"""What is dear to make, made once for all workers of a run: the first that asks makes it, the others read it."""

import json
import os
import shutil
import tempfile
import time
from pathlib import Path

_FOLDER = "FAITHSCOPE_TEST_RUN"  # set by the process that starts the workers, which inherit it


def begin():
    """Make the folder that the workers of this run share."""
    os.environ[_FOLDER] = tempfile.mkdtemp(prefix="faithscope-tests-")


def end():
    """Remove that folder."""
    shutil.rmtree(os.environ.pop(_FOLDER), ignore_errors=True)


def once(name, make):
    """A folder that the first worker fills while the others wait; a making that fails is tried by the next."""
    folder = Path(os.environ[_FOLDER], name)
    half = folder.with_suffix(".half")
    while not folder.exists():
        try:
            half.mkdir()
        except FileExistsError:
            time.sleep(0.05)
            continue
        try:
            if not folder.exists():
                make(half)
                half.rename(folder)
        finally:
            shutil.rmtree(half, ignore_errors=True)
    return folder


def once_json(name, make):
    """What `make` answers, by way of JSON."""
    folder = once(name, lambda half: (half / "answer.json").write_text(json.dumps(make())))
    return json.loads((folder / "answer.json").read_text())
