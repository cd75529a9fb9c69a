"""The options that several commands share, each with its help, and how a command gets some of them together."""

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any

import typer

Report = Annotated[Path | None, typer.Option("--report", help="Write a report to this HTML file.")]
ReportFile = Annotated[Path, typer.Option("--report", help="Where the report goes.")]
SummaryFile = Annotated[
    str | None,
    typer.Option("--summary", help='Append Markdown to this file; in GitHub Actions, to "$GITHUB_STEP_SUMMARY".'),
]
Json = Annotated[bool, typer.Option("--json", help="Print all numbers as JSON, and nothing else.")]
AtLeast = Annotated[
    float, typer.Option("--at-least", help="What a faithful explainer is asked to reach, beside the verdict.")
]
FindSlices = Annotated[
    bool, typer.Option("--slices", help="Look for rows on which explanations fail: by columns, pairs of them, time.")
]
FailIfSlice = Annotated[
    bool, typer.Option("--fail-if-slice", help="Look for slices, and exit with 1 if one stands out.")
]
FailUnder = Annotated[
    float | None,
    typer.Option("--fail-under", help="Exit with 1 if a lower limit, of all rows or a population, is below this."),
]
MeasureName = Annotated[
    str | None,
    typer.Option(
        "--measure",
        help="What --fail-under judges: consistency, sufficiency or necessity; by default the first two, but of the "
        "sufficiency of importances only that they name better features than random ones.",
    ),
]
Confidence = Annotated[float, typer.Option(help="Confidence of the intervals.")]
IntervalMethod = Annotated[
    str | None,
    typer.Option(
        "--interval",
        help="proven: holds for every model, explainer and population, and is wider than the default.",
    ),
]
Unseen = Annotated[
    bool, typer.Option("--unseen", help="Sufficiency: allow for rows that nobody has seen, which may meet many rules.")
]
Cluster = Annotated[
    str | None,
    typer.Option("--cluster", help="A column of rows that belong together, such as customer_id: only others vouch."),
]
Weights = Annotated[
    str | None,
    typer.Option("--weights", help="A column that says how much each row counts in the population that is meant."),
]
CacheFolder = Annotated[
    Path | None, typer.Option("--cache", help="Keep what was computed in this folder, so that a second run continues.")
]

LogFiles = Annotated[
    list[str] | None, typer.Argument(help="Parquet, CSV or JSON lines: files, a folder or a glob.", show_default=False)
]
TableName = Annotated[str | None, typer.Option("--table", help="A table of the database, as schema.table or table.")]
Connect = Annotated[str | None, typer.Option("--connect", help="postgres://user@host/database, spark, duckdb://file.")]
Prediction = Annotated[
    list[str] | None,
    typer.Option("--prediction", help="The column of predicted labels or numbers; repeatable for --agreement spread."),
]
Explanation = Annotated[
    list[str] | None, typer.Option("--explanation", help="Columns by name or glob, such as 'phi_*'; repeatable.")
]
Kind = Annotated[
    str | None,
    typer.Option("--kind", help="importances, keys, reasons, codes, rules, words, prototypes or counterfactuals."),
]
Discretize = Annotated[
    str | None,
    typer.Option(
        "--discretize", help="original, 2-fp, 1-fp, sign, rank, sign-of-top-5, delta, codebook:FILE.json, template, …"
    ),
]
InputTexts = Annotated[
    list[str] | None,
    typer.Option("--input", help="The column of texts that reasons are about, which template blanks; repeatable."),
]
AgreementWord = Annotated[
    str | None,
    typer.Option(
        "--agreement", help="How much predicted numbers agree: spread, close:0.5 or tolerance:0.5; labels without it."
    ),
]
Where = Annotated[
    str | None, typer.Option("--where", help="A condition of SQL: other rows are left out, such as \"region = 'EU'\".")
]
NullsPolicy = Annotated[
    str | None, typer.Option("--nulls", help="Missing values: error, drop or key.", show_default="error")
]
LogOptions = Annotated[
    Path | None,
    typer.Option("--log", help="A TOML file that says prediction, explanation, time, clusters, …, once for all."),
]


def sharing(
    shared: Mapping[str, tuple[Any, Any]], made: Callable[[dict[str, Any]], Any]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """What gives a command further options, each by its type and default, which are not typed twice.

    The command's first argument is what is made of them.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def reading(*args: Any, **typed: Any) -> None:
            said = made({name: typed.pop(name) for name in shared})
            command(said, *args, **typed)

        own = list(signature(command, eval_str=True).parameters.values())[1:]
        further = [
            Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)
            for name, (kind, default) in shared.items()
        ]
        given = [each for each in own if each.default is Parameter.empty]  # which another decorator gives, or is asked
        told = [*given, *further, *(each.replace(kind=Parameter.KEYWORD_ONLY) for each in own if each not in given)]
        reading.__signature__ = Signature(told)  # type: ignore[attr-defined]
        reading.__annotations__ = {each.name: each.annotation for each in told}
        return reading

    return decorate
