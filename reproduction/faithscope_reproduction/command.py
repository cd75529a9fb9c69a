"""faithscope reproduce: the paper's tables and figures, beside its printed numbers."""

import os
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from faithscope.cli.options import Json, ReportFile
from faithscope.cli.outcome import say_where
from faithscope.runtime.printing import print_json

if TYPE_CHECKING:
    from faithscope_reproduction.running import Part
    from faithscope_reproduction.settings import Settings
    from faithscope_reproduction.telling.clock import Clock

_MOST_WORKERS = 4  # each has data sets and models of its own in memory
TableNames = Annotated[
    list[str] | None, typer.Argument(metavar="[TABLE ...]", help="table1, figure4, …; all by default.")
]
DataFolder = Annotated[
    Path | None, typer.Option("--data", help="A folder of data sets as Parquet files; or set FAITHSCOPE_DATA.")
]
Quick = Annotated[bool, typer.Option("--quick", help="Few rows, small models: minutes, and numbers that mean little.")]
AllRows = Annotated[bool, typer.Option("--all-rows", help="Explain every test row; takes many hours.")]
Search = Annotated[bool, typer.Option("--search", help="Choose the models' settings by the paper's whole grid.")]
Dice = Annotated[
    bool, typer.Option("--dice", help="Counterfactuals by the dice-ml package rather than our own search.")
]
StepsFolder = Annotated[
    Path | None, typer.Option("--cache", help="Folder of finished steps, where a second run continues.")
]
CsvFolder = Annotated[Path | None, typer.Option("--csv", help="Write tables and curves as CSV files to this folder.")]
Markdown = Annotated[
    Path | None,
    typer.Option("--markdown", help="Write everything to this Markdown file, pictures to the folder of its name."),
]
Workers = Annotated[
    int | None, typer.Option("--workers", min=1, help="Parts that run at once; by default one per core, at most 4.")
]
Seed = Annotated[int, typer.Option(help="Seed of splits, models, samples and explainers.")]


def reproduce(
    tables: TableNames = None,
    data: DataFolder = None,
    quick: Quick = False,
    all_rows: AllRows = False,
    search: Search = False,
    dice: Dice = False,
    cache: StepsFolder = None,
    as_json: Json = False,
    to_csv: CsvFolder = None,
    markdown: Markdown = None,
    report: ReportFile = Path("reproduction.html"),
    workers: Workers = None,
    seed: Seed = 0,
) -> None:
    """Reproduce the paper's tables and figures beside its printed numbers.

    Prints every table and writes reproduction.html. Several hours of computing, shared among cores; resumable.

    Example: faithscope reproduce table1 figure1 --data ../data --quick
    """
    from faithscope.runtime.files import to_path
    from faithscope_reproduction import running
    from faithscope_reproduction.settings import Settings
    from faithscope_reproduction.telling.clock import Clock

    settings = Settings(data, quick=quick, all_rows=all_rows, search=search, dice=dice, seed=seed)
    settings = settings if cache is None else replace(settings, cache=to_path(cache))
    fresh, began, many = settings.fresh, time.monotonic(), workers or _cores()
    parts = running.run(tables or [], settings, lambda line: typer.echo(line, err=True), many)
    clock = Clock(time.monotonic() - began, min(many, len(parts)), fresh)
    _write(parts, _command(tables or [], settings), clock, as_json, to_csv, markdown, report)


def _cores() -> int:
    return min(_MOST_WORKERS, os.cpu_count() or 1)


def _write(
    parts: "list[Part]",
    command: str,
    clock: "Clock",
    as_json: bool,
    to_csv: Path | None,
    markdown: Path | None,
    report: Path,
) -> None:
    from faithscope.runtime.files import write_atomically
    from faithscope_reproduction.telling import page, terminal, written
    from faithscope_reproduction.telling.markdown import to_markdown
    from faithscope_reproduction.telling.pictures import write_pictures

    if as_json:
        print_json(written.to_json(parts))
    else:
        terminal.show(parts, clock=clock)
    if to_csv is not None:
        written.to_csv(parts, to_csv)
    if markdown is not None:
        pictures = write_pictures(parts, markdown.with_suffix(""))
        write_atomically(markdown, to_markdown(parts, command, clock, pictures).encode())
    page.write(parts, report, command, clock)
    say_where(report)


def _command(tables: list[str], settings: "Settings") -> str:
    """The command that gives these numbers, without the folders, which change none of them."""
    chosen = [
        f"--{name.replace('_', '-')}" for name in ("quick", "all_rows", "search", "dice") if getattr(settings, name)
    ]
    seed = [f"--seed {settings.seed}"] if settings.seed else []
    return " ".join(["faithscope reproduce", *tables, *chosen, *seed])
