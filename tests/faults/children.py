"""Children that are killed, and files that are full: what the tests of faults share."""

import errno
import io
import os
import signal
import time
import traceback
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest
from numpy.random import default_rng

import faithscope as fs
from faithscope.evaluation.cache import Cache

ROWS = default_rng(0).normal(size=(400, 3))


class Slow:
    """An explainer that takes its time with every part of the rows."""

    def __init__(self, seconds=0.0):
        self.seconds = seconds

    def __fingerprint__(self):
        return "slow"

    def explain(self, rows):
        time.sleep(self.seconds)
        return fs.Importances(np.round(np.asarray(rows, float)))


def above(rows):
    return np.asarray(rows)[:, 0] > 0


def evaluate(folder, seconds=0.0):
    """An evaluation in eight parts, kept in a folder."""
    return fs.evaluate(above, Slow(seconds), ROWS, cache=Cache(folder, rows=50), progress=False)


def expected():
    """The same without a cache."""
    return fs.evaluate(above, Slow(), ROWS, progress=False)


def same(evaluation, wanted):
    """Whether two evaluations say the same, to the last bit."""
    values = evaluation.explanations.values.tobytes() == wanted.explanations.values.tobytes()
    return (
        values
        and evaluation.consistency == wanted.consistency
        and evaluation.predictions.tolist() == wanted.predictions.tolist()
    )


def child(work):
    """The process id of a fork that does some work and nothing else; its status is 0 where that succeeds."""
    parent = os.getpid()
    number = os.fork()
    if number:
        return number
    status = 1
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        work()
        status = 0
    except KeyboardInterrupt:
        status = 130
    except BaseException:
        traceback.print_exc()
    finally:
        assert os.getpid() != parent
        os._exit(status)


def killed(work, after, how=signal.SIGKILL):
    """Start a child and send it a signal some seconds after it began to work; whether it was still at work.

    What is raised while a fork begins is ignored by Python, an interrupt too.
    """
    begun, begins = os.pipe()

    def works():
        os.write(begins, b"!")
        work()

    number = child(works)
    os.read(begun, 1)
    os.close(begun)
    os.close(begins)
    time.sleep(after)
    with suppress(ProcessLookupError):
        os.kill(number, how)
    _, status = os.waitpid(number, 0)
    return status != 0


def killed_once(work, begun):
    """Start a child and kill it as soon as something is so; whether it was still at work."""
    number = child(work)
    deadline = time.monotonic() + 60
    while not begun() and time.monotonic() < deadline:
        time.sleep(0.001)
    os.kill(number, signal.SIGKILL)
    return os.waitpid(number, 0)[1] != 0


def ended_well(number):
    return os.waitpid(number, 0)[1] == 0


class Full(io.FileIO):
    """A file on a disk that has room for so many more bytes."""

    room = 0
    why = errno.ENOSPC

    def write(self, content):
        content = memoryview(content).cast("B")
        left = self.room - self.tell()
        if len(content) > left:
            super().write(content[: max(0, left)])
            raise OSError(self.why, os.strerror(self.why))
        return super().write(content)


@contextmanager
def disk_full(room, why=errno.ENOSPC):
    """Every file that is opened for writing has room for so many bytes."""
    opened = Path.open
    kind = type("Full", (Full,), {"room": room, "why": why})

    def limited(path, mode="r", *args, **kwargs):
        return kind(path, mode.replace("b", "")) if set(mode) & set("xwa") else opened(path, mode, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "open", limited)
        yield


@contextmanager
def failing(owner, name, why=errno.EIO):
    """One call of the system fails."""

    def fails(*_, **__):
        raise OSError(why, os.strerror(why))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner, name, fails)
        yield


def everything(folder):
    """Every file below a folder by its path, with its content."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
