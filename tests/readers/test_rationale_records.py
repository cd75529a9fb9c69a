"""Rationales of records, chats, batches and files, and what is wrong with them in one sentence."""

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faithscope as fs
from faithscope.errors import BadInput, UnknownName

LOG = [
    {"input": "Win money!", "answer": "spam", "explanation": "It offers money."},
    {"input": "Cash for you", "answer": "spam", "explanation": "it offers money"},
    {"input": "See you at 5", "answer": "ham", "explanation": "A friend writes."},
]


def parts(rationales):
    return list(rationales.predictions), list(rationales.reasons.texts), list(rationales.inputs)


EXPECTED = tuple([held[name] for held in LOG] for name in ("answer", "explanation", "input"))
REPLY = [json.dumps({"answer": held["answer"], "explanation": held["explanation"]}) for held in LOG]


def openai(content):
    return {
        "status_code": 200,
        "body": {"choices": [{"index": 0, "message": {"role": "assistant", "content": content}}]},
    }


def responses(content):
    item = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": content}]}
    return {"status_code": 200, "body": {"output": [{"type": "reasoning", "summary": []}, item]}}


def anthropic(content):
    blocks = [{"type": "thinking", "thinking": '{"answer": "?"}'}, {"type": "text", "text": content}]
    return {"type": "succeeded", "message": {"role": "assistant", "content": blocks}}


FORMS = {
    "records": LOG,
    "tuple": tuple(LOG),
    "objects": [SimpleNamespace(**held) for held in LOG],
    "pandas": pd.DataFrame(LOG, index=[5, 1, 3]),
    "polars": pl.DataFrame(LOG),
    "arrow": pl.DataFrame(LOG).to_arrow(),
    "other names": [{"Question": h["input"], "Prediction": h["answer"], "Rationale": h["explanation"]} for h in LOG],
    "reply": [{"prompt": h["input"], "output": reply} for h, reply in zip(LOG, REPLY, strict=True)],
    "reply as dict": [
        {"prompt": h["input"], "response": json.loads(reply)} for h, reply in zip(LOG, REPLY, strict=True)
    ],
    "fenced reply": [
        {"prompt": h["input"], "output": f"Sure!\n```json\n{r}\n```"} for h, r in zip(LOG, REPLY, strict=True)
    ],
}


@pytest.mark.parametrize("log", FORMS.values(), ids=FORMS)
def test_records_give_predictions_reasons_and_inputs(log):
    assert parts(fs.read_rationales(log)) == EXPECTED


def test_chats_give_what_users_said_and_the_last_reply():
    system = {"role": "system", "content": "Be brief."}
    chats = [
        {"messages": [system, {"role": "user", "content": held["input"]}, {"role": "assistant", "content": reply}]}
        for held, reply in zip(LOG, REPLY, strict=True)
    ]
    rationales = fs.read_rationales(chats)
    assert parts(rationales)[:2] == EXPECTED[:2]
    assert list(rationales.reasons.inputs) == EXPECTED[2]


@pytest.mark.parametrize(("field", "body"), [("response", openai), ("response", responses), ("result", anthropic)])
def test_batches_give_replies_and_their_custom_ids(field, body):
    lines = [{"custom_id": f"case-{n}", field: body(reply), "error": None} for n, reply in enumerate(REPLY)]
    rationales = fs.read_rationales(lines)
    assert parts(rationales)[:2] == EXPECTED[:2]
    assert list(rationales.ids) == ["case-0", "case-1", "case-2"]
    failed = [*lines, {"custom_id": "case-3", field: None, "error": {"message": "timeout"}}]
    with pytest.raises(BadInput, match="1 of 4 rows without an answer or a rationale; the first is row 3"):
        fs.read_rationales(failed)


def test_a_reply_that_is_no_json_or_holds_several_objects_is_missing_and_not_guessed():
    for reply in ("It is spam.", f"{REPLY[0]} or {REPLY[2]}", '{"answer": "spam"}', "[" * 9999):
        with pytest.raises(BadInput, match="1 of 4 rows"):
            fs.read_rationales([*FORMS["reply"], {"prompt": "x", "output": reply}])


