"""What fuzzing has found, one law each, so that it stays found."""

import json
import warnings
from decimal import Decimal

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.tree import DecisionTreeClassifier

import faithscope as fs
from faithscope.errors import BadInput, FaithscopeError, WrongType
from faithscope.explanations.arrow.tables import METADATA, from_arrow
from faithscope.explanations.conditions.grammar import parse_rule
from faithscope.inputs.arrays import to_items
from faithscope.inputs.missing import is_missing
from fuzz.outcomes import one_sentence

ROWS = np.zeros((3, 2))


def refused(work, error=FaithscopeError):
    with pytest.raises(error) as caught:
        work()
    one_sentence(str(caught.value))
    return str(caught.value)


@pytest.mark.parametrize("error", [FaithscopeError, BadInput, WrongType, fs.errors.MissingExtra])
def test_a_sentence_stays_one_line_whatever_it_quotes(error):
    message = str(error(f"Rows hold {'x' * 10_000}\nand more\u2028lines: drop them."))
    one_sentence(message)
    assert message.startswith("Rows hold x")
    assert message.endswith("lines: drop them.")


def test_a_short_sentence_is_left_as_it_is():
    assert str(BadInput("Two  blanks stay.")) == "Two  blanks stay."


@pytest.mark.parametrize("given", [3, None, "text", b"text", {}, {1}, np.array(3), np.ma.masked])
def test_what_is_no_list_is_refused_by_its_type(given):
    refused(lambda: to_items(given, "Names"), WrongType)


@pytest.mark.parametrize(
    "ask",
    [
        lambda: fs.sample_size(10**400, 0.1),
        lambda: fs.sample_size(10, 5e-324),
        lambda: fs.local_sample_size(5e-324),
        lambda: fs.local_sample_size(1e-200),
    ],
)
def test_more_rows_than_can_be_counted_are_refused(ask):
    assert "more rows than can be counted" in refused(ask, BadInput)


@pytest.mark.parametrize("column", [None, "3", 1.5, True, float("nan")])
def test_a_vocabulary_maps_words_to_whole_numbers(column):
    refused(lambda: fs.Highlights([{"a"}], vocabulary={"a": column}), WrongType)


@pytest.mark.parametrize("index", [np.array(3), np.timedelta64(1, "D"), np.float16(0.1), 10**400, np.array([1, 2])])
def test_prototypes_are_indices_or_refused_without_a_warning(index):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            prototypes = fs.Prototypes([index])
        except BadInput as error:
            one_sentence(str(error))
        else:
            assert len(prototypes) == 1


@pytest.mark.parametrize("sets", [np.full((2, 2), None), np.zeros((2, 1), complex), np.array([["a"]]), [None]])
def test_prototypes_that_are_no_numbers_are_refused(sets):
    refused(lambda: fs.Prototypes(sets), BadInput)


@pytest.mark.parametrize("name", [[], {}, np.zeros(2)])
def test_a_feature_s_name_can_be_looked_up(name):
    refused(lambda: fs.Rules.from_conditions([], features=[name]))


@pytest.mark.parametrize("place", [2**63, 2**64, 10**400])
def test_a_position_beyond_all_columns_is_refused_at_once(place):
    refused(lambda: fs.Rules.from_conditions([[(place, "<=", 1)]]), BadInput)


@pytest.mark.parametrize("categorical", [3, None, len, "x0"])
def test_categorical_columns_come_as_a_list(categorical):
    for discretize in (True, False):
        refused(
            lambda how=discretize: fs.explainers.Lime(predict, ROWS, categorical=categorical, discretize=how), BadInput
        )


def predict(rows):
    return np.zeros(len(rows))


def test_rows_of_odd_items_are_refused():
    prototypes = fs.Prototypes([[0]] * 3, ROWS)
    refused(lambda: fs.sufficiency(prototypes, [0, 1, 1], [np.array(3), [1], b""]))


def test_a_span_of_time_is_no_position():
    refused(lambda: fs.Rules.from_conditions([[(np.timedelta64(1, "D"), "<=", 1), (0, "<=", 1)]]), BadInput)


@pytest.mark.parametrize("source", [3, None, np.array(3), np.ma.masked])
def test_a_source_gives_pairs(source):
    refused(lambda: fs.sample_until(source, "a", 0.3, 10), WrongType)


def test_the_predicted_class_needs_base_values():
    import shap

    refused(lambda: fs.explainers.Shap.read(shap.Explanation(np.zeros((3, 2, 2))), "predicted"), BadInput)


@pytest.mark.parametrize(
    "ask",
    [
        lambda span: fs.sample_size(span, 0.1),
        lambda span: fs.local_sample_size(span),
        lambda span: fs.Ball(span),
        lambda span: fs.Floor(span),
        lambda span: fs.SignOfTop(span),
    ],
)
def test_a_span_of_time_is_no_number(ask):
    refused(lambda: ask(np.timedelta64(1, "D")), BadInput)


