"""faithscope reproduce: the paper's tables and figures, beside its printed numbers."""

import os
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from faithscope.cli.options import Json, ReportFile
from faithscope.cli.outcome import say_where
from faithscope.runtime.printing import print_json

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
    from faithscope.runtime.files import to_path, write_atomically
    from faithscope_reproduction import running
    from faithscope_reproduction.settings import Settings
    from faithscope_reproduction.telling import drawing, writers
    from faithscope_reproduction.telling.document import Clock, document

    choices: dict[str, Any] = {"quick": quick, "all_rows": all_rows, "search": search, "dice": dice}
    where: dict[str, Any] = {} if cache is None else {"cache": to_path(cache)}
    settings = Settings(data, **where, **choices, seed=seed)
    fresh, began, many = settings.fresh, time.monotonic(), workers or min(_MOST_WORKERS, os.cpu_count() or 1)
    parts = running.run(tables or [], settings, lambda line: typer.echo(line, err=True), many)
    clock = Clock(time.monotonic() - began, min(many, len(parts)), fresh)
    # The command that gives these numbers, without the folders, which change none of them.
    words = [f"--{name.replace('_', '-')}" for name, wanted in choices.items() if wanted]
    words += [f"--seed {seed}"] if seed else []
    told = document(parts, " ".join(["faithscope reproduce", *(tables or []), *words]), clock)
    if as_json:
        print_json(writers.to_json(parts))
    else:
        writers.show(told)
    if to_csv is not None:
        writers.to_csv(parts, to_csv)
    if markdown is not None:
        folder, drawn = markdown.with_suffix(""), [figure for part in parts for figure in part.outcome.figures]
        pictures = {figure.name: f"{folder.name}/{figure.name}.svg" for figure in drawn if find_spec("vl_convert")}
        for figure in drawn if pictures else ():
            drawing.write_picture(figure, folder / f"{figure.name}.svg")
        write_atomically(markdown, writers.to_markdown(told, pictures).encode())
    write_atomically(report, writers.to_html(told).encode())
    say_where(report)
