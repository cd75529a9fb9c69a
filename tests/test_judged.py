"""Answers of a judge: what is read and what is refused, the notes, and every measure that would need all pairs."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

import faithscope as fs
from faithscope.errors import BadInput, NotProven, WrongType

TEXTS = ["late", "late", "rich", "young"]
REASONS, LABELS = fs.Reasons(TEXTS), ["no", "no", "yes", "no"]
ANSWERS = np.array([[1, 0, np.nan], [np.nan, 0, 1], [1, 1, np.nan], [1, np.nan, 0]])


def measured(answers, reasons=REASONS, **how):
    return fs.sufficiency(reasons, LABELS, relation=fs.Judged(answers), **how)


def drawn(n=200, per_explanation=10, seed=0, repeat=1):
    """Rows on a line; a reason applies to rows near its own, and rows above a half are predicted 1."""
    rng = np.random.default_rng(seed)
    x = np.repeat(rng.random(n // repeat), repeat)
    reasons = fs.Reasons([f"about {value:.6f}" for value in x])
    table = fs.pairs_to_ask(reasons, per_explanation, seed=seed)
    first = reasons.group()[1]
    table["applies"] = np.abs(x[first[table["explanation"]]] - x[table["row"]]) < 0.2
    return x, reasons, (x > 0.5).astype(int), table


@pytest.mark.parametrize(
    ("answers", "error", "message"),
    [
        (np.where(np.isnan(ANSWERS), np.nan, 0.7), BadInput, r"got 0\.7 at row 0, column 0: say first which prob"),
        ([["yes", "no", None]] * 4, BadInput, "got 'yes' at row 0, column 0: map other words"),
        ([[2, 0, 1]] * 4, BadInput, "got 2 at row 0, column 0"),
        (np.full((4, 3), np.nan), BadInput, "No pair has an answer: fill in True or False"),
        ([1, 0, 1, 1], WrongType, "must be a"),
        ("yes", WrongType, "got a single str"),
        ([[1, 0], [1]], BadInput, "rows have 1 to 2"),
        (np.ones((4, 3, 2)), WrongType, r"got shape \(4, 3, 2\)"),
        (sparse.csr_array(np.eye(4)), WrongType, "does not tell a pair that was not asked"),
        ({"row": [0], "applies": [True]}, WrongType, "it needs 'row', 'explanation', 'applies'"),
        ({"row": [0, 1], "explanation": [0], "applies": [True]}, BadInput, "differ in length: 2, 1, 1"),
        ({"row": [0.5], "explanation": [0], "applies": [True]}, BadInput, "'row' must hold positions.*got .*0.5"),
        ({"row": ["a"], "explanation": [0], "applies": [True]}, BadInput, "'row' must hold positions"),
        ({"row": [-1], "explanation": [0], "applies": [True]}, BadInput, "'row' must hold positions"),
        ({"row": [0], "explanation": ["late"], "applies": [True]}, BadInput, "'explanation' must hold numbers"),
        ({"row": [0], "explanation": [0], "applies": ["maybe"]}, BadInput, "got 'maybe' at row 0 of column 'applies'"),
        ({"row": [0], "explanation": [0], "applies": [None]}, BadInput, "No pair has an answer"),
    ],
)
def test_answers_that_are_none_are_refused_when_they_are_handed_over(answers, error, message):
    with pytest.raises(error, match=message):
        fs.Judged(answers)


@pytest.mark.parametrize(
    ("answers", "error", "message"),
    [
        (np.ones((3, 3)), BadInput, "Answers have 3 rows but explanations have 4"),
        (np.ones((4, 2)), BadInput, "pass 3, one per different explanation.*or 4, one per row's"),
        ({"row": [4], "explanation": [0], "applies": [True]}, BadInput, "about row 4, but there are 4 rows"),
        ({"row": [0], "explanation": [3], "applies": [True]}, BadInput, "about explanation 3, but there are 3"),
        (
            {"row": [0], "explanation": [0], "applies": [True], "text": ["rich"]},
            BadInput,
            "asked about 'rich' as explanation 0, which is 'late' here",
        ),
        (
            {"row": [1, 1], "explanation": [0, 0], "applies": [True, False]},
            BadInput,
            "answers yes and no about explanation 0 and row 1",
        ),
        (pd.DataFrame(ANSWERS, columns=["a", "b", "c"]), WrongType, "named neither 0 to 2 nor by the explanations"),
    ],
)
def test_answers_about_other_rows_or_explanations_are_refused(answers, error, message):
    with pytest.raises(error, match=message):
        measured(answers)


def test_a_column_per_row_must_not_contradict_that_of_an_equal_explanation():
    by_row = ANSWERS[:, [0, 0, 1, 2]]
    assert measured(by_row).to_dict() == measured(ANSWERS).to_dict()
    by_row[1, 1] = 1.0  # asked in one column only
    assert measured(by_row).unverifiable <= measured(ANSWERS).unverifiable
    by_row[0, 1] = 0.0
    with pytest.raises(BadInput, match="answers yes and no about explanation 0 and row 0"):
        measured(by_row)


def test_tables_of_any_library_say_the_same():
    wanted = measured(ANSWERS).to_dict()
    wide = pd.DataFrame(ANSWERS)
    row, explanation = np.nonzero(~np.isnan(ANSWERS))
    long = pd.DataFrame({"row": row, "explanation": explanation, "applies": ANSWERS[row, explanation]})
    words = wide.set_axis(["late", "rich", "young"], axis=1)[["young", "late", "rich"]]  # as pivoting sorts them
    numbers = wide[[2, 0, 1]]
    tables = [wide, long, words, numbers, pl.from_pandas(words), pa.Table.from_pandas(words), pl.DataFrame(ANSWERS)]
    tables += [pl.from_pandas(long), pa.Table.from_pandas(long), long.assign(applies=long["applies"].astype("boolean"))]
    tables += [wide.astype("boolean"), wide.astype(object).where(wide.notna(), None)]
    for table in tables:
        assert measured(table).to_dict() == wanted, type(table)


def test_row_labels_in_another_order_are_refused():
    rows = pd.Series(TEXTS, index=[7, 5, 3, 1])
    shuffled = pd.DataFrame(ANSWERS, index=[5, 7, 3, 1])
    with pytest.raises(BadInput, match="have the row labels of explanations in another order"):
        fs.sufficiency(fs.Reasons(rows), LABELS, relation=fs.Judged(shuffled))
    assert fs.sufficiency(fs.Reasons(rows), LABELS, relation=fs.Judged(shuffled.loc[rows.index])).n == 4


def test_what_was_handed_over_may_change_later():
    answers = ANSWERS.copy()
    judged = fs.Judged(answers)
    before = fs.sufficiency(REASONS, LABELS, relation=judged).to_dict()
    answers[:] = 0
    assert fs.sufficiency(REASONS, LABELS, relation=judged).to_dict() == before


def test_one_row_and_rows_without_a_witness_are_unverifiable():
    alone = fs.sufficiency(["a"], [1], relation=fs.Judged([[1]]))
    assert (alone.value, alone.unverifiable) == (0.0, 1.0)
    denied = fs.sufficiency(["a", "b"], [1, 1], relation=fs.Judged([[1, 0], [0, 1]]))
    assert (denied.value, denied.unverifiable, denied.low, denied.high) == (0.0, 1.0, 0.0, 1.0)


def test_rows_that_were_just_not_asked_are_not_said_to_be_missed():
    _, reasons, labels, table = drawn()
    notes = " ".join(fs.sufficiency(reasons, labels, relation=fs.Judged(table)).notes)
    assert "2,000 of 40,000 pairs of an explanation and a row (5%): assumes that these were drawn at random" in notes
    assert "own explanation" not in notes
    assert "do not look random" not in notes


def test_rows_of_which_the_judge_denies_their_own_explanation_are_counted():
    _, reasons, labels, table = drawn()
    own = pd.DataFrame({"row": range(200), "explanation": range(200), "applies": np.arange(200) >= 30})
    answers = pd.concat([table[["row", "explanation", "applies"]], own])
    estimate = fs.sufficiency(reasons, labels, relation=fs.Judged(answers))
    assert any("their own explanation does not apply to 30 rows of 200 asked" in note for note in estimate.notes)
    assert estimate.value == fs.sufficiency(reasons, labels, relation=fs.Judged(table)).value


@pytest.mark.parametrize(
    ("choose", "told"),
    [
        (lambda x, y, t: y[t["row"]] == y[t["explanation"]], "of rows with the prediction of the explanation's row"),
        (lambda x, y, t: y[t["row"]] == 1, "about rows predicted [01]"),
        (lambda x, y, t: t["applies"], "of rows with the prediction of the explanation's row"),
    ],
)
def test_pairs_that_were_chosen_are_warned_about(choose, told):
    x, reasons, labels, table = drawn()
    chosen = table[np.asarray(choose(x, labels, table))]
    notes = fs.sufficiency(reasons, labels, relation=fs.Judged(chosen)).notes
    assert any(pd.Series([note]).str.contains(f"do not look random: .*{told}").item() for note in notes)


def test_asking_only_the_rows_that_were_given_an_explanation_is_warned_about():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 20, 400)
    codes[:20] = np.arange(20)
    table = {"row": np.arange(400), "explanation": codes, "applies": np.ones(400, bool)}
    notes = fs.sufficiency(codes, rng.integers(0, 2, 400), relation=fs.Judged(table)).notes
    assert any("of rows that were given the same explanation" in note for note in notes)


@pytest.mark.slow
@pytest.mark.parametrize("panel", [False, True])
@pytest.mark.parametrize("share", [0.5, 0.05])
def test_random_pairs_are_hardly_ever_warned_about(panel, share):
    warned = 0
    for seed in range(150):
        rng = np.random.default_rng([seed, panel])
        codes, labels = rng.integers(0, 30, 150), (rng.random(150) < share).astype(int)
        codes[:30] = np.arange(30)
        answers = (rng.random((150, 30)) < 0.3).astype(float)
        answers[rng.random(150) > 0.2 if panel else rng.random((150, 30)) > 0.1] = np.nan
        notes = fs.sufficiency(codes, labels, relation=fs.Judged(answers)).notes
        warned += any("do not look random" in note for note in notes)
    assert warned <= 3


def test_what_needs_all_pairs_is_refused_in_one_sentence():
    x, reasons, labels, table = drawn()
    judged, X = fs.Judged(table), x[:, None]
    evaluation = fs.evaluate(labels, reasons, X, relation=judged, progress=False)
    assert evaluation.necessity is None
    for call in (
        lambda: fs.necessity(reasons, labels, relation=judged),
        lambda: fs.encoding(reasons, labels, relation=judged),
        evaluation.encoding,
        lambda: evaluation.by(labels, "necessity"),
    ):
        with pytest.raises(NotProven, match=r"asked about some pairs only.*per_explanation=None"):
            call()
    with pytest.raises(NotProven, match=r"ask about more pairs, fs\.pairs_to_ask"):
        fs.plan(evaluation.sufficiency)
    with pytest.raises(NotProven, match="further= needs a relation that covers any row"):
        fs.sufficiency(reasons, labels, X, relation=judged, further=X)
    with pytest.raises(NotProven, match="use sufficiency, evaluate or compare"):
        fs.local([0.5], lambda X: [0] * len(X), lambda X: ["a"] * len(X), X, relation=judged)
    with pytest.raises(NotProven, match="discretize first"):
        fs.evaluate(labels, reasons, X, relation=judged, discretizer=fs.CommonPhrases(2), progress=False)
    with pytest.raises(fs.errors.FaithscopeError, match="is not proven"):
        fs.mse_bound(evaluation.sufficiency)


def test_precision_recall_and_coverage_are_shares_of_the_rows_asked_about():
    x, reasons, labels, table = drawn(repeat=2)
    evaluation = fs.evaluate(labels, reasons, x[:, None], relation=fs.Judged(table), progress=False)
    scopes = evaluation.scopes().set_index("explanation")
    first = reasons.group()[1]
    for number in range(100):
        asked = table[table["explanation"] == number]
        line, label = scopes.loc[reasons.describe(int(first[number]))], labels[first[number]]
        of_label = asked[labels[asked["row"]] == label]
        applies = asked["applies"].to_numpy(bool)
        assert (line["asked"], line["coverage"]) == (10, applies.mean())
        recall = of_label["applies"].astype(float).mean()
        assert line["recall"] == pytest.approx(recall, nan_ok=True)
        assert np.isnan(recall) or line["recall_low"] <= recall <= line["recall_high"]
        precision = (labels[asked["row"]][applies] == label).mean() if applies.any() else np.nan
        assert line["precision"] == pytest.approx(precision, nan_ok=True)


def test_local_sufficiency_does_not_say_what_was_not_asked():
    x, reasons, labels, table = drawn(repeat=2)
    local = fs.evaluate(labels, reasons, x[:, None], relation=fs.Judged(table), progress=False).local()
    codes = reasons.group()[0]
    own = {(row, number): bool(yes) for row, number, yes in table[["row", "explanation", "applies"]].itertuples(False)}
    assert local["covers_itself"].tolist() == [own.get((row, int(codes[row]))) for row in range(200)]
    assert (local["asked"] == 10).all()


def test_wrongly_covered_rows_were_asked_about():
    x, reasons, labels, table = drawn()
    wrong = fs.evaluate(labels, reasons, x[:, None], relation=fs.Judged(table), progress=False).wrongly_covered(20)
    said = set(table[table["applies"].astype(bool)][["row", "explanation"]].itertuples(index=False, name=None))
    assert len(wrong) == 20
    assert all((b, a) in said for a, b in zip(wrong["row"], wrong["wrong_row"], strict=True))
    assert (wrong["prediction"] != wrong["wrong_prediction"]).all()


def test_a_group_is_measured_by_the_pairs_within_it():
    x, reasons, labels, table = drawn()
    groups = np.where(np.arange(200) % 3 == 0, "a", "b")
    by = fs.evaluate(labels, reasons, x[:, None], relation=fs.Judged(table), progress=False).by(groups, "sufficiency")
    rows = np.flatnonzero(groups == "b")
    place = {int(row): position for position, row in enumerate(rows)}
    kept = table[table["row"].isin(rows) & table["explanation"].isin(rows)]
    part = kept.assign(row=kept["row"].map(place), explanation=kept["explanation"].map(place))
    alone = fs.sufficiency(reasons.take(rows), labels[rows], relation=fs.Judged(part))
    assert (by.estimates["b"].value, by.estimates["b"].unverifiable) == (alone.value, alone.unverifiable)


def test_rows_of_weight_0_keep_the_numbers_of_the_others():
    _, reasons, labels, table = drawn()
    weights = (np.arange(200) >= 50).astype(float)
    weighted = fs.sufficiency(reasons, labels, relation=fs.Judged(table), weights=weights)
    kept = table[(table["row"] >= 50) & (table["explanation"] >= 50)]
    part = kept.assign(row=kept["row"] - 50, explanation=kept["explanation"] - 50)
    alone = fs.sufficiency(reasons.take(np.arange(50, 200)), labels[50:], relation=fs.Judged(part))
    assert (weighted.value, weighted.unverifiable) == (alone.value, alone.unverifiable)


def test_explainers_are_compared_by_their_own_judges():
    x, reasons, labels, table = drawn()
    other = fs.Reasons(["low" if value < 0.5 else "high" for value in x])
    every = np.column_stack([x < 0.5, x >= 0.5])[:, [0, 1] if x[0] < 0.5 else [1, 0]]
    relations = {"free": fs.Judged(table), "two": fs.Judged(every), "again": fs.Judged(table)}
    explained = {"free": reasons, "two": other, "again": fs.Reasons(reasons.texts.tolist())}
    comparison = fs.compare(labels, explained, x[:, None], relation=relations, progress=False)
    assert comparison["two"].sufficiency.value == 1.0
    assert comparison["two"].necessity is not None
    assert comparison["free"].necessity is None
    differences = comparison.differences().set_index(["measure", "a", "b"])
    same = differences.loc[("sufficiency", "free", "again")]
    assert (same["low"], same["high"]) == (0.0, 0.0)


def test_the_report_and_the_assertion_advise_to_ask_more(tmp_path):
    x, reasons, labels, table = drawn()
    evaluation = fs.evaluate(labels, reasons, x[:, None], relation=fs.Judged(table), progress=False)
    evaluation.to_html(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "ask about more pairs" in page
    assert "assumes that these were drawn at random" in page
    with pytest.raises(AssertionError, match=r"ask about more pairs \(fs\.pairs_to_ask\)"):
        fs.assert_faithful(evaluation, at_least=0.95)


def test_pairs_are_drawn_uniformly_and_never_twice():
    table = fs.pairs_to_ask([*range(30), *[99] * 10], per_explanation=7)
    assert not table.duplicated(["row", "explanation"]).any()
    assert (table.groupby("explanation").size() == 7).all()
    assert (table["row"] != table["explanation"])[table["explanation"] < 30].all()
    counts = np.zeros(12)
    for seed in range(400):
        drawn = fs.pairs_to_ask([*range(11), 0], per_explanation=4, seed=seed)
        counts += np.bincount(drawn[drawn["explanation"] == 0]["row"], minlength=12)
    assert counts.sum() == 1_600
    assert np.abs(counts - 1_600 / 12).max() < 5 * np.sqrt(1_600 / 12)


@pytest.mark.parametrize("sizes", [(3, 8), (8, 12), (5, 19), (12, None)])
def test_more_pairs_of_the_same_seed_hold_the_fewer(sizes):
    few, many = (fs.pairs_to_ask(range(20), size, seed=3) for size in sizes)
    pairs = [set(table[["row", "explanation"]].itertuples(index=False, name=None)) for table in (few, many)]
    assert pairs[0] < pairs[1]
    other = fs.pairs_to_ask(range(20), sizes[0], seed=4)[["row", "explanation"]].itertuples(index=False, name=None)
    assert set(other) != pairs[0]


def test_own_pairs_are_asked_only_of_explanations_that_one_row_has():
    table = fs.pairs_to_ask(["a", "b", "b"], 1, own=True)
    assert (table[table["explanation"] == 0]["row"] == 0).sum() == 1
    assert len(table) == 3
    assert table["applies"].isna().all()


def test_all_pairs_answered_are_a_whole_relation():
    table = fs.pairs_to_ask(range(20), None)
    assert len(table) == len(fs.pairs_to_ask(range(20), None, own=True)) == 400
    table["applies"] = (table["row"] - table["explanation"]).abs() < 4
    assert fs.necessity(range(20), [0, 1] * 10, relation=fs.Judged(table)).n == 20


def test_a_judge_reads_the_whole_text():
    long = "because " * 100
    assert fs.pairs_to_ask(fs.Reasons([long, "short"]), 1)["text"].tolist() == [long, "short"]


def test_texts_that_went_through_a_file_are_still_recognized(tmp_path):
    _, reasons, labels, table = drawn()
    table.to_csv(tmp_path / "asked.csv", index=False)
    again = pd.read_csv(tmp_path / "asked.csv")
    wanted = fs.sufficiency(reasons, labels, relation=fs.Judged(table)).to_dict()
    assert fs.sufficiency(reasons, labels, relation=fs.Judged(again)).to_dict() == wanted


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"per_explanation": 0}, "per_explanation must be a whole number of at least 1"),
        ({"seed": -1}, "seed must be a whole number"),
        ({"own": "yes"}, "own must be True or False"),
    ],
)
def test_bad_wishes_are_refused(how, message):
    with pytest.raises(BadInput, match=message):
        fs.pairs_to_ask(["a", "b"], **how)


def test_columns_whose_names_are_numbers_and_explanations_as_well_are_refused():
    answers = pd.DataFrame([[1, 0, 0], [0, 1, 0], [1, 1, 1], [0, 0, 1]], columns=["0", "1", "2"])
    with pytest.raises(fs.errors.BadInput, match="as well"):
        fs.sufficiency(["2", "0", "1", "1"], list("aabb"), relation=fs.Judged(answers))
    by_number = fs.sufficiency(["0", "1", "2", "2"], list("aabb"), relation=fs.Judged(answers[["2", "0", "1"]]))
    assert by_number.value == fs.sufficiency(list("abcc"), list("aabb"), relation=fs.Judged(answers.to_numpy())).value
