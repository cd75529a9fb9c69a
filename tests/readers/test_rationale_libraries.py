"""Rationales of other libraries' logs: real objects if a library is installed here, else objects with its fields."""

import json
import re
from types import SimpleNamespace

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from mlflow.entities import Expectation, Feedback, Trace, TraceData, TraceInfo, TraceLocation, TraceState
from mlflow.tracing.utils.search import traces_to_df

import faithscope as fs
from faithscope import read_rationales as read
from faithscope.errors import BadInput
from refused import refused


def parts(rationales):
    return list(rationales.predictions), list(rationales.reasons.texts), list(rationales.ids)


# Inspect: EvalLog.samples, EvalSample.scores, Score; samples_df(columns=SampleSummary + SampleScores).
def verdict(value, explanation, answer=None):
    return SimpleNamespace(value=value, answer=answer, explanation=explanation, metadata=None)


def sample(number, **scores):
    return SimpleNamespace(id=number, epoch=1, input=f"What is 2+{number}?", target="4", scores=scores or None)


SAMPLES = [sample(0, judge=verdict("C", "It is 2.", "2")), sample(1, judge=verdict("I", "It is not 4.", "4"))]
LINES = pd.DataFrame(
    {
        "sample_id": ["a", "b"],
        "eval_id": ["e", "e"],
        "id": ["0", "1"],
        "epoch": [1, 1],
        "input": ["user:\nWhat is 2+0?\n", "user:\nWhat is 2+1?\n"],
        "target": ["2", "3"],
        "score_judge": ["C", "I"],
        "score_judge_answer": ["2", "4"],
        "score_judge_explanation": ["It is 2.", "It is not 4."],
        "score_match": ["C", "I"],
    },
    index=[9, 4],
)


def as_json(thing):
    return json.loads(json.dumps(thing, default=vars))


@pytest.mark.parametrize(
    "log",
    [
        SAMPLES,
        SimpleNamespace(eval=None, samples=SAMPLES),
        {"eval": {}, "samples": as_json(SAMPLES)},
        as_json(SAMPLES),
        LINES,
        pl.DataFrame(LINES),
        pa.Table.from_pandas(LINES, preserve_index=False),
        LINES.to_dict("records"),
    ],
    ids=["samples", "log", "log as JSON", "samples as JSON", "pandas", "polars", "Arrow", "records"],
)
def test_inspect_gives_values_explanations_ids_and_inputs(log):
    rationales = read(log)
    assert parts(rationales)[:2] == (["C", "I"], ["It is 2.", "It is not 4."])
    assert [str(number) for number in rationales.ids] == ["0", "1"]
    assert list(rationales.inputs) == ["What is 2+0?", "What is 2+1?"]
    assert any("answer='answer' reads its answer" in note for note in rationales.notes)
    assert list(read(log, answer="answer").predictions) == ["2", "4"]


def test_several_scorers_must_be_chosen_by_name():
    log = [sample(0, judge=verdict("C", "yes"), style=verdict(0.5, "plain"), count=verdict(3, None)), *SAMPLES[1:]]
    refused(BadInput, "rationales by 'judge', 'style': choose one, such as name='judge'", read, log)
    assert parts(read(log, name="judge"))[0] == ["C", "I"]
    told = "1 of 2 rows without an answer or a rationale; the first is row 1"
    refused(BadInput, told, read, log, name="style")
    refused(BadInput, r"no rationales by 'jugde'\. Did you mean 'judge'", read, log, name="jugde")
    refused(BadInput, "No field looks like the explanation", read, LINES.drop(columns=["score_judge_explanation"]))


def test_samples_that_failed_are_missing_wherever_they_stand():
    for log in ([sample(7), *SAMPLES], [*SAMPLES, sample(7)]):
        refused(BadInput, "1 of 3 rows without an answer", read, log)
        dropped = read(log, nulls="drop")
        assert list(dropped.ids) == [0, 1]
        assert "1 of 3 rows without an answer or a rationale were left out" in dropped.notes


