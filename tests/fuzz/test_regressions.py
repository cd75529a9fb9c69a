"""What fuzzing has found, one law each, so that it stays found."""

import json
import warnings
from decimal import Decimal
from functools import partial

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.tree import DecisionTreeClassifier

import faithscope as fs
from faithscope.errors import BadInput, FaithscopeError, WrongType
from faithscope.explanations.arrow import METADATA, from_arrow
from faithscope.explanations.rule_text import parse_rule
from faithscope.inputs.arrays import to_items
from faithscope.inputs.missing import is_missing
from fuzz.outcomes import one_sentence

ROWS = np.zeros((3, 2))
TRAIN = np.arange(6.0).reshape(3, 2)
DAY = np.timedelta64(1, "D")
TREE = DecisionTreeClassifier().fit([[0.0, 0.0], [1.0, 1.0]], [0, 1])
EX = fs.explainers


def refused(work, error=FaithscopeError):
    with pytest.raises(error) as caught:
        work()
    one_sentence(str(caught.value))
    return str(caught.value)


def predict(rows):
    return np.zeros(len(rows))


def evaluated(labels=(0, 1, 1), explanations=("a",) * 3, X=ROWS):
    return fs.evaluate(list(labels), explanations, X, progress=False)


def chosen(several, **options):
    return fs.evaluate([0, 1] * 4, ["a"] * 8, np.zeros((8, 1)), discretizer=fs.Best(several), **options)


def lime(model, rows=TRAIN, **options):
    return EX.Lime(model, rows, samples=20, **options)


def shap_of_two_classes(class_index):
    import shap

    return fs.read(shap.Explanation(np.zeros((3, 2, 2))), class_index=class_index)


def marked(content):
    return pa.table({"explanation": [1, 2]}).replace_schema_metadata({METADATA: content})


def each(call, *cases):
    return [partial(call, case) for case in cases]


