"""The half of a log's rows from which a discretizer learns, and what it learns there."""

from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from faithscope.discretizers import CommonPhrases, Discretizer
from faithscope.discretizers.base import steps
from faithscope.explanations.base import Explanations
from faithscope.explanations.reasons import Reasons
from faithscope.sample import first_half, learned_note
from faithscope.tables.engine.answers import batches, fetch_line
from faithscope.tables.sources.snapshot import changed

if TYPE_CHECKING:
    from faithscope.tables.log.reason_stream import BatchReasons, ReasonStream

_MODULUS = 2**64


@dataclass(eq=False)
class Halves:
    """Which rows of a log serve to learn: the same as in memory, if rows come in the same order.

    Attributes
    ----------
    half : (units,) array of bool
        Which rows, or clusters of rows, serve to learn.
    clusters : dict or None
        The number of each cluster, in the order of the log; None if rows are independent.
    looked : int
        How many rows serve to learn, those without a text included; none of them is measured.
    """

    half: NDArray[np.bool_]
    clusters: dict[Any, int] | None
    note: str = ""
    looked: int = 0
    _position: int = 0
    _order: int = 0  # a checksum of the texts in their order
    _expected: int | None = field(default=None)

    @classmethod
    def of(cls, stream: "ReasonStream") -> "Halves":
        """The halves of a log by the seed of its discretizer."""
        table, seed = stream.expression({}), stream.discretizer.seed
        if "u" not in table.columns:
            return cls(first_half(int(fetch_line(table.aggregate(n=table.count()))["n"]), seed), None)
        clusters: dict[Any, int] = {}
        for batch in batches(table.select("u"), stream.rows_at_once):
            for cluster in batch.column(0).to_pylist():
                clusters.setdefault(cluster, len(clusters))
        return cls(first_half(len(clusters), seed, "clusters"), clusters)

    def begin(self) -> None:
        """The rows are read from the first on."""
        self._position = self._order = 0

    def among(self, batch: Any, known: "BatchReasons") -> NDArray[np.bool_]:
        """Which rows of the next batch serve to learn."""
        place = self._position + np.arange(batch.num_rows)
        self._position += batch.num_rows
        texts = np.array([hash(text) for text in known.reasons.texts] or [0], np.int64).view(np.uint64)
        with np.errstate(over="ignore"):
            self._order += int((texts[known.row] * (2 * place.astype(np.uint64) + np.uint64(1))).sum())
        numbers = place if self.clusters is None else [self.clusters.get(c, -1) for c in batch.column("u").to_pylist()]
        if len(place) and (np.max(numbers) >= len(self.half) or np.min(numbers) < 0):
            raise changed("other rows later than at first")
        return self.half[numbers]

    def end(self) -> None:
        """All rows were read: in another order, other rows would be measured."""
        order = self._order % _MODULUS
        self._expected = order if self._expected is None else self._expected
        if order != self._expected:
            raise changed("rows came in another order, so that those from which phrases are learned are not known")

    def learned(self, stream: "ReasonStream") -> tuple[Discretizer, Discretizer]:
        """The discretizer as it learns from the texts as given, and from those with labels masked."""
        from ibis.util import gen_name

        chain, kept = steps(stream.discretizer), gen_name("faithscope_looked")
        at = next(place for place, step in enumerate(chain) if step.learns)
        named = self._keep(stream, chain[:at], kept)
        self.note = learned_note(stream.discretizer, self.looked)
        given = reduce(or_, (*chain[:at], _learned(stream, chain[at], kept, "t"), *chain[at + 1 :]))
        hidden = (
            reduce(or_, (*chain[:at], _learned(stream, chain[at], kept, "m"), *chain[at + 1 :])) if named else given
        )
        return given, given if hidden == given else hidden

    def _keep(self, stream: "ReasonStream", before: tuple[Discretizer, ...], name: str) -> bool:
        """Keep the texts that are learned from, as given and masked; whether any names a label."""
        self.begin()
        any_named = False
        for number, batch in enumerate(batches(stream.expression({}), stream.rows_at_once)):
            known = stream.batch_reasons(batch)
            looked = self.among(batch, known)
            self.looked += int(looked.sum())
            rows = looked & (known.row >= 0)
            named = stream.words.within(known.reasons)
            any_named |= any(map(bool, named))
            columns = {"t": known.reasons, "m": stream.words.masked(known.reasons, named)}
            texts = {side: _bytes(before, part) for side, part in columns.items()}
            kept = {side: [column[row] for row in known.row[rows].tolist()] for side, column in texts.items()}
            stream._put(kept, name, number)
        self.end()
        return any_named


def _bytes(before: tuple[Discretizer, ...], reasons: Explanations) -> list[bytes]:
    """Folded texts as bytes, after the discretizers that come before the one that learns."""
    for step in before:
        reasons = step(reasons)
    assert isinstance(reasons, Reasons)
    return [text.encode(errors="surrogatepass") for text in reasons.folded]


def _learned(stream: "ReasonStream", learner: Any, table: str, column: str) -> Discretizer:
    """What phrases are common among the texts that were kept, chosen from them as in memory."""
    import pyarrow as pa

    assert isinstance(learner, CommonPhrases)
    scratch = stream._connection.con
    place = f"row_number() OVER (ORDER BY {column}) - 1 AS place"
    counted = f"SELECT {column} AS t, count(*) AS n, {place} FROM {table} GROUP BY 1"
    different = int(scratch.execute(f"SELECT count(DISTINCT {column}) FROM {table}").fetchall()[0][0])
    scratch.register("chosen", pa.table({"place": pa.array(list(learner._places(different)), pa.int64())}))
    lines = scratch.execute(f"SELECT t, n FROM ({counted}) SEMI JOIN chosen USING (place)").fetchall()
    scratch.unregister("chosen")
    return learner._learned((bytes(text).decode(errors="surrogatepass"), int(n)) for text, n in lines)