def test_other_fields_are_named_by_the_caller():
    log = [
        {"x": {"text": h["input"]}, "y": {"label": h["answer"]}, "why": h["explanation"], "key": n}
        for n, h in enumerate(LOG)
    ]
    rationales = fs.read_rationales(log, answer="y.label", explanation="why", input="x.text", id="key")
    assert parts(rationales) == EXPECTED
    assert list(rationales.ids) == [0, 1, 2]


def test_a_label_is_not_taken_for_an_answer():
    log = [{"sentence": "x", "label": "spam", "explanation": "y"}]
    with pytest.raises(BadInput, match=r"No field looks like the answer; .* what the model said, not the truth"):
        fs.read_rationales(log)
    assert list(fs.read_rationales(log, answer="label").predictions) == ["spam"]


def test_two_fields_that_may_be_the_same_thing_are_not_chosen_between():
    with pytest.raises(
        BadInput, match=r"Both 'answer' and 'prediction' may hold the answer: say which, answer='answer'"
    ):
        fs.read_rationales([{**held, "prediction": "ham"} for held in LOG])


@pytest.mark.parametrize("absent", [None, float("nan"), np.nan, pd.NA, pd.NaT])
@pytest.mark.parametrize("field", ["answer", "explanation"])
def test_missing_parts_are_an_error_or_dropped_or_kept(absent, field):
    log = [*LOG, {**LOG[0], field: absent}]
    with pytest.raises(
        BadInput, match=rf"1 of 4 rows .* row 3, without its {'rationale' if field != 'answer' else 'answer'}"
    ):
        fs.read_rationales(log)
    assert parts(fs.read_rationales(log, nulls="drop")) == EXPECTED
    kept = fs.read_rationales(log, nulls="key")
    assert (kept.predictions[3], kept.reasons.texts[3]) == (
        ("missing", LOG[0]["explanation"]) if field == "answer" else ("spam", "")
    )
    assert fs.consistency(kept.reasons, kept.predictions).n == 4


def test_a_missing_answer_never_becomes_a_label_that_exists():
    log = [*LOG, {**LOG[0], "answer": None}, {**LOG[0], "answer": "missing"}]
    with pytest.raises(BadInput, match='pass nulls="drop"'):
        fs.read_rationales(log, nulls="key")


def test_nothing_to_measure_is_an_error():
    for nothing in ([], pd.DataFrame(LOG).head(0), {}, [{}]):
        with pytest.raises(BadInput):
            fs.read_rationales(nothing)
    with pytest.raises(BadInput, match="no row is left"):
        fs.read_rationales([{"answer": None, "explanation": None}], nulls="drop")


def test_rationales_that_are_conditions_become_rules_over_inputs_that_are_features():
    log = [
        {
            "input": {"age": age, "job": "cook"},
            "answer": age > 40,
            "explanation": [{"feature": "age", "op": ">", "value": 40}],
        }
        for age in (39, 45, 50, 60)
    ]
    rationales = fs.read_rationales(log)
    X = rationales.input_table()
    estimate = fs.sufficiency(rationales.reasons.to_rules(X), rationales.predictions, X)
    assert estimate.n == 4
    assert estimate.value == pytest.approx(0.75)
    with pytest.raises(BadInput, match=r"The input of row 0 is no dict of features"):
        fs.read_rationales(LOG).input_table()


