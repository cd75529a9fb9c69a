"""A report says what its numbers take for granted, and doubts a verdict whose assumptions fail."""

import numpy as np
import pandas as pd

import faithscope as fs
import report_examples as examples
from faithscope.report.html import render
from faithscope.report.summary import summarize

ROWS = examples.rows(120)


def page(X=ROWS, **options):
    return render(summarize(examples.evaluation(X, **options)))


def test_independent_rows_and_a_fixed_explainer_are_said():
    assert "rows are independent draws from the population" in page()
    assert "the explainer was fixed before they were seen" in page()
    log = ROWS.assign(yhat=examples.predict(ROWS))
    assert "rows are independent draws" in render(summarize(fs.audit(log, prediction="yhat", explanation="job")))


def test_clusters_are_counted_and_named():
    clusters = pd.Series(np.arange(120) // 3, name="customer_id")
    told = page(clusters=clusters)
    assert "the 40 clusters of rows (rows with the same customer_id) are independent draws" in told
    assert "40 (by customer_id)" in told
    assert "the 40 clusters of rows (rows that belong together)" in page(clusters=clusters.to_numpy())
    log = ROWS.assign(yhat=examples.predict(ROWS), customer_id=clusters)
    audited = fs.audit(log, prediction="yhat", explanation="job", clusters="customer_id")
    assert "rows with the same customer_id" in render(summarize(audited))


def test_weighted_rows_stand_for_the_population():
    assert "draws, weighted so that they stand for the population" in page(weights=np.arange(1, 121))
