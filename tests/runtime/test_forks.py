"""A process that forks while threads of ours run: its children wait for nobody who is gone."""

import os
import threading
import time
from functools import cached_property

import pytest
from numpy.random import default_rng

import faithscope as fs
from faithscope.tables import connections

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
ROWS = default_rng(0).normal(size=(300, 3)).round(1)


def work():
    return fs.within(ROWS, ROWS[:, 0] > 0, 0.5).value


def status_of_a_child(task, patience=20.0):
    """How a forked child ends; None if it has not ended in time."""
    child = os.fork()
    if child == 0:
        try:
            task()
        except BaseException:
            os._exit(1)
        os._exit(0)
    until = time.monotonic() + patience
    while time.monotonic() < until:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status
        time.sleep(0.01)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return None


def properties():
    """All cached properties of ours that are loaded."""
    kinds = {kind for each in fs.Explanations.__subclasses__() for kind in each.__mro__} | {fs.Counts, fs.Estimate}
    return [held for kind in kinds for held in vars(kind).values() if isinstance(held, cached_property)]


def test_a_child_computes_while_a_thread_of_its_parent_is_in_the_middle_of_anything():
    wanted, locks = work(), [*filter(None, (getattr(each, "lock", None) for each in properties()))]
    held, over = threading.Event(), threading.Event()

    def holding():
        for lock in [*locks, connections._lock]:
            lock.acquire()
        held.set()
        over.wait()
        for lock in [*locks, connections._lock]:
            lock.release()

    def task():
        assert work() == wanted
        assert connections._lock.acquire(timeout=0)

    thread = threading.Thread(target=holding)
    thread.start()
    held.wait()
    try:
        assert status_of_a_child(task) == 0
    finally:
        over.set()
        thread.join()
