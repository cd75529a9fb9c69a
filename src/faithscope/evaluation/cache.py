"""Cache: predictions and explanations kept on disk, in Parquet files named by their question and their content."""

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from faithscope.errors import WrongType
from faithscope.explanations import Explanations
from faithscope.explanations.arrow import from_arrow, to_arrow
from faithscope.explanations.importances import Importances
from faithscope.explanations.keys import Plain
from faithscope.inputs.array_types import Array
from faithscope.inputs.checks import check_whole
from faithscope.runtime.files import to_folder, write_atomically
from faithscope.runtime.fingerprint import environment, fingerprint
from faithscope.runtime.messages import warn


@dataclass(frozen=True)
class Cache:
    """A folder of predictions and explanations, from which an interrupted run continues and a second run is instant.

    A file's name holds a fingerprint of the question (rows, model, explainer, their code, settings, versions) and a
    hash of the file's own bytes. A file that was cut short or changed does not match its name: a warning names it, and
    it is ignored. Files are written under another name and then renamed, so no process ever reads half of one. If a
    model or explainer has no reliable fingerprint, its answers are not kept: a warning says so, and they are computed
    each time.

    Parameters
    ----------
    folder : path
        Created if it does not exist.
    rows : int
        Rows per file: how much an interruption can lose.

    Examples
    --------
    >>> Cache("answers", rows=100)
    Cache(folder=PosixPath('answers'), rows=100)
    """

    folder: Path
    rows: int = 500

    def __post_init__(self) -> None:
        object.__setattr__(self, "folder", to_folder(self.folder))
        check_whole(self.rows, "rows, the rows in a file,")

    def question(self, of: str, *parts: Any) -> str | None:
        """The fingerprint of a model, an explainer or rows; None, with a warning, if there is no reliable one."""
        try:
            return fingerprint(*parts)
        except WrongType as error:
            warn(f"The answers {of} are not kept in the cache, and are computed each time: {error}")
            return None

    def explanations(
        self,
        question: str | None,
        answer: Callable[[Any], Explanations],
        X: Any,
        what: str = "explanations",
        tokenizer: Any = None,
    ) -> Explanations:
        """The answer for all of these rows, in one file; read from it if the folder holds it.

        Parameters
        ----------
        question : str or None
            A fingerprint of everything but the rows; None if nothing is to be kept.
        what : str
            The kind of answers, which is a part of the name of their file: labels are never read as numbers.
        tokenizer : optional
            That of the words of highlights, which no file keeps.
        """
        key = question and self.question("for these rows", environment(), question, X)
        if key is None:
            return answer(X)
        table = self.read(what, key)
        if table is not None:
            return from_arrow(table, tokenizer=tokenizer)
        explanations = answer(X)
        self.write(what, key, to_arrow(explanations))
        return explanations

    def predictions(self, question: str | None, predict: Callable[[Any], Array], X: Any, what: str) -> Array:
        """The answers of a model for rows: one label or number per row, or (n, k) numbers."""

        def answer(rows: Any) -> Explanations:
            answers = predict(rows)
            return Importances(answers) if answers.ndim == 2 else Plain(answers)

        kept: Any = self.explanations(question, answer, X, what)
        values: Array = kept.values
        return values

    def read(self, what: str, key: str) -> Any | None:
        """The table kept under a key; None if there is none, or none that is undamaged."""
        import pyarrow as pa
        from pyarrow import parquet

        for path in sorted(self.folder.glob(f"{what}-{key}-*.parquet")):
            try:
                content = path.read_bytes()
            except OSError as error:
                why = f"cannot be read ({error.strerror})"
            else:
                if _digest(content) == path.stem.rpartition("-")[2]:
                    # On this thread alone: Arrow's threads may outlive the call, and abort if Python ends before them.
                    return parquet.ParquetFile(pa.BufferReader(content), pre_buffer=False).read(use_threads=False)
                why = "does not hold what its name says: it was cut short or changed"
            warn(f"The cache file {path.name!r} {why}, so it is ignored.")
        return None

    def write(self, what: str, key: str, table: Any) -> None:
        """Keep a table under a key; no other file is touched."""
        import pyarrow as pa
        from pyarrow import parquet

        sink = pa.BufferOutputStream()
        parquet.write_table(table, sink, compression="zstd")
        content = sink.getvalue().to_pybytes()
        write_atomically(self.folder / f"{what}-{key}-{_digest(content)}.parquet", content, private=True)


def to_cache(cache: Any) -> Cache | None:
    """The cache that a caller gave, or that of the folder whose path was given; None if none was."""
    if cache is None or isinstance(cache, Cache):
        return cache
    if isinstance(cache, str | os.PathLike):
        return Cache(to_folder(cache))
    raise WrongType(f"cache must be a folder's path or a Cache; got {type(cache).__name__}.")


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()
