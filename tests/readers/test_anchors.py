"""Anchors of anchor-exp and alibi are read as rules that cover what their explainers' bins do, or as words."""

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.random import default_rng

import faithscope as fs
from faithscope.errors import BadInput
from faithscope.explanations.arrow import from_arrow, to_arrow
from refused import refused

NAMES = ["age", "tiny share (%)", "job"]
JOBS = ["clerk", "<cook", "a and b = c"]
N = 12


@pytest.fixture(scope="module")
def system():
    anchor_tabular = pytest.importorskip("anchor.anchor_tabular")
    rng = default_rng(0)
    X = np.column_stack([rng.normal(40, 10.123, 300), rng.random(300) * 5, rng.integers(0, 3, 300)])
    explainer = anchor_tabular.AnchorTabularExplainer(["no", "yes"], NAMES, X, {2: JOBS})
    np.random.seed(0)  # noqa: NPY002
    objects = [explainer.explain_instance(x, predict, threshold=0.9) for x in X[:N]]
    return X, explainer, objects


def predict(X):
    return ((X[:, 0] > 42) | (X[:, 2] == 2)).astype(int)


def covered(explainer, anchor, X):
    """The rows that an anchor covers, by the bins of its explainer: brute force."""
    bins, mask = explainer.disc.discretize(X), np.ones(len(X), bool)
    names = iter(anchor.names())
    for feature in dict.fromkeys(anchor.features()):
        text = next(names)
        if feature == 2:
            mask &= X[:, 2] == anchor.exp_map["instance"][2]
            continue
        edges = [f"{edge:.2f}" for edge in explainer.disc.maxs[feature][:-1]]
        high = edges.index(text.split("<= ")[1]) if "<=" in text else len(edges)
        low = edges.index(text.split(" <")[0]) if text.count("<") == 2 else -1
        low = edges.index(text.split("> ")[1]) if ">" in text else low
        mask &= (bins[:, feature] > low) & (bins[:, feature] <= high)
    return mask


def test_rules_cover_exactly_the_rows_of_the_explainers_bins_with_categories_as_codes_and_as_texts(system):
    X, explainer, objects = system
    rules = fs.read(objects)
    named = pd.DataFrame(X, columns=NAMES).assign(job=[JOBS[int(code)] for code in X[:, 2]])
    assert rules.features == tuple(NAMES)
    for row, anchor in enumerate(objects):
        expected = covered(explainer, anchor, X)
        for table in (X, named):
            masks = rules.holds(rules.conjunction(row), table)
            assert np.array_equal(np.logical_and.reduce([np.ones(len(X), bool), *masks]), expected)
        assert expected[row]
    assert any(JOBS[2] in str(rules.item(row)) for row in range(N))


def test_what_the_explainer_claims_is_kept_and_told(system):
    X, _, objects = system
    rules = fs.read(objects)
    both = rules.take(slice(0, 2)).join(rules.take(np.arange(N) == 5))
    for claimed in ("precision", "coverage"):
        values = [float(getattr(anchor, claimed)()) for anchor in objects]
        assert rules.claimed[claimed].tolist() == values
        assert both.claimed[claimed].tolist() == [values[row] for row in (0, 1, 5)]
    notes = fs.sufficiency(objects, predict(X[:N]), X[:N]).notes
    assert any(f"claim a precision of {rules.claimed['precision'].mean():.2f}" in note for note in notes)
    for part in (both, from_arrow(to_arrow(both))):  # one note, of the rows that there are
        (note,) = [note for note in part.notes if "claim a precision" in note]
        assert f"precision of {part.claimed['precision'].mean():.2f} and" in note


def test_bins_that_print_alike_are_taken_as_the_widest_and_told():
    anchor_tabular = pytest.importorskip("anchor.anchor_tabular")
    X = default_rng(0).random((200, 1)) * 0.02
    explainer = anchor_tabular.AnchorTabularExplainer(["no", "yes"], ["share"], X)
    np.random.seed(0)  # noqa: NPY002
    rows = [explainer.explain_instance(x, lambda rows: (rows[:, 0] > 0.01).astype(int)) for x in X[:6]]
    rules = fs.read(rows)
    assert any("print alike" in remark for remark in rules.remarks)
    for row in range(6):
        assert all(mask[row] for mask in rules.holds(rules.conjunction(row), X))