def test_complex_numbers_are_no_shares_and_no_bounds():
    refused(lambda: fs.consistency(["a"], [0], confidence=np.complex128(0.5)), BadInput)
    refused(lambda: fs.Rules.from_bins(np.zeros((1, 1), complex), np.zeros((1, 1)), ["a"]), WrongType)


def test_a_rule_holds_nothing_that_has_no_hash():
    refused(lambda: fs.Rules.from_conditions([[("a", "<=", Decimal("sNaN"))]]), WrongType)


def test_training_rows_that_can_be_read_only_once_are_refused():
    refused(lambda: fs.explainers.Lime(predict, iter(ROWS.tolist())), WrongType)


def test_sparse_rows_are_refused_by_explainers_of_tables():
    lime = fs.explainers.Lime(predict, np.arange(6.0).reshape(3, 2), samples=20)
    refused(lambda: lime.explain(sparse.coo_matrix(ROWS)), WrongType)


def test_a_tree_may_be_asked_for_more_leaves_than_memory_has_room_for():
    X = np.arange(12.0).reshape(6, 2)
    label = lambda rows: np.asarray(rows)[:, 0] % 4 > 0  # noqa: E731
    most, usual = (fs.explainers.TreePath.surrogate(label, X, max_leaf_nodes=k).explain(X) for k in (2**31, 64))
    assert [most.describe(row) for row in range(6)] == [usual.describe(row) for row in range(6)]


def test_a_class_is_no_array():
    import shap

    refused(lambda: fs.explainers.Shap.read(shap.Explanation(np.zeros((3, 2, 2))), np.array([])), BadInput)


def test_few_random_explanations_may_be_asked_for_in_eight_bits():
    assert set(fs.explainers.Random(np.int8(2)).explain(np.arange(40.0)[:, None]).values.tolist()) == {0, 1}


def test_whole_numbers_of_128_bits_are_keys():
    assert fs.consistency(pl.Series([2**64, 2**64 + 1, 2**64], dtype=pl.Int128), [0, 1, 0]).value == pytest.approx(
        2 / 3
    )


def test_any_number_of_rows_has_a_bound():
    assert fs.mse_bound(p=[0.5, 0.5], n=10**400) == 0


@pytest.mark.parametrize("rules", [3, np.array(3), [np.array(3)], [[(np.ma.masked, "<=", 1)]], [3]])
def test_rules_that_are_no_lists_are_refused(rules):
    refused(lambda: fs.Rules.from_conditions(rules, features=["a"]))


@pytest.mark.parametrize("X", [np.zeros((3, 0)), np.zeros((3, 5)), [["up", "down"]] * 3])
def test_a_tree_asked_about_other_rows_is_one_sentence(X):
    tree = DecisionTreeClassifier().fit([[0.0, 0.0], [1.0, 1.0]], [0, 1])
    refused(lambda: fs.Rules.from_tree(tree, X, features=["a", "b"]))
    refused(lambda: fs.explainers.TreePath(tree).explain(X))


def test_a_distance_beyond_all_floats_is_refused():
    refused(lambda: fs.Ball(10**400), BadInput)


@pytest.mark.parametrize("several", [3, "sign", {1: 2}, np.array(3)])
def test_discretizers_to_choose_from_come_as_a_list(several):
    refused(lambda: fs.evaluate([0, 1] * 4, ["a"] * 8, np.zeros((8, 1)), discretizer=fs.Best(several)), WrongType)
    refused(lambda: fs.certify(["a"] * 8, [0, 1] * 4, several), WrongType)


@pytest.mark.parametrize(
    "labels", [[(1, 2), (1, 3), (1, 2)], [(1,), (2,), (1,)], [frozenset({1}), frozenset(), frozenset()]]
)
def test_labels_that_are_tuples_or_sets_can_be_tabled(labels):
    rules = fs.Rules.from_conditions([[("x", "<=", 0)], [("x", "<=", 0)], []], features=["x", "y"])
    assert set(fs.evaluate(labels, rules, ROWS, progress=False).scopes()["label"]) <= set(labels)
    table = fs.evaluate(labels, ["a", "a", "b"], ROWS, progress=False).table()
    assert set(table["label"]) <= set(labels)
    assert len(table) == 2