conditions = fs.Rules.from_conditions
NAMED = partial(conditions, features=["a"])
NONSENSE = (b"{}", b"[]", b"3", b"null", b"\xff", b"{", b'{"kind": 3, "version": 1}', b"[" * 100_000)
REFUSED = {
    "what is no list is refused by its type": (
        WrongType,
        each(lambda given: to_items(given, "Names"), 3, None, "text", b"text", {}, {1}, np.array(3), np.ma.masked),
    ),
    "a vocabulary maps words to whole numbers": (
        WrongType,
        each(lambda column: fs.Highlights([{"a"}], vocabulary={"a": column}), None, "3", 1.5, True, float("nan")),
    ),
    "prototypes that are no numbers are refused": (
        BadInput,
        each(fs.Prototypes, np.full((2, 2), None), np.zeros((2, 1), complex), np.array([["a"]]), [None]),
    ),
    "a feature's name can be looked up": (
        FaithscopeError,
        each(lambda name: conditions([], features=[name]), [], {}, np.zeros(2)),
    ),
    "a position beyond all columns is refused at once": (
        BadInput,
        each(lambda place: conditions([[(place, "<=", 1)]]), 2**63, 2**64, 10**400),
    ),
    "categorical columns come as a list": (
        BadInput,
        [partial(EX.Lime, predict, ROWS, categorical=given) for given in (3, None, len, "x0")],
    ),
    "rows of odd items are refused": (
        FaithscopeError,
        [lambda: fs.sufficiency(fs.Prototypes([[0]] * 3, ROWS), [0, 1, 1], [np.array(3), [1], b""])],
    ),
    "a span of time is no position": (BadInput, [lambda: conditions([[(DAY, "<=", 1), (0, "<=", 1)]])]),
    "a span of time is no number": (
        BadInput,
        [
            lambda: fs.sample_size(DAY, 0.1),
            *(partial(take, DAY) for take in (fs.local_sample_size, fs.Ball, fs.Floor, fs.SignOfTop)),
        ],
    ),
    "a source gives pairs": (
        WrongType,
        each(lambda source: fs.sample_until(source, "a", 0.3, 10), 3, None, np.array(3), np.ma.masked),
    ),
    "the predicted class needs base values": (BadInput, [lambda: shap_of_two_classes("predicted")]),
    "a class is no array": (BadInput, [lambda: shap_of_two_classes(np.array([]))]),
    "complex numbers are no shares": (
        BadInput,
        [lambda: fs.consistency(["a"], [0], confidence=np.complex128(0.5))],
    ),
    "a rule holds nothing that has no hash": (WrongType, [lambda: conditions([[("a", "<=", Decimal("sNaN"))]])]),
    "training rows that can be read only once are refused": (
        WrongType,
        [lambda: EX.Lime(predict, iter(ROWS.tolist()))],
    ),
    "sparse rows are refused by explainers of tables": (
        WrongType,
        [lambda: lime(predict).explain(sparse.coo_matrix(ROWS))],
    ),
    "rules that are no lists are refused": (
        FaithscopeError,
        each(NAMED, 3, np.array(3), [np.array(3)], [[(np.ma.masked, "<=", 1)]], [3]),
    ),
    "a tree asked about other rows is one sentence": (
        FaithscopeError,
        [
            partial(ask, X)
            for X in (np.zeros((3, 0)), np.zeros((3, 5)), [["up", "down"]] * 3)
            for ask in (EX.TreePath(TREE).explain,)
        ],
    ),
    "a distance beyond all floats is refused": (BadInput, [lambda: fs.Ball(10**400)]),
    "discretizers to choose from come as a list": (
        WrongType,
        [
            partial(ask, several)
            for several in (3, "sign", {1: 2}, np.array(3))
            for ask in (chosen, partial(fs.certify, ["a"] * 8, [0, 1] * 4))
        ],
    ),
    "lists inside lists are refused": (
        FaithscopeError,
        each(lambda given: fs.consistency(given, [0, 1, 1]), [[1, [2]]] * 3, [[[1], [1, 2]]] * 3),
    ),
    "a seed is a whole number": (
        BadInput,
        [
            partial(ask, seed=seed)
            for seed in (-1, 1.5, None, "0", float("nan"))
            for ask in (
                partial(chosen, None),
                lambda seed: fs.GibbsDecoder(seed=seed).fit(["a", "a"], [0, 1]).predict(["a"]),
            )
        ],
    ),
    "the seed of an explainer is a whole number": (
        BadInput,
        [
            partial(ask, seed=seed)
            for seed in (1.5, None, "0", 2**200)
            for ask in (
                lambda seed: EX.Random(3, seed=seed).explain(ROWS),
                partial(EX.TreePath.surrogate, lambda X: [0, 1, 1], ROWS),
            )
        ],
    ),
    "a tokenizer gives words": (
        WrongType,
        [
            partial(lambda kind, given: kind(given).explain(["a b"]), kind, given)
            for kind in (EX.FirstWord, EX.AllWords)
            for given in (3, None, "split", lambda text: None, lambda text: [1])
        ],
    ),
    "a model without probabilities is refused": (
        FaithscopeError,
        each(lambda answer: lime(lambda X: answer).explain([[0.0, 1.0]]), None, "yes", [None] * 20),
    ),
    "rows of several lengths are not explained": (
        FaithscopeError,
        [lambda: lime(lambda X: X[:, 0] > 0).explain([[0.0, 1.0], [0.0]])],
    ),
    "a model that says nothing to the row asked about is refused": (
        BadInput,
        [lambda: fs.local([0, 0], lambda X: [0] * len(X) if len(X) > 1 else [], lambda X: ["a"] * len(X), ROWS)],
    ),
    "a masked value among the values is refused": (
        FaithscopeError,
        [lambda: fs.consistency([np.ma.masked, 1], [0, 1])],
    ),
    "a rule in JSON is no deeper than a list of values": (
        FaithscopeError,
        each(
            lambda text: conditions([parse_rule(text)]),
            *("[" * 100_000, '[["a", "==", [[1]]]]', '[["a", "in", [[[1]]]]]', "[1]"),
        ),
    ),
    "a table that says nonsense of its explanations is refused": (
        FaithscopeError,
        [
            partial(ask, marked(content))
            for content in NONSENSE
            for ask in (from_arrow, partial(fs.audit, prediction="explanation"))
        ],
    ),
}


def test_what_was_found_is_refused_in_one_sentence():
    for law in REFUSED:
        error, calls = REFUSED[law]
        for call in calls:
            refused(call, error)


def test_a_sentence_stays_one_line_whatever_it_quotes():
    for error in [FaithscopeError, BadInput, WrongType, fs.errors.MissingExtra]:
        message = str(error(f"Rows hold {'x' * 10_000}\nand more\u2028lines: drop them."))
        one_sentence(message)
        assert message.startswith("Rows hold x")
        assert message.endswith("lines: drop them.")


