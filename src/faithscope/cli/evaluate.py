"""faithscope evaluate: the explainers of your own model on your own rows."""

from pathlib import Path
from typing import Annotated, Any, cast

import typer

from faithscope.agreements import from_word
from faithscope.cli.options import (
    AgreementWord,
    AtLeast,
    CacheFolder,
    Cluster,
    Confidence,
    FailIfSlice,
    FailUnder,
    FindSlices,
    IntervalMethod,
    Json,
    MeasureName,
    Report,
    SummaryFile,
    Unseen,
    Weights,
)
from faithscope.cli.outcome import check_gate, gate, refuse_slices, tell
from faithscope.cli.rows import column, populations, read_rows, without_columns
from faithscope.cli.summary_file import check_summary
from faithscope.errors import UnknownName
from faithscope.evaluation.outputs import OUTPUTS
from faithscope.inputs.checks import check_share, check_word
from faithscope.inputs.hints import hint

SystemPath = Annotated[str, typer.Option(help="Your model and explainers, as module:attribute.")]
DataFile = Annotated[Path, typer.Option(help="Rows without labels: a Parquet or CSV file.")]
DiscretizeOrBest = Annotated[
    str | None,
    typer.Option(
        "--discretize",
        help="original, 2-fp, 1-fp, sign, rank, sign-of-top-5, delta, template, codebook:FILE.json, …; best chooses.",
    ),
]
ByColumn = Annotated[str | None, typer.Option(help="A column of the rows that names populations.")]
Drop = Annotated[list[str] | None, typer.Option(help="A column that the model does not get; repeatable.")]
ModelOutput = Annotated[
    str | None,
    typer.Option("--output", help="What the model is asked for: label or probability, which is measured by spread."),
]
HalvesSeed = Annotated[int, typer.Option(help="Seed of the halves of --discretize best and common-phrases-20.")]
GatedExplainers = Annotated[
    list[str] | None,
    typer.Option(
        "--gate",
        help="An explainer that --fail-under judges; repeatable. By default all but Constant, Random, Unique.",
    ),
]


def evaluate(
    system: SystemPath,
    data: DataFile,
    discretize: DiscretizeOrBest = None,
    agreement: AgreementWord = None,
    output: ModelOutput = None,
    by: ByColumn = None,
    drop: Drop = None,
    cluster: Cluster = None,
    weights: Weights = None,
    confidence: Confidence = 0.95,
    interval: IntervalMethod = None,
    unseen: Unseen = False,
    seed: HalvesSeed = 0,
    cache: CacheFolder = None,
    report: Report = None,
    as_json: Json = False,
    summary: SummaryFile = None,
    at_least: AtLeast = 0.9,
    fail_under: FailUnder = None,
    measure: MeasureName = None,
    judged: GatedExplainers = None,
    slices: FindSlices = False,
    fail_if_slice: FailIfSlice = False,
) -> None:
    """Measure the explainers of your own model on your own rows.

    The attribute is (model, explainer), (model, {name: explainer, ...}), or a function that returns either.

    Example: faithscope evaluate --system my_module:system --data X.parquet --discretize sign-of-top-5 --report r.html
    """
    from faithscope.cli.systems import load_system
    from faithscope.evaluation.best import to_choice
    from faithscope.evaluation.compare import compare

    check_gate(fail_under, measure, judged)
    check_share(at_least, "--at-least")
    if output is not None:
        check_word(output, "--output", OUTPUTS)
    check_summary(summary)
    model, explainers = load_system(system)
    for name in judged or ():
        if name not in explainers:
            raise UnknownName(f"--gate names {name!r}, no explainer of {system}. {hint(name, explainers)}")
    rows = read_rows(data)
    comparison = compare(
        model,
        explainers,
        without_columns(rows, drop or []),
        discretizer=to_choice(discretize),
        confidence=confidence,
        interval=cast(Any, interval),
        unseen=unseen,
        by=None if by is None else populations(rows, by),
        clusters=None if cluster is None else column(rows, cluster),
        weights=None if weights is None else column(rows, weights),
        seed=seed,
        cache=cache,
        agreement=None if agreement is None else from_word(agreement),
        output=cast(Any, output),
        at_least=at_least,
    )
    found = None
    if slices or fail_if_slice:
        found = {name: each.slices(seed=seed) for name, each in comparison.items() if not each.baseline}
    title = f"How faithful are the explanations of {system}?"
    tell(comparison, title, report, summary, as_json=as_json, slices=found)
    gate(comparison, fail_under, measure, judged)
    if fail_if_slice and found is not None:
        refuse_slices(found)
