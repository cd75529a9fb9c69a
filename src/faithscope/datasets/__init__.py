"""The paper's seven data sets and e-SNLI by name: from a folder, from a cache, or downloaded and checked."""

import os
import tarfile
import warnings
import zipfile
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPException
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from faithscope.datasets.catalog import CATALOG, ArchiveSource, content_of
from faithscope.datasets.download import fetch
from faithscope.errors import BadInput
from faithscope.inputs.array_types import Array
from faithscope.runtime.files import to_path, write_atomically

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["NAMES", "PAPER", "Dataset", "adult_sample", "cache_folder", "load"]

NAMES = tuple(CATALOG)
PAPER = tuple(name for name in NAMES if name != "esnli")
_FOLDER = "FAITHSCOPE_DATA"


@dataclass(frozen=True, eq=False)
class Dataset:
    """A data set: rows and labels.

    Attributes
    ----------
    name : str
    X : DataFrame
        Rows in the order of the source; missing values are missing. Reviews are one column, ``text``; e-SNLI has the
        columns ``split``, ``premise``, ``hypothesis``, and ``explanation_1`` to ``explanation_3``, by three people.
    y : (n,) array
        Labels.
    classes : tuple
        The labels in their natural order: Chess by depth, e-SNLI from entailment to contradiction, numbers by size, all
        others by the alphabet.
    categorical : tuple of str
        Columns that hold categories.
    """

    name: str
    X: "pd.DataFrame"
    y: Array
    classes: tuple[Any, ...]
    categorical: tuple[str, ...]

    def __repr__(self) -> str:
        n, d = self.X.shape
        return f"Dataset({self.name!r}, {n:,} rows, {d} columns, {len(self.classes)} classes)"


def cache_folder() -> Path:
    """Where downloads and results are kept: ``FAITHSCOPE_CACHE``, or a folder in the user's own cache."""
    chosen, shared = os.environ.get("FAITHSCOPE_CACHE"), os.environ.get("XDG_CACHE_HOME")
    return to_path(chosen) if chosen else Path(shared or Path.home() / ".cache") / "faithscope"


def load(name: str, folder: str | os.PathLike[str] | None = None) -> Dataset:
    """A data set by its name.

    It is looked for in `folder`, in the folder that the environment's ``FAITHSCOPE_DATA`` names, in the cache, and at
    its source, in this order. A folder that is named must have it, as a Parquet file ``name.parquet`` with a column
    ``label``. A download is checked against a digest of its whole content before it is kept.

    Parameters
    ----------
    name : str
        One of `NAMES`: the paper's seven, which are `PAPER`, and "esnli".
    folder : path, optional

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from faithscope import datasets
    >>> datasets.NAMES
    ('heart', 'chess', 'avila', 'bank', 'adult', 'covtype', 'rt_polarity', 'esnli')
    >>> datasets.load("iris")
    Traceback (most recent call last):
        ...
    faithscope.errors.BadInput: There is no data set 'iris': choose among heart, chess, avila, bank, adult, covtype, ...
    """
    if name not in CATALOG:
        raise BadInput(f"There is no data set {name!r}: choose among {', '.join(NAMES)}.")
    source, chosen = CATALOG[name], folder or os.environ.get(_FOLDER)
    path = (to_path(chosen) if chosen else cache_folder() / "datasets") / f"{name}.parquet"
    if chosen:
        table = _read(path)
        if content_of(table) != source.content:
            warnings.warn(
                f"{str(path)!r} does not hold the rows of {name!r} as published, so printed numbers do not apply.",
                stacklevel=2,
            )
        return _dataset(name, table)
    with suppress(BadInput):  # of no file yet, or of a damaged one
        table = _read(path)
        if content_of(table) == source.content:
            return _dataset(name, table)
    if path.exists():
        warnings.warn(f"{str(path)!r} was changed after it was downloaded, so it is downloaded again.", stacklevel=2)
    return _dataset(name, _downloaded(name, source, path))


def adult_sample() -> Dataset:
    """A random sample of 8,000 people of the Adult data set (UCI, CC BY 4.0), in random order.

    It comes with the package. Columns are as in the whole data set, ``datasets.load("adult")``; missing values are
    missing.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from faithscope import datasets
    >>> datasets.adult_sample()
    Dataset('adult_sample', 8,000 rows, 14 columns, 2 classes)
    """
    import pandas as pd

    table = pd.read_parquet(BytesIO(files(__package__).joinpath("bundled", "adult_sample.parquet").read_bytes()))
    return _dataset("adult_sample", table.where(table.notna(), np.nan))  # pandas 2 reads missing texts as None


def _read(path: Path) -> "pd.DataFrame":
    import pandas as pd

    if not path.exists():
        there = ", ".join(sorted(file.name for file in path.parent.glob("*.parquet"))) or "no Parquet file"
        raise BadInput(f"{str(path.parent)!r} has no {path.name}; it has {there}. Name a folder with all data sets.")
    try:
        table = pd.read_parquet(path)
    except (OSError, ValueError) as error:
        raise BadInput(f"{str(path)!r} cannot be read as Parquet: {str(error).splitlines()[0]}") from None
    names = list(table.columns)
    if len(names) < 2 or names.count("label") != 1:
        raise BadInput(f"{str(path)!r} must have features and one column 'label'; it has {names or 'no column'}.")
    return table[[*table.columns.drop("label"), "label"]]


def _downloaded(name: str, source: ArchiveSource, kept: Path) -> "pd.DataFrame":
    """The data set's table, downloaded from its source, checked, and kept."""
    try:
        table = source.parse(*(fetch(source.url + file) for file in source.files))
        if content_of(table) != source.content:
            raise ValueError("it holds other rows")
    except (ValueError, OSError, HTTPException, EOFError, zipfile.BadZipFile, tarfile.TarError) as error:
        first = (str(getattr(error, "reason", error)).splitlines() or [type(error).__name__])[0].rstrip(".")
        raise BadInput(
            f"The data set {name!r} is in no folder that was named, not in the cache, and what comes from {source.url} "
            f"is not {name!r} as published ({first}). Name a folder that has {name}.parquet with --data or {_FOLDER}."
        ) from None
    write_atomically(kept, table.to_parquet(None, index=False, compression="zstd"))
    return table


def _dataset(name: str, table: "pd.DataFrame") -> Dataset:
    from pandas.api.types import is_numeric_dtype

    X, y = table.iloc[:, :-1], table["label"].to_numpy()
    present, known = set(y.tolist()), CATALOG[name].classes if name in CATALOG else ()
    classes = tuple(label for label in known if label in present) or tuple(np.unique(y).tolist())
    categorical = tuple(str(name) for name in X.columns if not is_numeric_dtype(X[name]))
    return Dataset(name, X, y, classes, categorical)
