"""The command line: faithscope demo, evaluate, audit, plan."""

import json
import os
import sys
import traceback
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from faithscope.errors import BadInput, FaithscopeError
from faithscope.explanations.inputs import check_share

app = typer.Typer(
    name="faithscope",
    help="Are these explanations faithful to the model, and how sure can one be?",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_WHOLE = "FAITHSCOPE_TRACEBACK"

Report = Annotated[Path | None, typer.Option("--report", help="Write a report to this HTML file.")]
Json = Annotated[bool, typer.Option("--json", help="Print all numbers as JSON, and nothing else.")]
FailUnder = Annotated[
    float | None, typer.Option("--fail-under", help="Exit with 1 where the lower limit of the interval is below this.")
]
Discretize = Annotated[
    str | None,
    typer.Option("--discretize", help="original, 2-fp, 1-fp, sign, rank, sign-of-top-5, delta, …; best chooses."),
]
Confidence = Annotated[float, typer.Option(help="Of the intervals.")]
CacheFolder = Annotated[Path | None, typer.Option("--cache", help="Keep what was computed in this folder; resume.")]


@app.callback(invoke_without_command=True)
def _version(
    version: Annotated[bool, typer.Option("--version", help="Print the version.", is_eager=True)] = False,
) -> None:
    if version:
        from faithscope import __version__

        typer.echo(f"faithscope {__version__}")
        raise typer.Exit


@app.command()
def demo(
    report: Annotated[Path, typer.Option("--report", help="Where the report goes.")] = Path("report.html"),
    as_json: Json = False,
    cache: CacheFolder = None,
) -> None:
    """Compare explainers of boosted trees on data that ships with scikit-learn.

    Prints one table and writes report.html. Takes less than a minute on two cores.

    Example: faithscope demo --report report.html
    """
    from faithscope.demo import TITLE, demonstrate

    found, left_out = demonstrate(cache=cache)
    for words in left_out:
        typer.echo(words, err=True)
    tell(found, report, as_json, TITLE)


@app.command()
def evaluate(
    system: Annotated[str, typer.Option(help="Your model and explainers, as module:attribute.")],
    data: Annotated[Path, typer.Option(help="Rows without labels: a Parquet or CSV file.")],
    discretize: Discretize = None,
    by: Annotated[str | None, typer.Option(help="A column of the rows that names populations.")] = None,
    drop: Annotated[list[str] | None, typer.Option(help="A column that the model does not get; repeatable.")] = None,
    confidence: Confidence = 0.95,
    seed: Annotated[int, typer.Option(help="Of the halves of --discretize best.")] = 0,
    cache: CacheFolder = None,
    report: Report = None,
    as_json: Json = False,
    fail_under: FailUnder = None,
) -> None:
    """Measure the explainers of your own model on your own rows.

    The attribute is (model, explainer), (model, {name: explainer, ...}), or a function that returns either.

    Example: faithscope evaluate --system my_module:system --data X.parquet --discretize sign-of-top-5 --report r.html
    """
    from faithscope.compare import compare
    from faithscope.systems import load_system

    threshold(fail_under)
    found, rows = load_system(system), read_rows(data)
    groups = None if by is None else column(rows, by)
    used = rows.drop(columns=[name for name in drop or () if column(rows, name) is not None])
    chosen = {} if discretize is None else {"discretizer": to_discretizer(discretize)}
    options: dict[str, Any] = {"confidence": confidence, "seed": seed, "cache": cache, "groups": groups}
    compared = compare(found.predict, found.explainers, used, **chosen, **options)
    tell(compared, report, as_json, f"How faithful are the explanations of {system}?")
    judge([ev.consistency.low for ev in compared.evaluations.values()], fail_under)


def to_discretizer(word: str) -> Any:
    """A discretizer from its word on the command line; ``best`` chooses one."""
    from faithscope.explanations.discretize import from_word
    from faithscope.measures.choosing import Best

    return Best() if word.strip().lower() == "best" else from_word(word)


def read_rows(path: Path) -> Any:
    """A table from a Parquet or CSV file."""
    import pandas as pd

    readers = {".parquet": pd.read_parquet, ".csv": pd.read_csv}
    read = readers.get(path.suffix.lower())
    if read is None:
        raise BadInput(f"{str(path)!r} is neither .parquet nor .csv: convert it first.")
    try:
        return read(path)
    except FileNotFoundError:
        raise BadInput(f"There is no file {str(path)!r}.") from None
    except (OSError, ValueError, pd.errors.ParserError) as error:
        raise BadInput(f"{str(path)!r} cannot be read: {str(error).splitlines()[0]}") from None


def column(rows: Any, name: str) -> Any:
    """A column by its name, or a sentence with near names."""
    from difflib import get_close_matches

    if name in rows.columns:
        return rows[name]
    near = get_close_matches(name, map(str, rows.columns), 3)
    hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
    raise BadInput(f"The rows have no column {name!r}.{hint}")


def tell(found: Any, report: Path | None, as_json: bool, title: str) -> None:
    """Print what was found, and write a report where one is wanted."""
    from faithscope.report import summarize
    from faithscope.report.html import write
    from faithscope.report.terminal import show

    summary = summarize(found, title=title)
    if as_json:
        verdicts = {one.name: asdict(one.verdict) for one in summary.explainers}
        typer.echo(json.dumps({**found.to_dict(), "verdicts": verdicts}, default=str))
    else:
        show(summary)
    if report is not None:
        write(summary, report)
        typer.echo(f"The report is {report}", err=True)


def threshold(fail_under: float | None) -> None:
    """Refuse a threshold that means nothing before anything is computed."""
    if fail_under is not None:
        check_share(fail_under, "--fail-under")


def judge(lows: list[float], fail_under: float | None) -> None:
    """Exit with 1 where a lower limit is below the threshold."""
    if fail_under is not None and min(lows) < fail_under:
        typer.echo(f"The lower limit {min(lows):.3f} is below {fail_under:g}.", err=True)
        raise typer.Exit(1)


def main() -> None:
    """Run the command line; a mistake is one line and exit status 2."""
    try:
        app()
    except FaithscopeError as error:
        sys.exit(_mistake(str(error)))
    except KeyboardInterrupt:
        typer.echo("faithscope: interrupted. With --cache, the next run goes on from here.", err=True)
        sys.exit(130)
    except Exception as error:  # 1 would say that something was measured below --fail-under
        if os.environ.get(_WHOLE):
            traceback.print_exc()
        sys.exit(_mistake(f"{_where(error)}. Set {_WHOLE}=1 to see the whole traceback."))


def _mistake(message: str) -> int:
    typer.echo(f"faithscope: {message}", err=True)
    return 2


def _where(error: Exception) -> str:
    """What failed, and in which line of whose file."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    words = " ".join(str(error).split())
    return f"{type(error).__name__} in {Path(last.filename).name}, line {last.lineno}: {words}"
