"""faithscope plan: how many rows a log needs."""

import json
from typing import Annotated, Any, cast

import typer

from faithscope.cli.logs import open_log_source
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
    NullsPolicy,
    Prediction,
    SummaryFile,
    TableName,
    Where,
    one_or_several,
)
from faithscope.cli.summary_file import append_summary, check_summary
from faithscope.runtime.printing import print_json

Unverifiable = Annotated[float, typer.Option(help="The share of rows that may stay unverifiable.")]


def plan(
    log: LogFiles = None,
    prediction: Prediction = None,
    explanation: Explanation = None,
    kind: Kind = None,
    discretize: Discretize = None,
    inputs: InputTexts = None,
    agreement: AgreementWord = None,
    where: Where = None,
    nulls: NullsPolicy = "error",
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
    from faithscope.measures.planning.plan import plan as plan_rows
    from faithscope.tables.audit import audit

    check_summary(summary)
    result = audit(
        open_log_source(log, table, connect),
        prediction=one_or_several(prediction),
        explanation=explanation or None,
        kind=kind,
        discretizer=discretize,
        inputs=inputs or None,
        where=where,
        nulls=cast(Any, nulls),  # `audit` refuses words that it does not know
        agreement=agreement,
    )
    rows = plan_rows(result.consistency, unverifiable=unverifiable, confidence=confidence)
    print_json(json.dumps(rows.to_dict())) if as_json else typer.echo(str(rows))
    append_summary(summary, rows._card())
