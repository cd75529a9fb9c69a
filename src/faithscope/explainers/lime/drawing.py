"""What both ways of drawing share: the table, the model, and the classes explained."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.explainers.lime.draws import DrawnFeature
from faithscope.explainers.lime.outputs import AskedModel
from faithscope.explainers.shared.arrays import Floats
from faithscope.explainers.shared.blocks import Progress, blocks
from faithscope.explainers.shared.classes import chosen_classes
from faithscope.explainers.shared.table import Table, Unseen
from faithscope.runtime.memory import need

ADVICE = "pass fewer samples or features"
VALUES = 4_000_000  # drawn at once, 32 MB per array: more at once is no faster


@dataclass(frozen=True, eq=False)
class Drawing(ABC):
    """A way to draw rows around rows, and to fit linear models to what the model answers.

    Attributes
    ----------
    features : sequence of DrawnFeature
        What each feature is drawn from.
    samples : int
        Rows that each linear model is fitted to, the row itself included.
    """

    table: Table
    features: Sequence[DrawnFeature]
    asked: AskedModel
    class_index: int | str | None
    samples: int
    seed: int

    @abstractmethod
    def coefficients(self, rows: Floats, unseen: Unseen, progress: Progress | None) -> Floats:
        """One vector per row and class explained: (n, classes, d)."""

    def outputs(self, columns: list[NDArray[Any]], count: int) -> Floats:
        """Probabilities of every class, or numbers, for so many rows: (count, classes)."""
        parts = blocks(count, VALUES // len(columns))
        return self.asked.outputs((self.table.rebuild([column[part] for column in columns]) for part in parts), count)

    def choose(self, of_classes: Floats, own: Floats) -> Floats:
        """What is about the classes explained, from an array (n, classes, ...) and the rows' own outputs."""
        chosen = chosen_classes(self.class_index, own.shape[1])
        if chosen is not None:
            return of_classes[:, chosen]
        return np.asarray(of_classes[np.arange(len(own)), own.argmax(axis=1)][:, None])

    def need_memory(self, rows: int) -> None:
        """Raise if this many rows do not fit."""
        d = len(self.features)
        # Bytes of the places, values, gaps and terms of all draws, and of the moments of all pairs of features.
        size = rows * d * (27 * self.samples + 40 * d)
        need(size, f"{self.samples:,} draws around a row of {d:,} features", ADVICE)