def test_a_short_sentence_is_left_as_it_is():
    assert str(BadInput("Two  blanks stay.")) == "Two  blanks stay."


def test_more_rows_than_can_be_counted_are_refused():
    for ask in (fs.sample_size, 10**400, 0.1), (fs.sample_size, 10, 5e-324):
        assert "more rows than can be counted" in refused(partial(*ask), BadInput)
    for epsilon in (5e-324, 1e-200):
        assert "more rows than can be counted" in refused(partial(fs.local_sample_size, epsilon), BadInput)


def test_prototypes_are_indices_or_refused_without_a_warning():
    for index in [np.array(3), DAY, np.float16(0.1), 10**400, np.array([1, 2])]:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                prototypes = fs.Prototypes([index])
            except BadInput as error:
                one_sentence(str(error))
            else:
                assert len(prototypes) == 1


def test_a_tree_may_be_asked_for_more_leaves_than_memory_has_room_for():
    X = np.arange(12.0).reshape(6, 2)
    label = lambda rows: np.asarray(rows)[:, 0] % 4 > 0  # noqa: E731
    most, usual = (EX.TreePath.surrogate(label, X, max_leaf_nodes=k).explain(X) for k in (2**31, 64))
    assert [most.describe(row) for row in range(6)] == [usual.describe(row) for row in range(6)]


def test_few_or_any_number_of_random_explanations_may_be_asked_for():
    assert set(EX.Random(np.int8(2)).explain(np.arange(40.0)[:, None]).values.tolist()) == {0, 1}
    assert len(EX.Random(10**400).explain(ROWS)) == 3


def test_whole_numbers_of_128_bits_are_keys():
    keys = pl.Series([2**64, 2**64 + 1, 2**64], dtype=pl.Int128)
    assert fs.consistency(keys, [0, 1, 0]).value == pytest.approx(2 / 3)


def test_any_number_of_rows_has_a_bound():
    assert fs.mse_bound(p=[0.5, 0.5], n=10**400) == 0


def test_labels_that_are_tuples_or_sets_can_be_tabled():
    for labels in [[(1, 2), (1, 3), (1, 2)], [(1,), (2,), (1,)], [frozenset({1}), frozenset(), frozenset()]]:
        rules = conditions([[("x", "<=", 0)], [("x", "<=", 0)], []], features=["x", "y"])
        assert set(evaluated(labels, rules).scopes()["label"]) <= set(labels)
        table = evaluated(labels, ["a", "a", "b"]).table()
        assert set(table["label"]) <= set(labels)
        assert len(table) == 2


def test_documents_with_lone_surrogates_have_counterexamples_and_reports(tmp_path):
    ev = evaluated(explanations=fs.Highlights([{"a"}] * 3), X=["\ud800 a", "a", "a b"])
    assert len(ev.counterexamples(1)) == 1
    ev.to_html(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert "surrogate" in refused(lambda: ev.to_parquet(tmp_path / "log.parquet"), BadInput)


def test_more_pairs_than_there_are_may_be_asked_for():
    for k in (2**63, 10**400):
        assert len(evaluated().counterexamples(k)) == 2


def test_a_path_that_names_no_file_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ev = evaluated()
    for path in (b"report", 3, None, "", ".", "a\0b"):
        refused(lambda path=path: ev.to_html(path), BadInput)
        refused(lambda path=path: ev.to_parquet(path), BadInput)
        assert list(tmp_path.iterdir()) == []


def test_rows_that_come_one_by_one_are_explained():
    assert len(lime(lambda X: X[:, 0] > 0).explain(iter([[0.0, 1.0]]))) == 1


def test_a_signaling_nan_is_missing():
    assert is_missing(Decimal("sNaN"))


@pytest.mark.parametrize("share", [np.float32(0.9), np.float16(0.5)])
def test_what_is_told_as_json_has_plain_numbers(share):
    results = (
        fs.plan(evaluated(), unverifiable=share),
        fs.certify(["a"] * 3, [0, 1, 1], confidence=share),
        fs.local([0, 0], lambda X: [0] * len(X), lambda X: ["a"] * len(X), ROWS, confidence=share),
    )
    told = [json.loads(json.dumps(result.to_dict())) for result in results]
    assert [told[0]["wanted"], told[1]["confidence"], told[2]["confidence"]] == [float(share)] * 3


def test_labels_in_half_precision_are_put_in_order_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert fs.consistency(["a", "a"], [np.float16(0.1), -1e308]).value == 0
