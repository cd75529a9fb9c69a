"""Workers end with the process that started them, however it ends, and it never waits for them."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fuzz.outcomes import injected

PATIENCE = 60  # seconds: only ever reached where something hangs

# A part of the paper that goes on for an hour; what is unpickled in a worker makes it known there.
PART = """
import os, pathlib, time
def step(settings):
    pathlib.Path(settings.folder, str(os.getpid())).touch()
    time.sleep(3600)
def run(name, settings):
    return settings.do(name, step).result()
"""
KNOWN = """
import pathlib
import faithscope_reproduction.parts
from faithscope_reproduction import running
running.PARTS = {name: (name, "an hour", 60) for name in ("one", "two", "three")}
running._WITHOUT_MODELS = {*running.PARTS}
faithscope_reproduction.parts.__path__.append(str(pathlib.Path(__file__).parent / "parts"))
class Known:
    def __call__(self, *_): pass
"""
PARENT = """
import pathlib, sys
from known import Known
from faithscope_reproduction import running
from faithscope_reproduction.settings import Settings

if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1])
    running.run([], Settings(folder, cache=folder, progress=Known()), workers=2)
"""

needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="this system has no /proc")


def ended(number):
    """Whether a process is over; one that nobody has asked about yet is."""
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def wait_until(so, what):
    deadline = time.monotonic() + PATIENCE
    while not so():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


@needs_proc
@pytest.mark.thorough
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_workers_end_with_their_parent(tmp_path, how):
    begun = tmp_path / "begun"
    (tmp_path / "parts").mkdir(), begun.mkdir()
    for name in ("one", "two", "three"):
        (tmp_path / "parts" / f"{name}.py").write_text(PART)
    (tmp_path / "known.py").write_text(KNOWN)
    (tmp_path / "parent.py").write_text(PARENT)
    path = os.pathsep.join([str(tmp_path), *sys.path])
    parent = subprocess.Popen(
        [sys.executable, str(tmp_path / "parent.py"), str(begun)],
        env={**os.environ, "PYTHONPATH": path},
        stderr=subprocess.PIPE,
        text=True,
    )
    workers = []
    try:
        wait_until(lambda: len(list(begun.iterdir())) == 2 or parent.poll() is not None, "no worker began")
        workers = [int(file.name) for file in begun.iterdir()]
        assert len(workers) == 2, parent.communicate()[1]
        parent.send_signal(how)  # to the parent alone, as a scheduler does
        parent.communicate(timeout=PATIENCE)
        assert parent.returncode != 0
        wait_until(lambda: all(map(ended, workers)), "workers go on without their parent")
        injected(f"the parent of workers gets {how.name}")
    finally:
        for number in [parent.pid, *workers]:
            if not ended(number):
                os.kill(number, signal.SIGKILL)
        parent.wait()