def test_several_epochs_of_a_sample_are_told_and_their_ids_are_clusters():
    rationales = read([*SAMPLES, *SAMPLES])
    together = fs.consistency(rationales.reasons, rationales.predictions, clusters=rationales.ids)
    assert together.unverifiable == 1.0
    for notes in (rationales.notes, together.notes):
        assert any("4 of 4 rows share their id" in note for note in notes)


def test_an_unscored_sample_is_missing_and_a_value_of_several_parts_is_chosen():
    log = [sample(0, judge=verdict(float("nan"), "cannot say")), sample(1, judge=verdict({"a": 1, "b": 0}, "x"))]
    refused(BadInput, "the first is row 0, without its answer", read, log)
    refused(BadInput, r"row 1 has several parts .* answer='value\.a'", read, log, nulls="drop")
    assert list(read(log[1:], answer="value.a").predictions) == [1]


# MLflow, with its own classes.
def trace(number, *assessments):
    info = TraceInfo(
        trace_id=f"tr-{number}",
        trace_location=TraceLocation.from_experiment_id("0"),
        request_time=0,
        state=TraceState.OK,
        request_preview=json.dumps({"question": f"Is {number} odd?"}),
        assessments=list(assessments),
    )
    return Trace(info=info, data=TraceData(spans=[]))


def feedback(value, rationale, name="judge", **more):
    return Feedback(name=name, value=value, rationale=rationale, **more)


FEEDBACK = [feedback(True, "It is odd.", trace_id="tr-0"), feedback(False, "It is even.", trace_id="tr-1")]
TRACES = [trace(number, each, Expectation(name="truth", value=True)) for number, each in enumerate(FEEDBACK)]


@pytest.mark.parametrize(
    "log",
    [
        FEEDBACK,
        [each.to_dictionary() for each in FEEDBACK],
        [*FEEDBACK, Expectation(name="truth", value=True)],
        TRACES,
        traces_to_df(TRACES),
        SimpleNamespace(run_id="r", metrics={}, result_df=traces_to_df(TRACES)),
        traces_to_df(TRACES).assign(assessments=lambda frame: frame["assessments"].map(json.dumps)),
        pl.DataFrame({"trace_id": ["tr-0", "tr-1"], "assessments": [[each.to_dictionary()] for each in FEEDBACK]}),
    ],
    ids=["feedback", "dicts", "with truth", "traces", "table", "evaluation", "table of JSON", "polars"],
)
def test_mlflow_gives_values_rationales_and_ids_of_feedback_alone(log):
    rationales = read(log)
    assert parts(rationales) == ([True, False], ["It is odd.", "It is even."], ["tr-0", "tr-1"])


def test_traces_and_evaluations_of_mlflow_give_their_requests_as_inputs():
    rationales = read(TRACES)
    assert list(rationales.inputs) == [{"question": "Is 0 odd?"}, {"question": "Is 1 odd?"}]
    assert list(rationales.reasons.inputs) == ["Is 0 odd?", "Is 1 odd?"]
    table = {"judge/value": ["yes", "no"], "judge/rationale": ["a", "b"], "inputs": [{"q": "x"}, {"q": "y"}]}
    evaluated = read(pd.DataFrame(table))
    assert parts(evaluated)[:2] == (["yes", "no"], ["a", "b"])
    assert list(evaluated.reasons.inputs) == ["x", "y"]


def test_feedback_that_was_overridden_is_left_out_and_such_that_failed_is_missing():
    rationales = read([*FEEDBACK, feedback(True, "wrong", valid=False)])
    assert len(rationales) == 2
    assert not rationales.notes
    refused(BadInput, "1 of 3 rows", read, [*FEEDBACK, Feedback(name="judge", error="timeout")])
    told = "1 of 3 rows without an answer or a rationale; the first is row 2"
    refused(BadInput, told, read, [*TRACES, trace(2)])


# Phoenix: cells of {name}_score are dicts or their JSON, which lack what the score lacks; tables of annotations.
def cell(label, explanation, **more):
    known = {"name": "relevance", "score": 1.0, "metadata": {}, "kind": "llm"}
    held = known | {"label": label, "explanation": explanation} | more
    return {name: value for name, value in held.items() if value is not None}


