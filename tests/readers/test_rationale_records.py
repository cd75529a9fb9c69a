"""Rationales of records, chats, batches and files, and what is wrong with them in one sentence."""

import json
from itertools import product
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import faithscope as fs
from faithscope import read_rationales as read
from faithscope.errors import BadInput, UnknownName
from refused import refused

LOG = [
    {"input": "Win money!", "answer": "spam", "explanation": "It offers money."},
    {"input": "Cash for you", "answer": "spam", "explanation": "it offers money"},
    {"input": "See you at 5", "answer": "ham", "explanation": "A friend writes."},
]


def parts(rationales):
    return list(rationales.predictions), list(rationales.reasons.texts), list(rationales.inputs)


EXPECTED = tuple([held[name] for held in LOG] for name in ("answer", "explanation", "input"))
REPLY = [json.dumps({"answer": held["answer"], "explanation": held["explanation"]}) for held in LOG]
REPLIES = list(zip(LOG, REPLY, strict=True))


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
    "objects": [SimpleNamespace(**held) for held in LOG],
    "pandas": pd.DataFrame(LOG, index=[5, 1, 3]),
    "polars": pl.DataFrame(LOG),
    "arrow": pl.DataFrame(LOG).to_arrow(),
    "other names": [{"Question": h["input"], "Prediction": h["answer"], "Rationale": h["explanation"]} for h in LOG],
    "reply": [{"prompt": h["input"], "output": reply} for h, reply in REPLIES],
    "reply as dict": [{"prompt": h["input"], "response": json.loads(reply)} for h, reply in REPLIES],
}


@pytest.mark.parametrize("log", FORMS.values(), ids=FORMS)
def test_records_give_predictions_reasons_and_inputs(log):
    assert parts(read(log)) == EXPECTED


def test_chats_give_what_users_said_and_the_last_reply():
    said = lambda role, text: {"role": role, "content": text}  # noqa: E731
    system = said("system", "Be brief.")
    chats = [{"messages": [system, said("user", h["input"]), said("assistant", reply)]} for h, reply in REPLIES]
    rationales = read(chats)
    assert parts(rationales)[:2] == EXPECTED[:2]
    assert list(rationales.reasons.inputs) == EXPECTED[2]


@pytest.mark.parametrize(("field", "body"), [("response", openai), ("response", responses), ("result", anthropic)])
def test_batches_give_replies_and_their_custom_ids(field, body):
    lines = [{"custom_id": f"case-{n}", field: body(reply), "error": None} for n, reply in enumerate(REPLY)]
    rationales = read(lines)
    assert parts(rationales)[:2] == EXPECTED[:2]
    assert list(rationales.ids) == ["case-0", "case-1", "case-2"]
    failed = [*lines, {"custom_id": "case-3", field: None, "error": {"message": "timeout"}}]
    refused(BadInput, "1 of 4 rows without an answer or a rationale; the first is row 3", read, failed)


def test_a_reply_that_is_no_json_or_holds_several_objects_is_missing_and_not_guessed():
    for reply in ("It is spam.", f"{REPLY[0]} or {REPLY[2]}", '{"answer": "spam"}', "[" * 9999):
        refused(BadInput, "1 of 4 rows", read, [*FORMS["reply"], {"prompt": "x", "output": reply}])


def test_other_fields_are_named_by_the_caller():
    log = [
        {"x": {"text": h["input"]}, "y": {"label": h["answer"]}, "why": h["explanation"], "key": n}
        for n, h in enumerate(LOG)
    ]
    rationales = read(log, answer="y.label", explanation="why", input="x.text", id="key")
    assert parts(rationales) == EXPECTED
    assert list(rationales.ids) == [0, 1, 2]


@pytest.mark.parametrize(
    ("fields", "told", "choices"),
    [
        ({"sentence": "x", "label": "spam"}, "No field looks like the answer; .* said, not the truth", ["label"]),
        (
            {"answer": "spam", "prediction": "ham"},
            "Both 'answer' and 'prediction' may hold the answer: say which, answer='answer'",
            ["answer", "prediction"],
        ),
        ({"question": "2 + 2?", "answer": "4", "response": "5"}, "answer='response'", ["response"]),
        (
            {"input": "x", "label": "truth", "answer": "said", "score": 0.9},
            "'answer' and 'label' may both hold",
            ["answer", "label"],
        ),
        ({"Answer": "x", "answer": "y"}, "'Answer' and 'answer'", []),
        ({"id": "7", "verdikt": "spam"}, "there are 'id', 'verdikt', 'explanation': name the one that", ["verdikt"]),
    ],
)
def test_fields_that_may_be_the_answer_are_not_chosen_between(fields, told, choices):
    log = [{**fields, "explanation": "e"}] * 2
    refused(BadInput, told, read, log)
    for choice in choices:
        assert list(read(log, answer=choice).predictions) == [fields[choice]] * 2


