"""faithscope plan: how many rows a log needs."""

import json
from typing import Annotated

import typer

from faithscope.cli.logs import declared
from faithscope.cli.options import (
    AgreementWord,
    Confidence,
    Connect,
    Discretize,
    Explanation,
    InputTexts,
    Json,
    Kind,
    LogFiles,
    LogOptions,
    NullsPolicy,
    Prediction,
    SummaryFile,
    TableName,
    Where,
)
from faithscope.cli.summary_file import append_summary, check_summary
from faithscope.runtime.printing import print_json

Unverifiable = Annotated[float, typer.Option(help="The share of rows that may stay unverifiable.")]


def plan(
    log: LogFiles = None,
    log_options: LogOptions = None,
    prediction: Prediction = None,
    explanation: Explanation = None,
    kind: Kind = None,
    discretize: Discretize = None,
    inputs: InputTexts = None,
    agreement: AgreementWord = None,
    where: Where = None,
    nulls: NullsPolicy = None,
    connect: Connect = None,
    table: TableName = None,
    unverifiable: Unverifiable = 0.05,
    confidence: Confidence = 0.95,
    as_json: Json = False,
    summary: SummaryFile = None,
) -> None:
    """Say how many rows a log needs until only so many of them are unverifiable.

    Example: faithscope plan log.parquet --prediction yhat --explanation 'phi_*' --unverifiable 0.05
    """
    from faithscope.measures.consistency import consistency
    from faithscope.measures.planning.plan import plan as plan_rows

    check_summary(summary)
    columns = {"prediction": prediction, "explanation": explanation, "kind": kind, "inputs": inputs, "nulls": nulls}
    declaration, discretizer = declared(log_options, log, table, connect, discretize=discretize, where=where, **columns)
    measured = consistency(declaration, discretizer=discretizer, agreement=agreement)
    rows = plan_rows(measured, unverifiable=unverifiable, confidence=confidence)
    print_json(json.dumps(rows.to_dict())) if as_json else typer.echo(str(rows))
    append_summary(summary, rows._card())