# Files.
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@given(
    st.lists(
        st.tuples(TEXTS, TEXTS, st.one_of(TEXTS.filter(bool), st.booleans(), st.integers(-9, 9))),
        min_size=1,
        max_size=6,
    )
)
def test_a_file_of_json_lines_gives_what_its_records_give(tmp_path_factory, rows):
    log = [
        {"id": n, "input": given, "answer": answer, "explanation": why} for n, (given, why, answer) in enumerate(rows)
    ]
    lines = [json.dumps(held, ensure_ascii=bool(number % 2)) for number, held in enumerate(log)]
    path = tmp_path_factory.mktemp("log") / "log.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + "\r\n\n  \n".join(lines).encode() + b"\n")
    assert fs.read_rationales(path).to_frame().equals(fs.read_rationales(log).to_frame())
    path.with_suffix(".json").write_text(json.dumps(log))
    assert fs.read_rationales(str(path.with_suffix(".json"))).to_frame().equals(fs.read_rationales(log).to_frame())


def test_csv_is_read_with_its_separator_and_cells_of_several_lines(tmp_path):
    log = [*LOG[:2], {"input": 'a;b "c"\n,d', "answer": "ham", "explanation": "x" * 200_000}]
    for separator in ",;\t":
        path = tmp_path / "log.csv"
        pd.DataFrame(log).to_csv(path, index=False, sep=separator)
        assert parts(fs.read_rationales(path))[1] == [held["explanation"] for held in log]
        assert parts(fs.read_rationales(path))[2][2] == 'a;b "c"\n,d'


