"""The parts of the paper, and how they are run."""

import os
import signal
import sys
import threading
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from importlib import import_module
from multiprocessing import active_children, get_context, parent_process
from typing import Any

from faithscope.errors import BadInput, FaithscopeError
from faithscope.words import hint
from faithscope_reproduction.parts.sizes import accuracies
from faithscope_reproduction.records import Outcome
from faithscope_reproduction.settings import Settings

# In the order of the paper: the module that has its function `run`, its title, and about how many minutes it takes.
PARTS = {
    "table1": ("highlights", "Highlighted text: four explainers of a linear model of movie reviews", 3),
    "figure1": ("growth", "Decision trees: the larger the tree, the more rows it takes (with Figure 6)", 1),
    "figure2": ("one_record", "Two anchors of one record of Adult, and their local measures", 7),
    "figure3": ("thresholds", "Anchors by precision threshold (Figures 3 and 8)", 51),
    "table5": ("discretizations", "SHAP under six discretizations (Tables 2 and 5)", 39),
    "figure4": ("two_populations", "Two populations of Adult, four explainers", 7),
    "figure5": ("xor", "LIME on XOR: two rows, two labels, one explanation", 0),
    "table3": ("sizes", "Data sets", 0),
    "table4": ("sizes", "Models: settings and accuracy", 11),
    "figure7": ("growth", "Nearest neighbors: more rows for more neighbors, and for more training rows", 0),
    "table6": ("discretizations", "LIME under six discretizations", 26),
    "table7": ("discretizations", "Counterfactuals under four discretizations", 9),
}
# What else the paper calls them: one part has the numbers of both.
ALSO = {"table2": "table5", "figure6": "figure1", "figure8": "figure3"}
# Models are trained by steps of Table 4, before the parts that need them, which else would train them all at once.
_SLOWEST = ("covtype", "chess", "avila", "adult", "bank")
_WITHOUT_MODELS = {"table1", "table3", "figure1", "figure5", "figure7"}


@dataclass(frozen=True)
class Part:
    """A part of the paper that was run."""

    name: str
    title: str
    outcome: Outcome


def chosen(names: Iterable[str]) -> list[str]:
    """Names of parts, each once and in the paper's order; all parts if no name is given."""
    asked = [ALSO.get(name, name) for name in (name.strip().lower() for name in names)]
    for name in asked:
        if name not in PARTS:
            raise BadInput(f"The paper has no {name!r}. {hint(name, [*PARTS, *ALSO])}")
    return [name for name in PARTS if name in asked or not asked]


def run(names: Iterable[str], settings: Settings, workers: int = 1) -> list[Part]:
    """Run parts of the paper; progress is told on standard error.

    Parameters
    ----------
    names : iterable of str
        As in `PARTS` or `ALSO`; none for all parts.
    settings : Settings
    workers : int
        Processes that compute steps of parts at the same time: most of the work is done by one core.
    """
    asked = chosen(names)
    if workers == 1:
        return [_part(name, settings) for name in asked]
    others = set(active_children())
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # a core for each worker
    with (
        ProcessPoolExecutor(workers, get_context("spawn"), _follow_parent) as pool,
        ThreadPoolExecutor(len(asked)) as waiting,  # one for each part, which waits for its steps
    ):
        shared = replace(settings, pool=pool)
        # The longest first, so that workers end together.
        ordered = sorted(asked, key=lambda name: -PARTS[name][2])
        try:
            if {*asked} - _WITHOUT_MODELS:
                wait(shared.each("table4", accuracies, zip(_SLOWEST)))
            parts = {name: waiting.submit(_part, name, shared) for name in ordered}
            return [parts[name].result() for name in asked]
        except BrokenProcessPool:
            raise FaithscopeError(
                "A worker process was killed, most likely because memory ran out. Finished steps are kept; "
                "continue with --workers 1."
            ) from None
        except BaseException:  # the pool would wait until all steps are done
            pool.shutdown(wait=False, cancel_futures=True)
            for worker in set(active_children()) - others:
                worker.terminate()
            raise


def _follow_parent() -> None:
    """End this worker when its parent ends, for whatever reason; Ctrl-C is for the parent to handle."""
    parent: Any = parent_process()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Safe: files are written whole or not at all.
    threading.Thread(target=lambda: (parent.join(), os._exit(1)), daemon=True).start()


def _part(name: str, settings: Settings) -> Part:
    module, title, _ = PARTS[name]
    print(f"{name}: {title}", file=sys.stderr)
    return Part(name, title, import_module(f"faithscope_reproduction.parts.{module}").run(name, settings))
