"""Settings of a run: where rows come from and how many are explained; and the steps that earlier runs have kept."""

import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import faithscope as fs
from faithscope.datasets import cache_folder
from faithscope.errors import BadInput
from faithscope.runtime.files import write_atomically
from faithscope_reproduction.records import Outcome, Setting, Step

# About as many rows as the paper seems to have explained, or as many as an hour allows. As run, 8,000 rows of Adult,
# half of UCI's test rows, meet all that the paper prints of LIME there.
CAPS: dict[Setting, dict[str, int]] = {
    "as_defined": {"chess": 2_800, "avila": 5_000, "adult": 5_000, "covtype": 4_650},
    "as_run": {"chess": 2_800, "adult": 8_000, "covtype": 4_650},
}
_QUICK = 200
_ALONE = ("parts", "telling", "running.py", "settings.py")  # what parts do not share
_FORMAT = 2
_ALL = ("quick", "all_rows", "search", "dice", "seed")


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
    all_rows : bool
        Explain every test row.
    search : bool
        Choose the models' settings by the paper's grid, rather than take those of its Table 4.
    dice : bool
        Counterfactuals by the dice-ml package rather than by our own search.
    seed : int
    progress : None, bool or callable
        As for `evaluate`.
    """

    folder: Path | None = None
    cache: Path = field(default_factory=lambda: cache_folder() / "reproduce")
    quick: bool = False
    all_rows: bool = False
    search: bool = False
    dice: bool = False
    seed: int = 0
    progress: Any = None

    def __post_init__(self) -> None:
        if self.quick and self.all_rows:
            raise BadInput("A run cannot be both quick (few rows) and over all rows; choose one of the two.")

    def rows(self, name: str, setting: Setting) -> int | None:
        """Cap on the number of test rows of a data set that are explained; None for no cap."""
        if self.all_rows:
            return None
        return _QUICK if self.quick else CAPS[setting].get(name)

    @property
    def fresh(self) -> bool:
        """Whether the cache has nothing yet that an earlier run computed."""
        return not any(self.cache.joinpath(name).is_dir() for name in ("results", "explanations", "models"))

    @property
    def explanations(self) -> Path:
        """The folder for ``cache=`` of `evaluate` and `compare`."""
        return self.cache / "explanations"

    def question(self, *parts: Any, of: tuple[str, ...] = _ALL) -> str:
        """A digest of the parts and of those settings that can change the answer (`of`): names the answer's file."""
        asked = [_FORMAT, fs.__version__, *([name, getattr(self, name)] for name in of), *parts]
        return hashlib.blake2b(json.dumps(asked).encode(), digest_size=16).hexdigest()


@dataclass
class Steps:
    """The steps of one part. Each result is kept with the seconds it took, so that no step is computed twice.

    Parameters
    ----------
    settings : Settings
    part : module
        The part's module. Its ``ID`` and a digest of its source, and of all that parts share (modules, and what the
        paper prints), name the files of results, so that a changed part is computed anew.
    """

    settings: Settings
    part: ModuleType

    def __post_init__(self) -> None:
        # Read now: files may be edited while a long step runs what they held before.
        folder = Path(__file__).parent
        shared = [file for end in ("py", "csv") for file in sorted(folder.rglob(f"*.{end}"))]
        shared = [file for file in shared if file.relative_to(folder).parts[0] not in _ALONE]
        files = [Path(str(self.part.__file__)), *shared]
        self.source = hashlib.blake2b(b"".join(file.read_bytes() for file in files), digest_size=8).hexdigest()

    def do(self, name: str, compute: Callable[..., Outcome], *given: Any) -> Outcome:
        """The outcome of a step, read from the cache if it is there; its seconds are those of the first time."""
        path = self._path(name)
        kept = _read(path)
        if kept is not None:
            return replace(kept, steps=tuple(replace(step, kept=True) for step in kept.steps))
        began = time.monotonic()
        outcome = compute(*given)
        seconds = outcome.seconds + time.monotonic() - began
        when = datetime.now(UTC).isoformat(timespec="seconds")
        outcome = replace(outcome, seconds=seconds, steps=(Step(f"{self.part.ID} {name}", seconds, when),))
        write_atomically(path, json.dumps(outcome.to_dict()).encode())
        return outcome

    def _path(self, name: str) -> Path:
        return self.settings.cache / "results" / f"{self.part.ID}-{self.settings.question(self.source, name)}.json"


def _read(path: Path) -> Outcome | None:
    """The outcome of a step that was kept; None if there is no intact file."""
    try:
        return Outcome.from_dict(json.loads(path.read_text("utf-8")))
    except (OSError, ValueError, KeyError, TypeError):
        return None
