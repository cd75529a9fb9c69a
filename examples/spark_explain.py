"""Explain rows at scale with Spark, write them as a log, and audit the log where it lies.

    pip install 'faithscope[spark]'
    python examples/spark_explain.py

Every executor gets batches of rows as Arrow tables (`mapInArrow`), predicts and explains them, and gives back columns
of the log format. A row's explanation is a function of the row, so how rows are dealt out does not matter.
"""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ibis
import pyarrow as pa
from pyspark.sql import SparkSession
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier

import faithscope as fs
from faithscope.explanations.arrow import to_arrow

FEATURES = 6


def explained(batches: Iterator[pa.RecordBatch], model: Any, explainer: Any) -> Iterator[pa.RecordBatch]:
    """Predictions and importances of batches of rows, as columns of a log."""
    for batch in batches:
        rows = batch.to_pandas()
        if len(rows):
            log = to_arrow(explainer.explain(rows)).append_column("prediction", pa.array(model.predict(rows)))
            yield from log.replace_schema_metadata().combine_chunks().to_batches()


def main(rows: int = 5_000) -> None:
    bundled = load_breast_cancer(as_frame=True)
    X = bundled.data.iloc[:, :FEATURES].rename(columns=lambda name: name.replace(" ", "_"))
    model = HistGradientBoostingClassifier(max_iter=20, random_state=0).fit(X, bundled.target)
    explainer = fs.explainers.Lime(model.predict_proba, X, samples=500)

    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    system = spark.sparkContext.broadcast((model, explainer))  # sent to every executor once
    table = spark.createDataFrame(pa.Table.from_pandas(X.sample(rows, replace=True, random_state=0)))
    columns = ", ".join([*(f"`phi_{name}` double" for name in X.columns), "prediction long"])
    log = table.select(*X.columns).mapInArrow(lambda batches: explained(batches, *system.value), columns)

    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "log.parquet")
        log.write.parquet(path)
        written = ibis.pyspark.connect(spark).read_parquet(path)
        print(fs.audit(written, prediction="prediction", explanation="phi_*", discretizer=fs.SignOfTop(3)))
    spark.stop()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
