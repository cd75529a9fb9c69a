"""The parts of the paper, and how they are run."""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib import import_module
from multiprocessing import active_children, get_context, parent_process
from types import MappingProxyType
from typing import Any

from faithscope.errors import BadInput, FaithscopeError
from faithscope.inputs.hints import hint
from faithscope_reproduction.records import Outcome, Setting
from faithscope_reproduction.settings import Settings

# In the order of the paper; each is a module that has ID, TITLE and run.
PARTS = (
    "table1",
    "figure1",
    "figure2",
    "figure3",
    "table5",
    "figure4",
    "figure5",
    "table3",
    "table4",
    "figure7",
    "table6",
    "table7",
)
# Begun first, so that workers end together.
_LONGEST = ("table5", "table6", "figure2", "figure3", "table4", "table7", "table1")
# Trained before the parts that need them; the slowest first.
_WITH_MODELS = {"figure2", "figure3", "figure4", "table4", "table5", "table6", "table7"}
_MODELS: tuple[tuple[str, Setting], ...] = (
    *(("covtype", "as_run"), ("chess", "as_run"), ("avila", "as_run"), ("covtype", "as_defined")),
    *(("chess", "as_defined"), ("avila", "as_defined"), ("bank", "as_run")),
)
_BETWEEN = 10.0  # seconds between lines of a worker
_THREADS = "OMP_NUM_THREADS"
# What else the paper calls them: one part has the numbers of both.
ALSO = MappingProxyType({"table2": "table5", "figure6": "figure1", "figure8": "figure3"})


@dataclass(frozen=True)
class Part:
    """A part of the paper that was run."""

    name: str
    title: str
    outcome: Outcome


def chosen(names: Iterable[str]) -> list[str]:
    """Names of parts, each once and in the paper's order; all parts if no name is given."""
    asked = [ALSO.get(name.strip().lower(), name.strip().lower()) for name in names]
    for name in asked:
        if name not in PARTS:
            raise BadInput(f"The paper has no {name!r}. {hint(name, [*PARTS, *ALSO])}")
    return [name for name in PARTS if name in asked or not asked]


def run(
    names: Iterable[str], settings: Settings, told: Callable[[str], None] = lambda _: None, workers: int = 1
) -> list[Part]:
    """Run parts of the paper, one after the other or several at once.

    Parameters
    ----------
    names : iterable of str
        As in `PARTS` or `ALSO`; none for all parts.
    settings : Settings
    told : callable
        Called with a line of progress before each part; workers write their lines to standard error.
    workers : int
        Processes that run parts at the same time: most of the work is done by one core.
    """
    asked = chosen(names)
    if workers > 1 and len(asked) > 1:
        return _at_once(asked, settings, workers)
    return [_part(name, settings, told) for name in asked]


def _part(name: str, settings: Settings, told: Callable[[str], None]) -> Part:
    module = import_module(f"faithscope_reproduction.parts.{name}")
    told(f"{name}: {module.TITLE}")
    return Part(name, module.TITLE, module.run(settings))


def _at_once(names: list[str], settings: Settings, workers: int) -> list[Part]:
    first = [name for name in _LONGEST if name in names]
    others, many = set(active_children()), min(workers, len(names))
    with (
        _threads_of_each(workers),
        ProcessPoolExecutor(many, mp_context=get_context("spawn"), initializer=_follow_parent) as pool,
    ):
        models = [pool.submit(_train, *model, settings) for model in (_MODELS if _WITH_MODELS & set(names) else ())]
        asked = {name: pool.submit(_in_worker, name, settings) for name in dict.fromkeys([*first, *names])}
        try:
            for model in models:
                model.result()
            return [asked[name].result() for name in names]
        except BrokenProcessPool:
            raise FaithscopeError(
                "A worker process was killed, most likely because memory ran out. Finished steps are kept; "
                "continue with --workers 1."
            ) from None
        except BaseException:  # the pool would wait until all parts are done
            pool.shutdown(wait=False, cancel_futures=True)
            for worker in set(active_children()) - others:
                worker.terminate()
            raise


def _follow_parent() -> None:
    """End this worker when its parent ends, for whatever reason; Ctrl-C is for the parent to handle."""
    parent = parent_process()
    if parent is not None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        threading.Thread(target=_end_after, args=(parent,), daemon=True).start()


def _end_after(parent: Any) -> None:
    parent.join()
    os._exit(1)  # safe: files are written whole or not at all


def _train(name: str, setting: Setting, settings: Settings) -> None:
    """Keeps a model in the cache, so that two parts that need it at the same time do not both train it."""
    from faithscope_reproduction.models.trained import trained

    trained(name, settings, setting)


def _in_worker(name: str, settings: Settings) -> Part:
    lines = WorkerLines(name)
    settings = settings if settings.progress is False else replace(settings, progress=lines)
    return _part(name, settings, lines.say)


@dataclass(eq=False)
class WorkerLines:
    """Reports a worker's progress: at most one line per `_BETWEEN` seconds, with the name of its part."""

    name: str
    last: float = field(default_factory=time.monotonic)

    def __call__(self, phase: str, done: int, total: int) -> None:
        """Report that `done` of `total` rows of a phase are done."""
        if time.monotonic() - self.last >= _BETWEEN:
            self.last = time.monotonic()
            self.say(f"{self.name}: {phase}, {done:,} of {total:,} rows")

    def say(self, line: str) -> None:
        """Write a line to standard error."""
        print(line, file=sys.stderr, flush=True)


@contextmanager
def _threads_of_each(workers: int) -> Iterator[None]:
    """Processes that are started inside share the cores among their threads."""
    before = os.environ.get(_THREADS)
    if before is None:
        os.environ[_THREADS] = str(max(1, (os.cpu_count() or 1) // workers))
    try:
        yield
    finally:
        if before is None:
            del os.environ[_THREADS]
