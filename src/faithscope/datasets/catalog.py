"""Where each data set comes from, how what is downloaded is read, and the digest of its content."""

import gzip
import hashlib
import io
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from faithscope.datasets import esnli
from faithscope.errors import BadInput

if TYPE_CHECKING:
    import pandas as pd

_UCI = "https://archive.ics.uci.edu/static/public"
_LARGEST = 200 << 20  # most bytes that a member of an archive may unpack to; no data set here has more
_DEPTHS = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
_HEART = "age sex cp trestbps chol fbs restecg thalach exang oldpeak slope ca thal label"
_CHESS = "white-king-file white-king-rank white-rook-file white-rook-rank black-king-file black-king-rank label"
_AVILA = (
    "intercolumnar distance, upper margin, lower margin, exploitation, row number, modular ratio, interlinear spacing, "
    "weight, peak number, modular ratio/ interlinear spacing, label"
)
_ADULT = (
    "age workclass fnlwgt education education-num marital-status occupation relationship race sex capital-gain "
    "capital-loss hours-per-week native-country label"
)
_TERRAIN = (
    "Elevation Aspect Slope Horizontal_Distance_To_Hydrology Vertical_Distance_To_Hydrology "
    "Horizontal_Distance_To_Roadways Hillshade_9am Hillshade_Noon Hillshade_3pm Horizontal_Distance_To_Fire_Points"
)
_COVTYPE = [
    *_TERRAIN.split(),
    *(f"Wilderness_Area{area + 1}" for area in range(4)),
    *(f"Soil_Type{soil + 1}" for soil in range(40)),
    "label",
]


@dataclass(frozen=True)
class ArchiveSource:
    """The archive, or the files, that a data set comes from.

    Attributes
    ----------
    url : str
        The archive's address; that of the folder, if there are `files`.
    parse : callable
        From the archive's bytes, or those of each file, to a table whose last column is ``label``.
    content : str
        Digest of that table, by `content_of`.
    classes : tuple
        Labels in their natural order, if that is not the alphabet's; empty otherwise.
    files : tuple of str
        What is added to the address for each file that is downloaded.
    """

    url: str
    parse: Callable[..., "pd.DataFrame"]
    content: str
    classes: tuple[Any, ...] = ()
    files: tuple[str, ...] = ("",)


def content_of(table: "pd.DataFrame") -> str:
    """A digest of names and values that no file format or type changes: all numbers count as double precision."""
    from pandas.api.types import is_numeric_dtype

    digest = hashlib.blake2b(digest_size=20)
    for name in table.columns:
        column = table[name]
        digest.update(f"\x1e{name}\x1e".encode())
        if is_numeric_dtype(column):
            digest.update(np.ascontiguousarray(column.to_numpy(np.float64, na_value=np.nan), "<f8").tobytes())
        else:
            digest.update("\x1f".join(column.fillna("\x1d").astype(str)).encode())
    return digest.hexdigest()


def _member(archive: bytes, name: str) -> bytes:
    """A member of a zip archive by the last part of its name, in any folder, also in a zip archive inside.

    Nothing is unpacked to disk, so no name can lead out of a folder.
    """
    archives = [archive]
    for content in archives:
        with zipfile.ZipFile(io.BytesIO(content)) as opened:
            for member in opened.infolist():
                if member.filename.rpartition("/")[2] == name:
                    file = opened.open(member)
                    return _bounded(gzip.open(file) if name.endswith(".gz") else file, name)
                if member.filename.endswith(".zip") and content is archive:
                    archives.append(_bounded(opened.open(member), member.filename))
    raise BadInput(f"The archive that was downloaded has no {name}.")


def _bounded(opened: Any, name: str) -> bytes:
    content: bytes = opened.read(_LARGEST + 1)
    if len(content) > _LARGEST:
        raise BadInput(f"{name} unpacks to more than {_LARGEST >> 20} MiB, so it is not the data set's archive.")
    return content


def _zipped(*members: str, label: Callable[[Any], Any] | None = None, **how: Any) -> Callable[[bytes], "pd.DataFrame"]:
    """Reads members of a zip archive, one after the other, as a table.

    Parameters
    ----------
    *members : str
    label : callable, optional
        From the last column to the labels, if it holds them in another form.
    **how
        As pandas' `read_csv` takes it.
    """

    def parse(archive: bytes) -> "pd.DataFrame":
        import pandas as pd

        content = b"\n".join(_member(archive, name) for name in members)
        table = pd.read_csv(io.BytesIO(content), skipinitialspace=True, **how).rename(columns={"y": "label"})
        return table if label is None else table.assign(label=label(table["label"]))

    return parse


def _rt_polarity(archive: bytes) -> "pd.DataFrame":
    import pandas as pd

    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as opened:
        rows = [
            (text, label)
            for label, ending in enumerate(("neg", "pos"))
            for member in opened.getmembers()
            if member.isfile() and member.name.endswith(f"rt-polarity.{ending}")
            for text in _bounded(opened.extractfile(member), member.name).decode("cp1252").split("\n")[:-1]
        ]
    return pd.DataFrame(rows, columns=["text", "label"])


CATALOG = {
    "heart": ArchiveSource(
        f"{_UCI}/45/heart+disease.zip",
        _zipped(
            "processed.cleveland.data",
            names=_HEART.split(),
            na_values="?",
            dtype=np.float64,
            label=lambda narrowed: (narrowed > 0).astype(int),
        ),
        "3213139a06f386631cd436d63e610507401f4e38",
    ),
    "chess": ArchiveSource(
        f"{_UCI}/23/chess+king+rook+vs+king.zip",
        _zipped("krkopt.data", names=_CHESS.split()),
        "1333f73f1936049a00d35e36ec5da615a599682b",
        ("draw", *_DEPTHS.split()),
    ),
    "avila": ArchiveSource(
        f"{_UCI}/459/avila.zip",
        _zipped("avila-tr.txt", "avila-ts.txt", names=_AVILA.split(", ")),
        "5a28a03a7557caebed881fe6bd10e46bee200ad8",
    ),
    "bank": ArchiveSource(
        f"{_UCI}/222/bank+marketing.zip",
        _zipped("bank-full.csv", sep=";", keep_default_na=False),
        "3526aef23eb4e7325a9e802ed78b9bcc7db461c1",
    ),
    "adult": ArchiveSource(
        f"{_UCI}/2/adult.zip",
        _zipped(
            "adult.data",
            "adult.test",
            names=_ADULT.split(),
            na_values="?",
            keep_default_na=False,
            comment="|",
            label=lambda income: income.str.rstrip("."),
        ),
        "6740e34f9f0289431e2de3ca59e36cc7dcf82c29",
    ),
    "covtype": ArchiveSource(
        f"{_UCI}/31/covertype.zip",
        _zipped("covtype.data.gz", names=_COVTYPE, dtype=np.int32),
        "7fd713a4d9c00faa04d765195c5dbfd25b2a7ae0",
    ),
    "rt_polarity": ArchiveSource(
        "https://www.cs.cornell.edu/people/pabo/movie-review-data/rt-polaritydata.tar.gz",
        _rt_polarity,
        "83c0d1895c557470bf86f8b19e98bbe59659adb4",
    ),
    "esnli": ArchiveSource(
        esnli.FOLDER,
        esnli.parse,
        "e3f272b531f782db237f8b4f53bdf357da90ebbe",
        ("entailment", "neutral", "contradiction"),
        esnli.FILES,
    ),
}
