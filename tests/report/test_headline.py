"""The sentence on top of a report can be quoted: the verdict, and the line of the estimate that decides it."""

import faithscope as fs
import report_examples as examples
from faithscope.report.sections.verdicts import headline
from faithscope.report.summary import summarize

ROWS = [[number] for number in range(200)]


def told(predictions, explanations, **options):
    return headline(summarize(fs.evaluate(predictions, explanations, ROWS[: len(predictions)], **options), examples=0))


def test_it_is_the_verdict_and_the_line_of_the_estimate():
    evaluation = fs.evaluate(["yes", "yes", "no"] * 66, ["old", "old", "young"] * 66, ROWS[:198])
    assert (
        headline(summarize(evaluation))
        == (
            f"Consistent: {evaluation.consistency.line}. "
            + " ".join(f"Read with care: {doubt}." for doubt in summarize(evaluation).explainers[0].doubts)
        ).rstrip()
    )
    assert told([1, 0], ["a", "b"]).startswith("Cannot tell yet: consistency: no row can be checked")
    assert told(["yes", "no"] * 100, ["a", "a", "b", "b"] * 50).startswith("No better than chance: consistency 0.49")


def test_it_is_about_the_explainer_that_was_named_first_not_the_best_one_and_names_it():
    """The best of several is known only after looking; baselines are what the others are held against."""
    X = examples.rows(120)
    given = {"constant": fs.explainers.Constant(), "coin": (X["age"] % 2).tolist(), "right": list(examples.predict(X))}
    summary = summarize(fs.compare(examples.predict, given, X), examples=0)
    assert [each.name for each in summary.explainers] == ["right", "coin", "constant"]
    assert headline(summary).startswith("coin: ")
    baselines = summarize(fs.compare(examples.predict, {"nothing": fs.explainers.Constant()}, X), examples=0)
    assert headline(baselines)


def test_the_weakest_measure_is_quoted():
    evaluation = fs.evaluate([0, 1] * 100, fs.Rules.parse(["a >= 0", "a >= -1"] * 100, features=["a"]), ROWS)
    assert evaluation.consistency.value == 1
    assert ": sufficiency 0." in headline(summarize(evaluation))


def test_what_makes_one_doubt_the_verdict_follows_it():
    summary = summarize(fs.evaluate(["yes", "no"] * 100, ["it is yes", "it is no"] * 100, ROWS))
    doubts = summary.explainers[0].doubts
    assert doubts
    assert all(f"Read with care: {doubt}." in headline(summary) for doubt in doubts)
