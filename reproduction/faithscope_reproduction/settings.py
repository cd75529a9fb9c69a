"""Settings of a run: where rows come from, how many are explained, and what earlier runs have kept of it."""

import hashlib
import json
import sys
import time
from collections.abc import Iterable
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import faithscope as fs
from faithscope.datasets import cache_folder
from faithscope.runtime.files import write_atomically
from faithscope_reproduction.records import Begun, Compute, Outcome, Setting, Step

# About as many rows as the paper seems to have explained, or as many as an hour allows. As run, 8,000 rows of Adult,
# half of UCI's test rows, meet all that the paper prints of LIME there.
CAPS: dict[Setting, dict[str, int]] = {
    "as_defined": {"chess": 2_800, "avila": 5_000, "adult": 5_000, "covtype": 4_650},
    "as_run": {"chess": 2_800, "adult": 8_000, "covtype": 4_650},
}
_QUICK = 200


@cache
def sources() -> str:
    """A digest of all sources of both packages, but for what tells results: it decides what is stale.

    It is read once: files may be edited while a long step runs what they held before.
    """
    digest = hashlib.blake2b(digest_size=8)
    for folder in (Path(fs.__file__).parent, Path(__file__).parent):
        for file in sorted(folder.rglob("*.*")):
            if file.suffix in (".py", ".csv") and file.parent.name != "telling":
                digest.update(file.read_bytes())
    return digest.hexdigest()


@dataclass(frozen=True)
class Settings:
    """How a run is set up.

    Parameters
    ----------
    folder : path, optional
        The folder of data sets, as for `datasets.load`.
    cache : path
        Keeps data sets, models, explanations and results, so that an interrupted run goes on.
    quick : bool
        Few rows and small models: shows that everything runs; the numbers mean little.
    seed : int
    progress : None, bool or callable
        As for `evaluate`.
    pool : Executor, optional
        Computes steps in its processes; without it, they are computed where they are asked for.
    """

    folder: Path | None = None
    cache: Path = field(default_factory=lambda: cache_folder() / "reproduce")
    quick: bool = False
    seed: int = 0
    progress: Any = None
    pool: Executor | None = field(default=None, repr=False, compare=False)

    def rows(self, name: str, setting: Setting) -> int | None:
        """Cap on the number of test rows of a data set that are explained; None for no cap."""
        return _QUICK if self.quick else CAPS[setting].get(name)

    @property
    def explanations(self) -> Path:
        """The folder for ``cache=`` of `evaluate` and `compare`."""
        return self.cache / "explanations"

    def path(self, folder: str, name: str, *asked: Any) -> Path:
        """The file of an answer, named by what was asked, by the settings and by all sources."""
        question = [sources(), self.quick, self.seed, name, *asked]
        digest = hashlib.blake2b(json.dumps(question).encode(), digest_size=16).hexdigest()
        return self.cache / folder / f"{name.split()[0]}-{digest}"

    def each(self, part: str, compute: Compute, cases: Iterable[tuple[Any, ...]]) -> list[Begun]:
        """Begin a step of a part for each case, of whose words its name is made."""
        return [self.do(" ".join([part, *map(str, case)]), compute, *case) for case in cases]

    def do(self, name: str, compute: Compute, *given: Any) -> Begun:
        """Begin a step, which is given these settings last; what is kept of it is read."""
        path, begun = self.path("results", name), Begun()
        try:
            begun.set_result(Outcome.from_dict(json.loads(path.read_text("utf-8"))))
        except (OSError, ValueError):  # there is none, or it was cut short
            alone = replace(self, pool=None)
            if self.pool is not None:
                return self.pool.submit(alone._finish, path, name, compute, given)
            begun.set_result(alone._finish(path, name, compute, given))
        return begun

    def _finish(self, path: Path, name: str, compute: Compute, given: tuple[Any, ...]) -> Outcome:
        began = time.monotonic()
        outcome = compute(*given, self)
        seconds = time.monotonic() - began
        if self.progress is not False:
            print(f"{name}: done in {seconds:.0f} s", file=sys.stderr)
        when = datetime.now(UTC).isoformat(timespec="seconds")
        outcome = replace(outcome, seconds=seconds, steps=(Step(name, seconds, when),))
        write_atomically(path, json.dumps(asdict(outcome)).encode())
        return outcome
