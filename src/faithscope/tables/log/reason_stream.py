"""Reasons in words, folded, discretized and searched for labels here, batch by batch; each different text once."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.discretizers import Codebook, Discretizer, Original
from faithscope.discretizers.base import steps
from faithscope.explanations.base import Explanations
from faithscope.explanations.keys import Plain
from faithscope.explanations.reasons import Reasons, empty_note, per_text
from faithscope.inputs.arrays import to_objects
from faithscope.inputs.folding import fold
from faithscope.inputs.grouping import group
from faithscope.measures.named_labels import LabelWords
from faithscope.tables.log.kinds import ReasonColumn, ReasonKeys
from faithscope.tables.log.reason_halves import Halves
from faithscope.tables.log.streaming import KEY, Stream

MASKED, WORDS = "m0", "w0"  # the key once labels are masked, null if it is the same; the words of labels, as JSON

_MOST_ROWS = 2**17
_CHARACTERS = 2**25  # of the texts of a batch

Columns = dict[str, Any]


@dataclass(frozen=True, eq=False)
class BatchReasons:
    """The different reasons of a batch of rows.

    Attributes
    ----------
    reasons : Reasons
    first : (m,) array of int
        The first row of the batch that has each.
    row : (n,) array of int
        Which of them each row has; -1 if its text is missing.
    """

    reasons: Reasons
    first: NDArray[np.int64]
    row: NDArray[np.int64]

    def per_row(self, values: Sequence[Any], kind: Any) -> Any:
        """An Arrow column of what each row's reason has."""
        import pyarrow as pa

        return pa.array(list(values), kind).take(pa.array(self.row, mask=self.row < 0))

    def rows(self, kept: NDArray[np.bool_] | None) -> NDArray[np.int64]:
        """How many of the kept rows have each reason."""
        row = self.row if kept is None else self.row[kept]
        return np.bincount(row[row >= 0], minlength=len(self.reasons))