GOOD = json.dumps(LOG[0])
BROKEN = {
    "truncated": (f"{GOOD}\n{GOOD[:-9]}", "Line 2 of log.jsonl is no JSON"),
    "not UTF-8": (
        GOOD.encode() + b"\n\n" + GOOD.replace("Win", "W\xefn").encode("latin-1"),
        "Line 3 of log.jsonl is not UTF-8",
    ),
    "a key twice": (f'{GOOD}\n{{"answer": 1, "answer": 2, "explanation": "x"}}', "Line 2 .*'answer' stands twice"),
    "deep": (f"{GOOD}\n" + "[" * 100_000, "Line 2 of log.jsonl is no JSON .it nests too deeply"),
    "no object": (f"{GOOD}\n3", "Row 1 is no record with fields"),
    "NUL": (b"\0\0\0", "Line 1 of log.jsonl is no JSON"),
    "empty": ("\n\r\n", "holds no rows"),
    "long number": ('{"input": ' + "9" * 9000 + "}", "Line 1 of log.jsonl is no JSON"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_file_is_refused_with_the_line(tmp_path, kind):
    content, message = BROKEN[kind]
    path = tmp_path / "log.jsonl"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(BadInput, match=message) as told:
        fs.read_rationales(path)
    assert len(str(told.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('a,"b\nc', "is no CSV"),
        ("answer,explanation\n1,2,3", "Line 2 .* 3 cells, but there are 2"),
        ("a,a\n1,2", "called 'a'"),
    ],
)
def test_a_broken_table_is_refused_with_the_line(tmp_path, content, message):
    path = tmp_path / "log.csv"
    path.write_text(content)
    with pytest.raises(BadInput, match=message):
        fs.read_rationales(path)


@pytest.mark.parametrize(
    "path", ["no such file.jsonl", "log.eval", "log.parquet", "\0.jsonl", "", "x" * 5000 + ".jsonl"]
)
def test_paths_that_hold_no_log_are_refused(path):
    with pytest.raises(BadInput):
        fs.read_rationales(path)


@pytest.mark.parametrize("thing", [3, None, object(), b"x", {"a", "b"}, [3], ["text"], np.zeros((2, 2)), [[1, 2]]])
def test_what_is_no_log_is_refused(thing):
    with pytest.raises(BadInput):
        fs.read_rationales(thing)


def test_hostile_texts_pass_through_as_they_are():
    hostile = ["\0", "\ud800", "x" * 1_000_000, "<script>alert(1)</script>", "[" * 50_000, '{"a":' * 50_000]
    rationales = fs.read_rationales([{"input": text, "answer": "a", "explanation": text} for text in hostile])
    assert list(rationales.reasons.texts) == hostile
    assert list(rationales.reasons.inputs) == hostile
    assert fs.consistency(rationales.reasons, rationales.predictions).n == 6
    repr(rationales)


def test_answers_that_are_lists_are_refused():
    with pytest.raises(BadInput, match="row 0 is a list"):
        fs.read_rationales([{"answer": ["a"], "explanation": "x"}])
    with pytest.raises(BadInput, match="rationales are texts"):
        fs.read_rationales([{"answer": "a", "explanation": 3}])


def test_the_command_line_reads_a_flat_file_without_a_reader(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join(map(json.dumps, LOG)))
    rationales = fs.read_rationales(path)
    audited = fs.audit(path, prediction="answer", explanation="explanation")
    assert audited.consistency.n == len(rationales)


def test_the_row_labels_of_a_table_are_kept_so_that_other_orders_are_refused():
    log = pd.DataFrame({"answer": list("aab"), "explanation": ["x", None, "y"]}, index=[2, 1, 0])
    rationales = fs.read_rationales(log, nulls="drop")
    assert rationales.reasons.index.tolist() == [2, 0]
    with pytest.raises(BadInput, match="another order"):
        fs.evaluate(rationales.predictions, rationales.reasons, log.loc[[0, 2]])


@pytest.mark.parametrize("option", ["answer", "explanation", "input", "id"])
@pytest.mark.parametrize("nulls", ["error", "drop", "key"])
def test_a_field_that_no_row_has_is_refused_with_the_one_that_was_meant(option, nulls):
    log = [{"id": 1, "input": "i", "answer": "a", "explanation": "e"}]
    with pytest.raises(fs.errors.UnknownName, match=f"Did you mean '{option}'"):
        fs.read_rationales(log, **{option: f"{option}x"}, nulls=nulls)


def test_answers_that_differ_in_case_alone_are_told():
    log = [{"answer": answer, "explanation": "e"} for answer in ("Yes", "yes", "no")]
    assert "'Yes' and 'yes' are different predictions" in fs.read_rationales(log).notes[0]
    assert not fs.read_rationales(log[1:]).notes


def test_an_answer_beside_a_response_may_be_what_is_right():
    log = [{"question": "2 + 2?", "answer": "4", "response": "5", "explanation": "It is five."}]
    with pytest.raises(BadInput, match="answer='response'"):
        fs.read_rationales(log)
    assert list(fs.read_rationales(log, answer="response").predictions) == ["5"]


def test_an_answer_beside_a_label_and_a_score_may_be_the_prediction():
    log = [{"input": "x", "label": "truth", "answer": "said", "explanation": "e", "score": 0.9}] * 3
    with pytest.raises(BadInput, match="answer='answer'"):
        fs.read_rationales(log)
    assert set(fs.read_rationales(log, answer="answer").predictions) == {"said"}
    assert set(fs.read_rationales(log, answer="label").predictions) == {"truth"}


def test_two_names_that_differ_in_case_alone_are_two_fields():
    with pytest.raises(BadInput, match="'Answer' and 'answer'"):
        fs.read_rationales([{"Answer": "x", "answer": "y", "explanation": "e"}])


@pytest.mark.parametrize("held", ["messages", "output"])
def test_the_explanation_that_a_caller_names_may_be_one_of_the_reply(held):
    reply = json.dumps({"reasoning": "r", "explanation": "e", "answer": "spam"})
    chat = [{"role": "user", "content": "q"}, {"role": "assistant", "content": reply}]
    log = [{"input": "q", held: chat if held == "messages" else reply}] * 2
    with pytest.raises(BadInput, match="explanation='explanation'"):
        fs.read_rationales(log)
    read = fs.read_rationales(log, explanation="explanation")
    assert (list(read.reasons.texts), list(read.predictions)) == (["e", "e"], ["spam", "spam"])
    with pytest.raises(UnknownName, match="'explain'"):
        fs.read_rationales(log, explanation="explain")


def test_two_lines_of_json_in_a_file_called_json_are_two_records(tmp_path):
    path = tmp_path / "log.json"
    path.write_text("\n".join(map(json.dumps, LOG[:2])))
    assert list(fs.read_rationales(path).predictions) == ["spam", "spam"]