SPANS = pd.Index(["s1", "s2"], name="context.span_id")
EVALUATED = pd.DataFrame(
    {"input": ["q1", "q2"], "relevance_score": [cell("yes", "on it"), cell("no", "off it")]}, index=SPANS
)
ANNOTATIONS = pd.DataFrame(
    {"span_id": ["s1", "s2"], "label": ["yes", "no"], "score": [1, 0], "explanation": ["on it", "off it"]}
)


@pytest.mark.parametrize(
    "log",
    [
        EVALUATED,
        EVALUATED.assign(relevance_score=EVALUATED["relevance_score"].map(json.dumps)),
        EVALUATED.reset_index().to_dict("records"),
        ANNOTATIONS,
        ANNOTATIONS.assign(annotation_name="relevance", annotator_kind="LLM"),
        [SimpleNamespace(id=f"s{n}", **cell(*pair)) for n, pair in enumerate([("yes", "on it"), ("no", "off it")], 1)],
    ],
    ids=["cells", "cells of JSON", "records", "labels", "annotations", "objects"],
)
def test_phoenix_gives_labels_explanations_and_spans(log):
    assert parts(read(log)) == (["yes", "no"], ["on it", "off it"], ["s1", "s2"])


# Langfuse: scores of its API and exports, in camel case, and of its Python client, in snake case.
def langfuse(number, value, text, comment, kind="CATEGORICAL"):
    known = {"id": f"sc{number}", "traceId": f"t{number}", "observationId": None, "name": "judge", "source": "EVAL"}
    return known | {"value": value, "stringValue": text, "dataType": kind, "comment": comment}


SCORES = [langfuse(1, 0, "good", "It answers."), langfuse(2, 0, "bad", "It does not.")]


def snake(held):
    return SimpleNamespace(**{re.sub("[A-Z]", lambda big: f"_{big[0].lower()}", name): held[name] for name in held})


@pytest.mark.parametrize(
    "log",
    [SCORES, {"data": SCORES, "meta": {"page": 1}}, [snake(held) for held in SCORES], pd.DataFrame(SCORES)],
    ids=["export", "page", "client", "table"],
)
def test_langfuse_gives_texts_comments_and_traces(log):
    assert parts(read(log)) == (["good", "bad"], ["It answers.", "It does not."], ["t1", "t2"])


def test_numbers_of_langfuse_are_numbers_and_traces_give_inputs(tmp_path):
    numbers = [langfuse(n, n / 4, None, "so", "NUMERIC") for n in range(3)]
    assert list(read(numbers).predictions) == [0.0, 0.25, 0.5]
    traces = [{"id": f"t{n}", "input": {"question": f"q{n}"}, "scores": [SCORES[n]]} for n in range(2)]
    (tmp_path / "traces.json").write_text(json.dumps(traces))
    rationales = read(tmp_path / "traces.json")
    assert parts(rationales) == (["good", "bad"], ["It answers.", "It does not."], ["t0", "t1"])
    assert list(rationales.reasons.inputs) == ["q0", "q1"]


def test_rationales_are_chosen_by_name_and_none_is_left_out_without_a_word():
    both = [trace(n, each, feedback("polite", "kind words", "tone")) for n, each in enumerate(FEEDBACK)]
    refused(BadInput, "'judge', 'tone'", read, both)
    assert list(read(both, name="tone").predictions) == ["polite", "polite"]
    cells = EVALUATED.assign(tone_score=[cell(None, "a", name="tone"), cell(None, "b", name="tone")])
    refused(BadInput, "'relevance', 'tone'", read, cells)  # not hidden by one with labels
    assert list(read(cells, name="tone").predictions) == [1.0, 1.0]
    assert list(read(cells, name="relevance").predictions) == ["yes", "no"]
    log = [{"name": name, "value": 1, "comment": "why", "traceId": name} for name in ("judge", None)]
    refused(BadInput, "by 'judge', nobody: choose one, such as name='judge'", read, log)
    assert len(read(log, name="judge")) == len(read(log[1:])) == 1
