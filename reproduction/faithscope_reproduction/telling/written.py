"""A run as files: records as JSON and CSV."""

import csv
import io
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields
from pathlib import Path

from faithscope.runtime.files import write_atomically
from faithscope_reproduction.records import Claim, Record
from faithscope_reproduction.running import Part


def to_json(parts: Sequence[Part]) -> str:
    """All records as a list of objects: ``table, case, measure, setting, n, ours, printed`` and more."""
    records = [asdict(record) for part in parts for record in part.outcome.records]
    return json.dumps(records, indent=1, allow_nan=False)


def to_csv(parts: Sequence[Part], folder: Path) -> list[Path]:
    """Write one file of records per part, one file per figure and one of claims; returns their paths."""
    paths = []
    for part in parts:
        paths.append(_write(folder / f"{part.name}.csv", Record, part.outcome.records))
        for figure in part.outcome.figures:
            path = folder / f"{figure.name}.csv"
            _rows(path, list(figure.columns), zip(*figure.columns.values(), strict=True))
            paths.append(path)
    claims = [claim for part in parts for claim in part.outcome.claims]
    return [*paths, _write(folder / "claims.csv", Claim, claims)]


def _write(path: Path, kind: type[Record] | type[Claim], items: Sequence[Record] | Sequence[Claim]) -> Path:
    names = [field.name for field in fields(kind)]
    _rows(path, names, ([getattr(item, name) for name in names] for item in items))
    return path


def _rows(path: Path, names: list[str], rows: Iterable[Iterable[object]]) -> None:
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(names)
    writer.writerows(rows)
    write_atomically(path, text.getvalue().encode())