@pytest.mark.parametrize(
    ("field", "told", "kept"),
    [("answer", "answer", ("missing", LOG[0]["explanation"])), ("explanation", "rationale", ("spam", ""))],
)
def test_missing_parts_are_an_error_or_dropped_or_kept(field, told, kept):
    for absent in (None, np.nan, pd.NA, pd.NaT):
        log = [*LOG, {**LOG[0], field: absent}]
        refused(BadInput, f"1 of 4 rows .* row 3, without its {told}", read, log)
        assert parts(read(log, nulls="drop")) == EXPECTED
        rationales = read(log, nulls="key")
        assert (rationales.predictions[3], rationales.reasons.texts[3]) == kept
        assert fs.consistency(rationales.reasons, rationales.predictions).n == 4


@pytest.mark.parametrize("wrap", [lambda reply: {"output": reply}, lambda reply: chat(reply)], ids=["record", "chat"])
def test_the_label_of_a_reply_is_its_answer_and_other_names_are_asked_for(wrap):
    log = [wrap(json.dumps({"label": label, "rationale": "It offers money."})) for label in ("spam", "ham")]
    assert list(read(log).predictions) == ["spam", "ham"]
    odd = [wrap(json.dumps({"id": 7, "mood": label, "why": "It offers money."})) for label in ("spam", "ham")]
    refused(BadInput, "No field looks like the answer; there are 'id', 'mood', 'why': name the one", read, odd)
    refused(BadInput, "holds the explanation, explanation=", read, [wrap('{"answer": "spam", "why": "x"}')] * 2)
    assert list(read(odd, answer="mood", explanation="why").predictions) == ["spam", "ham"]


def chat(reply):
    return {"messages": [{"role": "user", "content": "Is it spam?"}, {"role": "assistant", "content": reply}]}


def test_beside_a_missing_answer_that_is_kept_numbers_are_measured_too():
    log = [{"answer": answer, "explanation": why} for answer, why in ((1, "a"), (0, "a"), (None, "b"), (1, "a"))]
    for rows in (log, pd.DataFrame(log)):
        rationales = read(rows, nulls="key")
        assert list(rationales.predictions) == ["1", "0", "missing", "1"]
        assert fs.consistency(rationales.reasons, rationales.predictions).n == 4


def test_a_missing_answer_never_becomes_a_label_that_exists():
    log = [*LOG, {**LOG[0], "answer": None}, {**LOG[0], "answer": "missing"}]
    refused(BadInput, 'pass nulls="drop"', read, log, nulls="key")
    refused(BadInput, "no row is left", read, [{"answer": None, "explanation": None}], nulls="drop")


def test_rationales_that_are_conditions_become_rules_over_inputs_that_are_features():
    condition = {"feature": "age", "op": ">", "value": 40}
    log = [
        {"input": {"age": age, "job": "cook"}, "answer": age > 40, "explanation": [condition]}
        for age in (39, 45, 50, 60)
    ]
    rationales = read(log)
    X = rationales.input_table()
    assert fs.sufficiency(rationales.reasons.to_rules(X), rationales.predictions, X).value == pytest.approx(0.75)
    refused(BadInput, "The input of row 0 is no dict of features", read(LOG).input_table)


# Files.
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@given(
    st.lists(st.tuples(TEXTS, TEXTS, TEXTS.filter(bool) | st.booleans() | st.integers(-9, 9)), min_size=1, max_size=6)
)
def test_a_file_of_json_lines_gives_what_its_records_give(tmp_path_factory, rows):
    names = ("id", "input", "explanation", "answer")
    log = [dict(zip(names, (n, *row), strict=True)) for n, row in enumerate(rows)]
    lines = [json.dumps(held, ensure_ascii=bool(number % 2)) for number, held in enumerate(log)]
    folder = tmp_path_factory.mktemp("log")
    (folder / "log.jsonl").write_bytes(b"\xef\xbb\xbf" + "\r\n\n  \n".join(lines).encode() + b"\n")
    (folder / "log.json").write_text(json.dumps(log))
    (folder / "lines.json").write_text("\n".join(map(json.dumps, log)))
    for path in (folder / "log.jsonl", str(folder / "log.json"), folder / "lines.json"):
        assert read(path).to_frame().equals(read(log).to_frame())