def test_documents_with_lone_surrogates_have_counterexamples_and_reports(tmp_path):
    texts = ["\ud800 a", "a", "a b"]
    ev = fs.evaluate([0, 1, 1], fs.Highlights([{"a"}] * 3), texts, progress=False)
    assert len(ev.counterexamples(1)) == 1
    ev.to_html(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert "surrogate" in refused(lambda: ev.to_parquet(tmp_path / "log.parquet"), BadInput)


@pytest.mark.parametrize("k", [2**63, 10**400])
def test_more_pairs_than_there_are_may_be_asked_for(k):
    ev = fs.evaluate([0, 1, 1], ["a"] * 3, ROWS, progress=False)
    assert len(ev.counterexamples(k)) == 2


@pytest.mark.parametrize("path", [b"report", 3, None, "", ".", "a\0b"])
def test_a_path_that_names_no_file_is_refused(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ev = fs.evaluate([0, 1, 1], ["a"] * 3, ROWS, progress=False)
    refused(lambda: ev.to_html(path), BadInput)
    refused(lambda: ev.to_parquet(path), BadInput)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("given", [[[1, [2]]] * 3, [[[1], [1, 2]]] * 3])
def test_lists_inside_lists_are_refused(given):
    refused(lambda: fs.consistency(given, [0, 1, 1]))


@pytest.mark.parametrize("seed", [-1, 1.5, None, "0", float("nan")])
def test_a_seed_is_a_whole_number(seed):
    refused(lambda: fs.evaluate([0, 1] * 4, ["a"] * 8, np.zeros((8, 1)), discretizer=fs.Best(), seed=seed), BadInput)
    refused(lambda: fs.GibbsDecoder(seed=seed).fit(["a", "a"], [0, 1]).predict(["a"]), BadInput)


@pytest.mark.parametrize("seed", [1.5, None, "0", 2**200])
def test_the_seed_of_an_explainer_is_a_whole_number(seed):
    refused(lambda: fs.explainers.Random(3, seed=seed).explain(ROWS), BadInput)
    refused(lambda: fs.explainers.TreePath.surrogate(lambda X: [0, 1, 1], ROWS, seed=seed), BadInput)


def test_any_number_of_random_explanations_can_be_drawn_from():
    assert len(fs.explainers.Random(10**400).explain(ROWS)) == 3


@pytest.mark.parametrize("tokenizer", [3, None, "split", lambda text: None, lambda text: [1]])
@pytest.mark.parametrize("kind", [fs.explainers.FirstWord, fs.explainers.AllWords])
def test_a_tokenizer_gives_words(kind, tokenizer):
    refused(lambda: kind(tokenizer).explain(["a b"]), WrongType)


@pytest.mark.parametrize("answer", [None, "yes", [None] * 20])
def test_a_model_without_probabilities_is_refused(answer):
    refused(
        lambda: fs.explainers.Lime(lambda X: answer, np.arange(6.0).reshape(3, 2), samples=20).explain([[0.0, 1.0]])
    )


def test_rows_that_come_one_by_one_are_explained():
    lime = fs.explainers.Lime(lambda X: X[:, 0] > 0, np.arange(6.0).reshape(3, 2), samples=20)
    assert len(lime.explain(iter([[0.0, 1.0]]))) == 1
    refused(lambda: lime.explain([[0.0, 1.0], [0.0]]))


def test_a_signaling_nan_is_missing():
    assert is_missing(Decimal("sNaN"))


@pytest.mark.parametrize("share", [np.float32(0.9), np.float16(0.5)])
def test_what_is_told_as_json_has_plain_numbers(share):
    ev = fs.evaluate([0, 1, 1], ["a"] * 3, ROWS, progress=False)
    results = (
        fs.plan(ev, unverifiable=share),
        fs.certify(["a"] * 3, [0, 1, 1], confidence=share),
        fs.local([0, 0], lambda X: [0] * len(X), lambda X: ["a"] * len(X), ROWS, confidence=share),
    )
    told = [json.loads(json.dumps(result.to_dict())) for result in results]
    assert [told[0]["wanted"], told[1]["confidence"], told[2]["confidence"]] == [float(share)] * 3


def test_labels_in_half_precision_are_put_in_order_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert fs.consistency(["a", "a"], [np.float16(0.1), -1e308]).value == 0


def test_a_model_that_says_nothing_to_the_row_asked_about_is_refused():
    explain = lambda X: ["a"] * len(X)  # noqa: E731
    refused(lambda: fs.local([0, 0], lambda X: [0] * len(X) if len(X) > 1 else [], explain, ROWS), BadInput)


def test_a_masked_value_among_the_values_is_refused():
    refused(lambda: fs.consistency([np.ma.masked, 1], [0, 1]))


@pytest.mark.parametrize("text", ["[" * 100_000, '[["a", "==", [[1]]]]', '[["a", "in", [[[1]]]]]', "[1]"])
def test_a_rule_in_json_is_no_deeper_than_a_list_of_values(text):
    refused(lambda: fs.Rules.from_conditions([parse_rule(text)]))


@pytest.mark.parametrize(
    "content", [b"{}", b"[]", b"3", b"null", b"\xff", b"{", b'{"kind": 3, "version": 1}', b"[" * 100_000]
)
def test_a_table_that_says_nonsense_of_its_explanations_is_refused(content):
    table = pa.table({"explanation": [1, 2]}).replace_schema_metadata({METADATA: content})
    refused(lambda: from_arrow(table))
    refused(lambda: fs.audit(table, prediction="explanation"))