@dataclass(eq=False, kw_only=True)
class ReasonStream(Stream):
    """Reasons in words: the columns t (as written), f (folded, if the log has it), a0 … (inputs), u (clusters).

    Attributes
    ----------
    kind : ReasonColumn
    discretizer : Discretizer
        One that knows the labels of the log, if it asks for them.
    words : LabelWords
        The words that name labels.
    length : float
        The mean number of characters of a text.
    halves : Halves or None
        From which rows the discretizer learned, if it learns; these are not measured.
    """

    kind: ReasonColumn
    discretizer: Discretizer
    words: LabelWords
    length: float = 1.0
    halves: Halves | None = field(default=None, init=False)
    settled: Discretizer = field(init=False)
    _hidden: Discretizer = field(init=False)  # the same for masked texts, which may have learned otherwise
    _names: "Counter[str]" = field(default_factory=Counter, init=False)
    _empty: "Counter[str]" = field(default_factory=Counter, init=False)
    _read_rows: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        from ibis.util import gen_name

        self._written = gen_name("faithscope_written")  # a table of folded texts with a text as written and its place
        self.rows_at_once = int(max(1, min(_MOST_ROWS, _CHARACTERS / max(1.0, self.length))))
        self.settled = self._hidden = self.discretizer
        if self.discretizer.learns:
            self.halves = Halves.of(self)
            self.settled, self._hidden = self.halves.learned(self)
        none = np.empty(0, object)
        nothing = self.settled(Reasons.made(none, none, none, self.kind.form))
        sets = not isinstance(nothing, Reasons)
        form = nothing.form if isinstance(nothing, Reasons) else ""
        self.coarse_kind = ReasonKeys(form, sets, self._as_written)

    @property
    def looked(self) -> int:
        """How many rows served to learn, and are not measured."""
        return 0 if self.halves is None else self.halves.looked

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know of the reasons that were measured."""
        last = next(iter(reversed(steps(self.settled))), None)
        rows = np.array([self._names[name] for name in last.names]) if isinstance(last, Codebook) else None
        of_codebook = () if rows is None else last._notes(rows, self._measured)  # type: ignore[union-attr]
        empty = dict.fromkeys(note for side in ("coarse", "given") for note in empty_note(self._empty[side]))
        learned = () if self.halves is None else (self.halves.note,)
        return (*of_codebook, *empty, *learned)

    @property
    def _measured(self) -> int:
        return (self.rows or 0) - self.looked

    def batch_reasons(self, batch: Any) -> BatchReasons:
        """The different reasons of a batch."""
        names = [name for name in ("t", "f", *self._inputs(batch)) if name in batch.schema.names]
        held = [self._texts(batch, name) for name in names]
        missing = np.array([text is None for text in held[0]], bool)
        columns = [to_objects(["" if text is None else text for text in column]) for column in held]
        codes, first = group(columns)
        texts, *others = (column[first] for column in columns)
        folded = others.pop(0) if self.kind.written else per_text(texts, fold)
        about = np.full(len(texts), None, object)
        if others:
            about = to_objects(["\n".join(row) for row in zip(*others, strict=True)])
        return BatchReasons(Reasons.made(texts, folded, about, self.kind.form), first, np.where(missing, -1, codes))

    def _inputs(self, batch: Any) -> list[str]:
        return [name for name in batch.schema.names if name.startswith("a")]

    def _texts(self, batch: Any, name: str) -> list[str | None]:
        texts = batch.column(name).to_pylist()
        if not (self.kind.written and name in "tf" and self.kind.json["ft".index(name)]):
            return list(texts)
        return [None if text is None else json.loads(text) for text in texts]

    def _begin(self) -> None:
        self._read_rows = 0
        if self.halves is not None:
            self.halves.begin()

    def _end(self) -> None:
        if self.halves is not None:
            self.halves.end()

    def _keyed(self, batch: Any, start: int) -> tuple[Columns, NDArray[np.bool_] | None]:
        import pyarrow as pa

        known = self.batch_reasons(batch)
        kept = None if self.halves is None else ~self.halves.among(batch, known)
        named = self.words.within(known.reasons)
        coarse = self.settled(known.reasons)
        keys = key_bytes(coarse)
        if self.first:
            self._count(known, coarse, kept)
            self._keep_written(known, keys)
        self._read_rows += batch.num_rows
        words = [json.dumps(phrases) if phrases else None for phrases in named]
        columns: dict[str, Sequence[Any]] = {KEY: keys, MASKED: self._masked(known.reasons, named), WORDS: words}
        kinds = (pa.binary(), pa.binary(), pa.string())
        return {n: known.per_row(v, kind) for (n, v), kind in zip(columns.items(), kinds, strict=True)}, kept

    def _masked(self, reasons: Reasons, named: NDArray[Any]) -> list[bytes | None]:
        """The keys of reasons once labels are masked; None if they are those of the reasons as given."""
        keys: list[bytes | None] = [None] * len(reasons)
        changed = np.array([bool(phrases) for phrases in named], bool)
        rows = np.arange(len(reasons)) if self._hidden is not self.settled else np.flatnonzero(changed)
        if not len(rows):
            return keys
        part = self.words.masked(reasons.take(rows), named[rows])
        for row, key in zip(rows.tolist(), key_bytes(self._hidden(part)), strict=True):
            keys[row] = key
        return keys

    def _count(self, known: BatchReasons, coarse: Explanations, kept: NDArray[np.bool_] | None) -> None:
        """Count in how many rows each name occurs, and how many texts are empty, for the notes."""
        rows = known.rows(kept).tolist()
        if isinstance(coarse, Plain):
            for names, many in zip(coarse.values, rows, strict=True):
                self._names.update(dict.fromkeys(names, many))
        sides = {"given": known.reasons, "coarse": coarse}
        for side, reasons in sides.items():
            if isinstance(reasons, Reasons):
                self._empty[side] += sum(many for text, many in zip(reasons.folded, rows, strict=True) if not text)

    def _keep_written(self, known: BatchReasons, keys: Sequence[bytes]) -> None:
        """Keep a text as written for each folded one, to be shown."""
        if not isinstance(self.settled, Original) or not len(known.reasons):
            return
        texts = [text.encode(errors="surrogatepass") for text in known.reasons.texts]
        columns = {KEY: list(keys), "written": texts, "place": (self._read_rows + known.first).tolist()}
        self._put(columns, self._written, self._read_rows)

    def _as_written(self, keys: Sequence[bytes]) -> Sequence[str]:
        """One text as written, the first in the log, for each folded one; a masked one as it is compared."""
        if not isinstance(self.settled, Original) or not keys:
            return [key.decode(errors="surrogatepass") for key in keys]
        import pyarrow as pa

        scratch = self._connection.con
        scratch.register("asked", pa.table({KEY: pa.array(keys, pa.binary())}))
        question = (
            f"SELECT {KEY}, arg_min(written, place) AS w FROM {self._written} SEMI JOIN asked USING ({KEY}) GROUP BY 1"
        )
        lines = scratch.execute(question).fetchall()
        scratch.unregister("asked")
        written = {bytes(key): bytes(text).decode(errors="surrogatepass") for key, text in lines}
        return [written.get(key) or key.decode(errors="surrogatepass") for key in keys]


def key_bytes(coarse: Explanations) -> list[bytes]:
    """What tells discretized reasons apart, as bytes: folded texts, or JSON lists of names."""
    if isinstance(coarse, Reasons):
        return [text.encode(errors="surrogatepass") for text in coarse.folded]
    assert isinstance(coarse, Plain)
    written: dict[Any, bytes] = {}
    for names in coarse.values:
        if names not in written:
            written[names] = json.dumps(sorted(names)).encode()
    return [written[names] for names in coarse.values]