GOOD = json.dumps(LOG[0])
BROKEN = [
    ("log.jsonl", f"{GOOD}\n{GOOD[:-9]}", "Line 2 of log.jsonl is no JSON"),
    (
        "log.jsonl",
        GOOD.encode() + b"\n\n" + GOOD.replace("Win", "W\xefn").encode("latin-1"),
        "Line 3 of log.jsonl is no JSON in UTF-8",
    ),
    ("log.jsonl", f'{GOOD}\n{{"answer": 1, "answer": 2, "explanation": "x"}}', "Line 2 .*'answer' stands twice"),
    ("log.jsonl", f"{GOOD}\n" + "[" * 100_000, "Line 2 of log.jsonl is no JSON in UTF-8 .it nests too deeply"),
    ("log.jsonl", f"{GOOD}\n3", "Row 1 is no record with fields"),
    ("log.jsonl", "\n\r\n", "holds no rows"),
    ("log.jsonl", '{"input": ' + "9" * 9000 + "}", "Line 1 of log.jsonl is no JSON"),
    ("log.csv", "a,b", r"pass pd\.read_csv"),
]


@pytest.mark.parametrize(("name", "content", "message"), BROKEN, ids=[message for _, _, message in BROKEN])
def test_a_broken_file_is_refused_with_the_line(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    refused(BadInput, message, read, tmp_path / name)


def test_what_is_no_log_is_refused():
    paths = ["no such file.jsonl", "log.eval", "\0.jsonl", "", "x" * 5000 + ".jsonl"]
    twice = pd.DataFrame([[1, 2]], columns=["a", "a"])
    things = [twice, 3, None, object(), b"x", {"a", "b"}, [3], ["text"], np.zeros((2, 2)), [[1, 2]]]
    for thing in (*paths, *things, [], pd.DataFrame(LOG).head(0), {}, [{}]):
        with pytest.raises(BadInput):
            read(thing)


def test_answers_that_are_lists_and_rationales_that_are_numbers_are_refused():
    refused(BadInput, "row 0 has several parts", read, [{"answer": ["a"], "explanation": "x"}])
    refused(BadInput, "rationales are texts", read, [{"answer": "a", "explanation": 3}])


def test_a_field_that_no_row_has_is_refused_with_the_one_that_was_meant():
    log = [{"id": 1, "input": "i", "answer": "a", "explanation": "e"}]
    for option, nulls in product(log[0], ("error", "drop", "key")):
        refused(UnknownName, f"Did you mean '{option}'", read, log, **{option: f"{option}x"}, nulls=nulls)


def test_answers_that_differ_in_case_alone_are_told():
    log = [{"answer": answer, "explanation": "e"} for answer in ("Yes", "yes", "no")]
    assert "'Yes' and 'yes' are different predictions" in read(log).notes[0]
    assert not read(log[1:]).notes


@pytest.mark.parametrize("held", ["messages", "output"])
def test_the_explanation_that_a_caller_names_may_be_one_of_the_reply(held):
    reply = json.dumps({"reasoning": "r", "explanation": "e", "answer": "spam"})
    chat = [{"role": "user", "content": "q"}, {"role": "assistant", "content": reply}]
    log = [{"input": "q", held: chat if held == "messages" else reply}] * 2
    refused(BadInput, "explanation='explanation'", read, log)
    assert parts(read(log, explanation="explanation"))[:2] == (["spam", "spam"], ["e", "e"])
    refused(UnknownName, "'explain'", read, log, explanation="explain")


def test_plain_replies_are_read_as_chats_are():
    replies = [
        'Well:\n```json\n{"decision": "ham", "reason": "A friend."}\n```',
        '{"answer": "spam", "rationale": "$"}',
    ]
    found = fs.read_rationales(replies)
    assert [*found.predictions] == ["ham", "spam"]
    assert [*found.reasons.texts] == ["A friend.", "$"]
