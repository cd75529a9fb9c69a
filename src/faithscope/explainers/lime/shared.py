"""One set of draws for all rows: the model is asked about `samples` rows in all, and about the rows themselves."""

from dataclasses import dataclass

import numpy as np

from faithscope.explainers.lime.drawing import ADVICE, Drawing
from faithscope.explainers.lime.draws import Places, draw_places
from faithscope.explainers.lime.regressions import Regressions
from faithscope.explainers.shared.arrays import Floats, Ints
from faithscope.explainers.shared.blocks import Progress
from faithscope.explainers.shared.seeds import canonical, generators
from faithscope.explainers.shared.table import Table, Unseen
from faithscope.inputs.grouping import group
from faithscope.runtime.memory import in_memory


@dataclass(frozen=True, eq=False)
class SharedDraws(Drawing):
    """Draws by one generator, whose seed is a hash of the seed alone."""

    @in_memory(ADVICE)
    def coefficients(self, rows: Floats, unseen: Unseen, progress: Progress | None) -> Floats:
        self.need_memory(1)
        drawn = self._draw()
        own, outputs = self._ask(drawn, rows, unseen)
        draws = np.stack([feature.seen_draws(places) for feature, places in zip(self.features, drawn, strict=True)])
        seen = np.column_stack([feature.seen(column) for feature, column in zip(self.features, rows.T, strict=True)])
        binned = np.array([feature.binned for feature in self.features])
        values = Regressions.of(draws, binned, outputs).coefficients(seen, own, progress)
        return self.choose(values, own)

    def _draw(self) -> Places:
        """Places (d, samples - 1): the row itself is the one more that each regression sees."""
        (generator,) = generators(self.seed, np.empty((1, 0)))
        return draw_places(generator, (len(self.features), self.samples - 1), len(self.features[0].values))

    def _ask(self, drawn: Places, rows: Floats, unseen: Unseen) -> tuple[Floats, Floats]:
        """The outputs of the rows themselves (n, classes), and of the draws (samples - 1, classes)."""
        which, first = _different(self.table, rows)
        rows, unseen = rows[first], unseen.take(first)
        columns = [
            np.concatenate([self.table.decode_column(j, rows[:, j], unseen), feature.values[drawn[j]]])
            for j, feature in enumerate(self.features)
        ]
        outputs = self.outputs(columns, len(first) + self.samples - 1)
        return outputs[: len(first)][which], outputs[len(first) :]


def _different(table: Table, rows: Floats) -> tuple[Ints, Ints]:
    """The number of each row, equal for equal rows, and the first row of each number.

    Rows with a category that no training row has are all different.
    """
    known = np.array([np.inf if known is None else len(known) for known in table.categories])
    strange = (rows > known).any(axis=1)
    return group([canonical(rows).view(np.int64), np.where(strange, np.arange(len(rows)), -1)[:, None]])
