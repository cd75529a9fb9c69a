"""Explainers of other libraries, handed to evaluate as they are."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression

import faithscope as fs
from faithscope.errors import BadInput, WrongType

X, Y = load_breast_cancer(return_X_y=True, as_frame=True)
X = X.iloc[:, :4]
MODEL = RandomForestClassifier(2, random_state=0).fit(X, Y)
ROWS = X[::120]


def evaluate(model, explainer, rows=ROWS, **options):
    return fs.evaluate(model, explainer, rows, progress=False, **options)


def tabular(rows=X, **options):
    lime = pytest.importorskip("lime.lime_tabular")
    return lime.LimeTabularExplainer(
        np.asarray(rows, float), **{"feature_names": list(rows), "random_state": 0, **options}
    )


@pytest.mark.slow
def test_lime_explains_every_row_with_all_features():
    explained = evaluate(MODEL, tabular()).explanations
    assert explained.names == tuple(X)
    assert (explained.values != 0).all()
    assert evaluate(MODEL, tabular()).explainer == "LimeTabularExplainer"


@pytest.mark.slow
def test_limes_answer_depends_on_the_row_and_its_seed_alone():
    explainer = tabular()
    state = explainer.random_state.get_state()[1].tolist()
    once, other = evaluate(MODEL, explainer).explanations, evaluate(MODEL, tabular(random_state=1)).explanations
    assert (evaluate(MODEL, explainer, ROWS[::-1]).explanations.values[::-1] == once.values).all()
    assert (evaluate(MODEL, explainer, ROWS[3:5]).explanations.values == once.values[3:5]).all()
    assert (other.values != once.values).any()
    assert explainer.random_state.get_state()[1].tolist() == state, "the caller's explainer is left alone"


@pytest.mark.slow
def test_lime_without_a_seed_is_noted():
    assert not any("seed" in note for note in evaluate(MODEL, tabular()).consistency.notes)
    before = np.random.get_state()[1].tolist()  # noqa: NPY002
    notes = evaluate(MODEL, tabular(random_state=None)).consistency.notes
    assert any("LimeTabularExplainer has no seed" in note for note in notes)
    assert np.random.get_state()[1].tolist() == before  # noqa: NPY002


@pytest.mark.slow
def test_limes_weights_are_those_that_lime_gives():
    explainer, row = tabular(), ROWS.to_numpy()[0]
    ours = evaluate(MODEL, explainer).explanations.values[0]
    runs = [
        dict(
            tabular(random_state=seed)
            .explain_instance(row, lambda rows: MODEL.predict_proba(pd.DataFrame(rows, columns=list(X))))
            .as_map()[1]
        )
        for seed in range(5)
    ]
    theirs = np.array([[run[j] for j in range(4)] for run in runs])
    np.testing.assert_allclose(ours, theirs.mean(axis=0), atol=8 * theirs.std(axis=0).max())


@pytest.mark.slow
def test_lime_of_several_classes_and_of_numbers():
    wine, kinds = load_wine(return_X_y=True, as_frame=True)
    wine = wine.iloc[:, :3]
    three = evaluate(LogisticRegression(max_iter=2000).fit(wine, kinds), tabular(wine), wine[::30])
    assert three.explanations.values.shape == (6, 9)
    assert any("all 3 classes" in note for note in three.consistency.notes)
    line = evaluate(LinearRegression().fit(X, X["mean area"]), tabular(mode="regression"))
    assert line.agreement == fs.Spread()


@pytest.mark.slow
def test_limes_categories_do_not_rename_features():
    coded = pd.DataFrame({"sex": [0, 1] * 20, "age": np.arange(40.0)})
    model = LogisticRegression().fit(coded, coded["sex"])
    explainer = tabular(coded, categorical_features=[0], categorical_names={0: ["female", "male"]})
    assert evaluate(model, explainer, coded[:4]).explanations.names == ("sex", "age")


@pytest.mark.slow
def test_lime_of_texts():
    lime = pytest.importorskip("lime.lime_text")
    text, pipeline = pytest.importorskip("sklearn.feature_extraction.text"), pytest.importorskip("sklearn.pipeline")
    documents = ["good film", "bad plot", "good plot", "bad film"] * 3
    model = pipeline.make_pipeline(text.CountVectorizer(), LogisticRegression()).fit(documents, [1, 0, 1, 0] * 3)
    told = evaluate(model, lime.LimeTextExplainer(random_state=0), documents[:4])
    assert "good" in told.explanations.describe(0)


def test_what_lime_needs_is_said():
    with pytest.raises(BadInput, match=r"must have predict_proba: pass the model itself"):
        evaluate(MODEL.predict(ROWS), tabular())
    with pytest.raises(WrongType, match=r"column 'job' holds 'clerk'.*fs.explainers.Lime\(model, X_train\)"):
        evaluate(_Anything(), tabular(X.assign(job=0)), ROWS.assign(job="clerk"))
    assert evaluate(MODEL.predict, tabular()).explanations.names == tuple(X), "a bound predict names its model"


class _Anything:
    def predict(self, rows):
        return np.zeros(len(rows), int)

    def predict_proba(self, rows):
        return np.tile([0.5, 0.5], (len(rows), 1))


@pytest.mark.slow
def test_the_cache_knows_a_changed_explainer(tmp_path):
    def cached(explainer):
        return evaluate(MODEL, explainer, cache=tmp_path).explanations.values

    first = cached(tabular())
    files = sorted(tmp_path.iterdir())
    assert (cached(tabular()) == first).all()
    assert sorted(tmp_path.iterdir()) == files, "a second run computes nothing"
    assert (cached(tabular(kernel_width=0.5)) != first).any()
    assert (cached(tabular(random_state=7)) != first).any()
    used = tabular()
    used.explain_instance(ROWS.to_numpy()[0], lambda rows: np.tile([0.4, 0.6], (len(rows), 1)))
    assert (cached(used) != first).any(), "a generator that moved on is another explainer"


def test_shaps_explainers_are_functions_of_rows():
    shap = pytest.importorskip("shap")
    ready = shap.TreeExplainer(MODEL)(ROWS)
    held = evaluate(MODEL, shap.TreeExplainer(MODEL))
    assert (held.explanations.values == ready.values[:, :, 1]).all()
    assert held.explainer == "TreeExplainer"


LINE = LogisticRegression(max_iter=2000).fit(X.to_numpy(), Y)


def of_shap(kind, known):
    shap = pytest.importorskip("shap")
    masker = {"Partition": shap.maskers.Partition, "Permutation": shap.maskers.Independent}.get(kind, lambda rows: rows)
    asked = LINE if kind == "Linear" else LINE.predict_proba
    return getattr(shap, f"{kind}Explainer")(asked, masker(known))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["Linear", "Kernel", "Sampling", "Permutation", "Exact", "Partition", ""])
def test_shaps_explainers_are_called_and_draw_by_row(kind, tmp_path):
    explainer, rows = of_shap(kind, X.to_numpy()[:10]), ROWS.to_numpy()[:4]  # as many rows as features
    explained = evaluate(LINE, explainer, rows, cache=tmp_path).explanations.values
    files = sorted(tmp_path.iterdir())
    assert (evaluate(LINE, explainer, rows[::-1]).explanations.values[::-1] == explained).all()
    assert (evaluate(LINE, explainer, rows[1:3]).explanations.values == explained[1:3]).all()
    evaluate(LINE, explainer, rows, cache=tmp_path)
    assert sorted(tmp_path.iterdir()) == files, "a second run computes nothing"
    theirs = np.asarray(explainer(rows).values)
    np.testing.assert_allclose(explained, theirs[..., 1] if theirs.ndim == 3 else theirs, atol=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["Linear", "Kernel", "Permutation", "Exact"])
def test_shaps_explainers_know_columns_by_name(kind):
    explainer, model = of_shap(kind, X[:10]), _ByName(LINE)
    once, again = (
        evaluate(model, explainer, rows).explanations for rows in (ROWS, ROWS[ROWS.columns[::-1]].assign(job="clerk"))
    )
    assert once.names == again.names == tuple(X)
    assert (once.values == again.values).all()


class _ByName:
    """A model that takes columns by name, as pipelines do."""

    def __init__(self, model):
        self.model = model

    def predict(self, rows):
        return self.model.predict(rows[list(X)].to_numpy())

    def predict_proba(self, rows):
        return self.model.predict_proba(rows[list(X)].to_numpy())


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["Deep", "Gradient"])
def test_shaps_explainers_of_modules_take_arrays_and_tables(kind):
    shap, torch = pytest.importorskip("shap"), pytest.importorskip("torch")
    net = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Tanh(), torch.nn.Linear(3, 2))
    explainer = getattr(shap, f"{kind}Explainer")(net, torch.tensor(X.to_numpy()[:9], dtype=torch.float32))
    table, array = (evaluate(net, explainer, rows).explanations.values for rows in (ROWS, ROWS.to_numpy()))
    assert (table == array).all()


@pytest.mark.slow
def test_columns_are_known_by_their_names():
    anchor = pytest.importorskip("anchor.anchor_tabular")
    model = _ByName(RandomForestClassifier(2, random_state=0).fit(X.to_numpy(), Y))
    turned = ROWS[ROWS.columns[::-1]].assign(job="clerk")
    named = anchor.AnchorTabularExplainer(["no", "yes"], list(X), X.to_numpy())
    for explainer in (tabular(), named):
        once, again = (evaluate(model, explainer, rows) for rows in (ROWS, turned))
        assert [once.explanations.describe(row) for row in range(5)] == [
            again.explanations.describe(row) for row in range(5)
        ]
        with pytest.raises(BadInput, match="no column 'mean area'"):
            evaluate(_Anything(), explainer, ROWS.drop(columns="mean area"))
    pretty = ROWS.rename(columns=str.upper)
    notes = evaluate(_Anything(), tabular(), pretty).consistency.notes
    assert any("taken by position: 'MEAN RADIUS' as 'mean radius'" in note for note in notes)
    with pytest.raises(BadInput, match=r"feature_names=list\(X_train\)"):
        evaluate(_Anything(), named, pretty)
    with pytest.raises(BadInput, match="named 'mean radius'"):
        evaluate(_Anything(), tabular(), pd.concat([ROWS, ROWS], axis=1))


def test_no_rows_and_several_labels_are_one_sentence_each():
    several = pytest.importorskip("sklearn.multioutput").MultiOutputClassifier(LogisticRegression(max_iter=2000))
    several.fit(X, np.column_stack([Y, 1 - Y]))
    for rows in (ROWS[:0], ROWS.to_numpy()[:0]):
        with pytest.raises(BadInput, match="X are empty"):
            evaluate(MODEL, tabular(), rows)
    with pytest.raises(BadInput, match=r"several labels per row.*model.estimators_\[0\]"):
        evaluate(several, tabular())


def test_rows_without_names_of_a_model_that_takes_names():
    compose, pipeline = pytest.importorskip("sklearn.compose"), pytest.importorskip("sklearn.pipeline")
    chosen = compose.ColumnTransformer([("kept", "passthrough", list(X))])
    model = pipeline.make_pipeline(chosen, RandomForestClassifier(2, random_state=0)).fit(X, Y)
    with pytest.raises(BadInput, match=r"takes columns by name.*pd.DataFrame\(X, columns="):
        evaluate(model, tabular(), ROWS.to_numpy())


def test_shap_of_several_classes(tmp_path):
    shap = pytest.importorskip("shap")
    wine, kinds = load_wine(return_X_y=True, as_frame=True)
    model = RandomForestClassifier(2, random_state=0).fit(wine, kinds)
    three = evaluate(model, shap.TreeExplainer(model), wine[::20], discretizer=fs.SignOfTop(3), cache=tmp_path)
    assert three.explanations.values.shape[1] == 3 * wine.shape[1]
    again = evaluate(model, shap.TreeExplainer(model), wine[::20], discretizer=fs.SignOfTop(3), cache=tmp_path)
    assert again.consistency.value == three.consistency.value


@pytest.mark.slow
def test_a_model_of_interpretml_explains_itself():
    glass = pytest.importorskip("interpret.glassbox")
    model = glass.ExplainableBoostingClassifier(max_rounds=5, interactions=1, n_jobs=1).fit(X, Y)
    terms = evaluate(model, model).explanations
    assert terms.names == tuple(model.term_names_)
    np.testing.assert_allclose(terms.values, model.eval_terms(ROWS))


@pytest.mark.parametrize("outputs", [1, 2, 3])
def test_captums_methods_explain_the_classes_that_ours_explain(outputs):
    captum, torch = pytest.importorskip("captum.attr"), pytest.importorskip("torch")
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.Tanh(), torch.nn.Linear(5, outputs)).double()
    theirs = evaluate(net, captum.IntegratedGradients(net)).explanations
    chosen = 1 if outputs == 1 else None  # one output is the logit of class 1
    ours = fs.explainers.Gradient(net, method="integrated gradients", class_index=chosen).explain(ROWS)
    assert theirs.names == ours.names
    np.testing.assert_allclose(theirs.values, ours.values, atol=1e-6)


def test_captum_keeps_the_shape_of_images_and_names_what_it_needs():
    captum, torch = pytest.importorskip("captum.attr"), pytest.importorskip("torch")
    net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(64, 2))
    images = np.random.default_rng(0).random((6, 1, 8, 8)).astype(np.float32)
    assert evaluate(net, captum.Saliency(net), images).explanations.shape == (1, 8, 8)
    with pytest.raises(BadInput, match=r"GradientShap needs baselines.*target=1\)"):
        evaluate(net, captum.GradientShap(net), images)
    noisy = captum.NoiseTunnel(captum.Saliency(net))
    twice = [evaluate(net, noisy, part).explanations.values for part in (images, images[::-1])]
    assert (twice[0] == twice[1][::-1]).all(), "draws depend on the row alone"


def test_captum_that_mixes_rows_is_refused_and_modules_do_not_train():
    captum, torch = pytest.importorskip("captum.attr"), pytest.importorskip("torch")
    net = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.BatchNorm1d(3), torch.nn.Dropout(), torch.nn.Linear(3, 2))
    net = net.double().train()
    with pytest.raises(BadInput, match=r"shuffles.*FeatureAblation"):
        evaluate(net, captum.FeaturePermutation(net))
    for method in (captum.FeatureAblation(net), captum.IntegratedGradients(net.forward)):
        whole, part = (evaluate(net, method, rows).explanations.values for rows in (ROWS, ROWS[2:4]))
        np.testing.assert_allclose(whole[2:4], part, rtol=1e-9)
    assert net.training


def test_maps_of_several_classes_are_pooled_as_the_sentence_says():
    captum, torch = pytest.importorskip("captum.attr"), pytest.importorskip("torch")
    net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(64, 10))
    images, pool = np.random.default_rng(0).random((6, 1, 8, 8)), fs.Pool((2, 2))
    with pytest.raises(BadInput, match=r"of several classes.*class_index=1.*attribute\(torch.as_tensor\(X\).float\(\)"):
        evaluate(net, captum.IntegratedGradients(net), images, discretizer=pool)

    def of_one_class(rows):
        return captum.IntegratedGradients(net).attribute(torch.as_tensor(rows).float(), target=1)

    assert evaluate(net, of_one_class, images, discretizer=pool).explanations.values.shape == (6, 4)
    own = fs.explainers.Gradient(net, class_index=1)
    assert evaluate(net, own, images, discretizer=pool).explanations.values.shape == (6, 4)


@pytest.mark.slow
def test_compare_and_local_take_them_too():
    comparison = fs.compare(MODEL, {"lime": tabular(), "none": fs.explainers.Constant()}, ROWS, progress=False)
    assert comparison["lime"].explanations.names == tuple(X)
    assert fs.local(ROWS[:1], MODEL, tabular(), ROWS, discretizer=fs.SignOfTop(1)).value >= 0


@pytest.mark.slow
def test_anchors_are_rules_over_the_tables_columns():
    anchor = pytest.importorskip("anchor.anchor_tabular")
    explainer = anchor.AnchorTabularExplainer(["no", "yes"], list(X), X.to_numpy())
    told = evaluate(MODEL, explainer)
    assert (evaluate(MODEL, explainer, ROWS[::-1]).explanations.describe(0)) == told.explanations.describe(4)
    assert told.sufficiency.n == len(ROWS)
    for estimate in (told.consistency, told.sufficiency):
        assert sum("takes no seed" in note for note in estimate.notes) == 1
        assert sum("claim a precision" in note for note in estimate.notes) == 1
    with pytest.raises(BadInput, match="must have predict: pass the model itself"):
        evaluate(MODEL.predict(ROWS), explainer)


@pytest.mark.slow
def test_counterfactuals_of_dice_are_over_the_tables_columns():
    dice = pytest.importorskip("dice_ml")
    table = dice.Data(dataframe=X.assign(y=Y), continuous_features=list(X), outcome_name="y")
    explainer = dice.Dice(table, dice.Model(model=MODEL, backend="sklearn"), method="random")
    told, turned = (evaluate(MODEL, explainer, rows).explanations for rows in (ROWS, ROWS[::-1].to_numpy()))
    assert told.names == tuple(X)
    assert (turned.points[::-1] == told.points).all(), "draws depend on the row alone"
    with pytest.raises(BadInput, match="no column 'mean area'"):
        evaluate(_Anything(), explainer, ROWS.drop(columns="mean area"))
