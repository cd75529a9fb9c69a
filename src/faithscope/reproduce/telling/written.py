"""A run as files: records as JSON and CSV, everything as Markdown."""

import csv
import io
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields
from pathlib import Path

from faithscope.reproduce.records import Claim, Record
from faithscope.reproduce.running import Part
from faithscope.reproduce.telling.summary import (
    COLUMNS,
    MATCHES,
    cells,
    decided_by,
    lines,
    match_cells,
    matches,
    spoken,
)
from faithscope.runtime.files import write_atomically


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


def to_markdown(parts: Sequence[Part], command: str) -> str:
    """The whole run for reading: what is met, which claims hold, every table with its notes."""
    total = spoken(sum(part.outcome.seconds for part in parts))
    head = [
        "# The paper, reproduced",
        "",
        f"Written by `{command}`; {total} of computing. *As run* is what comes nearest to what the authors seem to",
        "have run, *as defined* the paper's definitions with our defaults. Intervals are for the true measure, at 95%:",
        "sampling error and unverifiable rows both. Shares are compared by their difference, numbers above 1 by their",
        "relative difference.",
        "",
        "## How many printed numbers are met",
        "",
        *_grid(MATCHES, [match_cells(match) for match in matches(parts)]),
        "",
        "## Which claims hold",
        "",
        *_markdown_claims(parts),
    ]
    return "\n".join([*head, *(line for part in parts for line in _markdown_part(part))]) + "\n"


def _markdown_claims(parts: Sequence[Part]) -> list[str]:
    rows = [
        (
            claim.verdict,
            claim.table,
            claim.setting.replace("_", " "),
            claim.words,
            f"{claim.test}: {decided_by(claim)}",
            claim.note,
        )
        for part in parts
        for claim in part.outcome.claims
    ]
    return _grid(("verdict", "table", "setting", "claim", "test", "note"), rows)


def _markdown_part(part: Part) -> list[str]:
    shown = lines(part.outcome.records)
    notes = list(dict.fromkeys(note for line in shown for note in line.notes))
    spent = spoken(part.outcome.seconds)
    told = [f"- {note}" for note in (*part.outcome.notes, *notes)]
    return [
        "",
        f"## {part.name}: {part.title}",
        "",
        *_grid(COLUMNS, [cells(line) for line in shown]),
        "",
        *told,
        f"- {spent}",
    ]


def _grid(names: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    head = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    return head + ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