def test_features_are_ordered_as_the_caller_says_and_what_cannot_be_chosen_is_refused(system):
    objects = system[2]
    rules = fs.read(objects, features=NAMES[::-1])
    assert rules.features == tuple(NAMES[::-1])
    written, again = ([set(map(repr, row)) for row in each.to_conditions()] for each in (rules, fs.read(objects)))
    assert written == again
    refused(BadInput, "not among the features", fs.read, objects, features=["age", "share", "job"])
    for choice in ({"class_index": 1}, {"top": 3}):
        refused(BadInput, "leave it out", fs.read, objects, **choice)
    refused(
        BadInput, r"Row 1 is a str, and not of the kind of other rows \(anchors\)", fs.read, [objects[0], "age <= 3"]
    )


def alibi(anchor, features, instance, **kinds):
    """An object with the fields of alibi's ``Explanation``, as its ``AnchorTabular`` fills them."""
    raw = {"feature": features, "mean": [0.9], "precision": [0.5, 0.97], "coverage": [0.4, 0.2], "names": anchor}
    raw |= {"instance": instance, "prediction": np.array([1]), "examples": [], "all_precision": 0}
    data = {"anchor": anchor, "precision": 0.97, "coverage": 0.2, "raw": raw | kinds}
    meta = {"name": "AnchorTabular", "type": ["blackbox"], "explanations": ["local"], "params": {}, "version": "0.9.6"}
    return SimpleNamespace(meta=meta, data=data, **data)


RECORDED = [
    alibi(["0.00 < capital gain <= 37.00", "job = a and b"], [1, 1, 0], np.array([2.0, 30.0])),
    alibi(["capital gain > 48.00"], [1], np.array([0.0, 50.0])),
    alibi(["job = clerk"], [0], np.array([0.0, 10.0])),
    alibi([], [], np.array([1.0, 10.0])),
]


def saved(recorded):
    return json.dumps({"meta": recorded.meta, "data": recorded.data}, default=lambda array: array.tolist())


def test_alibis_objects_and_their_json_are_read_alike():
    coded = np.array([[2.0, 30.0], [0.0, 50.0], [0.0, 10.0], [1.0, 10.0]])
    named = pd.DataFrame({"job": ["a and b", "clerk", "clerk", "cook"], "capital gain": coded[:, 1]})
    for form in (lambda each: each, saved, lambda each: json.loads(saved(each))):
        rules = fs.read(list(map(form, RECORDED)), features=["job", "capital gain"])
        assert [rules.describe(row) for row in range(4)] == [
            'job == "a and b" and 0 < capital gain <= 37',
            "capital gain > 48",
            "job == clerk",
            "everything",
        ]
        assert rules.claimed["precision"].tolist() == [0.97] * 4
        assert any("to 2 decimals" in remark for remark in rules.remarks)
        one, other = (fs.sufficiency(rules, [1, 0, 0, 0], X).value for X in (coded, named))
        assert one == other


def test_anchors_of_texts_are_highlights():
    texts = ["a Great film", "not a great film, really"]
    rows = [
        alibi(["Great"], [0], texts[0], positions=[0]),
        alibi(["not", "really", ","], [0, 1, 2], texts[1], positions=[0]),
    ]
    highlights = fs.read(rows)
    assert isinstance(highlights, fs.Highlights)
    assert highlights.item(1) == {"not", "really", ","}
    assert fs.sufficiency(highlights, [1, 0], texts).value == 0.0
    refused(BadInput, "top=1 does not apply", fs.read, rows, top=1)
    image = alibi(np.zeros((4, 4, 3)), [1], np.zeros((4, 4, 3)))
    refused(BadInput, r"pieces of images.*fs\.Importances", fs.read, [image])
