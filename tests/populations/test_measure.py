"""Sufficiency on populations: the interval over rows, chance, weights, clusters, numbers, and what is refused."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression

import faithscope as fs
from faithscope.errors import BadInput, NotProven, NotScoped, WrongType

RNG = np.random.default_rng(0)
TRAIN = RNG.normal(size=(200, 3))
X = RNG.normal(size=(80, 3))
MODEL = LogisticRegression().fit(TRAIN, TRAIN[:, 0] + TRAIN[:, 1] > 0)
RULES = fs.Rules.from_conditions([[("a", "<=" if x < 0 else ">", 0.0)] for x in X[:, 0]], features=["a", "b", "c"])
PERTURBED = fs.Perturbed(TRAIN, draws=10)


def measured(population=PERTURBED, model=MODEL, **how):
    return fs.sufficiency(RULES, model, X, population=population, **how)


def test_real_rows_are_the_default_to_the_last_digit():
    plain = fs.sufficiency(RULES, MODEL.predict(X), X)
    assert measured(fs.RealRows()).to_dict() == plain.to_dict()
    assert fs.sufficiency(RULES, MODEL.predict(X), X, population=fs.RealRows()).to_dict() == plain.to_dict()
    assert plain.population is None


def test_a_model_is_asked_about_the_rows_without_a_population_too():
    plain = fs.sufficiency(RULES, MODEL.predict(X), X)
    for model in (MODEL, MODEL.predict, lambda rows: MODEL.predict(rows)):
        assert fs.sufficiency(RULES, model, X).to_dict() == plain.to_dict()


@pytest.mark.parametrize(
    "model", [MODEL, MODEL.predict, LogisticRegression, RandomForestClassifier(2).fit(X, X[:, 0] > 0)]
)
def test_a_model_in_place_of_predictions_is_refused_where_there_are_no_rows_to_ask_about(model):
    with pytest.raises(WrongType, match=r"such as model\.predict\(X\)"):
        fs.consistency(RULES, model)


def test_the_model_may_be_given_in_every_way():
    expected = measured().to_dict()
    ways = (
        measured(model=MODEL.predict),
        measured(model=lambda rows: MODEL.predict(rows)),
        fs.sufficiency(RULES, MODEL.predict(X), X, population=fs.Perturbed(TRAIN, 10, model=MODEL)),
        fs.sufficiency(explanations=RULES, predictions=MODEL, X=X, population=fs.Perturbed(X_train=TRAIN, draws=10)),
    )
    assert all(way.to_dict() == expected for way in ways)


def test_draws_that_are_predicted_elsewhere_give_the_same_number():
    drawn = PERTURBED.draw(RULES, X)
    own = fs.drawn(RULES, drawn.rows, MODEL.predict(drawn.rows), of=drawn.of)
    assert measured(own, MODEL.predict(X)).value == measured().value


def test_the_estimate_is_the_mean_over_rows_and_its_interval_that_of_their_means():
    estimate, drawn = measured(), PERTURBED.draw(RULES, X)
    agrees = (MODEL.predict(drawn.rows) == MODEL.predict(X)[drawn.of]).reshape(80, 10)
    means = agrees.mean(axis=1)
    assert estimate.value == pytest.approx(means.mean())
    half = 2 * means.std(ddof=1) / np.sqrt(80)
    assert (estimate.high - estimate.low) / 2 == pytest.approx(half, rel=0.1)
    other = MODEL.predict(X)[:, None, None] == MODEL.predict(drawn.rows).reshape(80, 10)
    chance = np.mean([other[i, np.arange(80) != i].mean() for i in range(80)])
    assert estimate.chance == pytest.approx(chance)


def test_more_draws_never_make_the_interval_narrower_than_the_rows_allow():
    """Each draw repeated is the same observation: ten copies of one draw give the interval of one."""
    labels = RNG.integers(0, 2, (80, 1))
    rows = np.zeros((80, 1, 3))
    one = fs.drawn(RULES, rows, labels, only_covered=False)
    ten = fs.drawn(RULES, np.repeat(rows, 10, axis=1), np.repeat(labels, 10, axis=1), only_covered=False)
    first, second = (fs.sufficiency(RULES, np.ones(80, int), population=each) for each in (one, ten))
    assert (first.low, first.high, first.above_chance) == (second.low, second.high, second.above_chance)


@pytest.mark.parametrize("draws", [1, 100])
@pytest.mark.parametrize("n", [1, 2, 30])
def test_an_interval_never_collapses_where_all_draws_agree(n, draws):
    always = fs.sufficiency(
        RULES.take(np.arange(n)), lambda rows: [1] * len(rows), X[:n], population=fs.Perturbed(TRAIN, draws=draws)
    )
    assert always.value == always.high == 1
    assert always.low <= max(0.0, 1 - np.log(2 / 0.05) / n) + 1e-12
    assert always.above_chance is None


def test_clusters_are_left_out_whole_and_weights_are_those_of_rows():
    copies = np.repeat(np.arange(80), 3)
    drawn = PERTURBED.draw(RULES, X)
    labels = MODEL.predict(drawn.rows).reshape(80, 10)
    own = fs.drawn(RULES.take(copies), np.zeros((240, 10, 3)), labels[copies], only_covered=False)
    once = fs.drawn(RULES, np.zeros((80, 10, 3)), labels, only_covered=False)
    plain = fs.sufficiency(RULES, MODEL.predict(X), population=once)
    repeated = fs.sufficiency(RULES.take(copies), MODEL.predict(X)[copies], population=own, clusters=copies)
    assert (repeated.value, repeated.low, repeated.high) == pytest.approx((plain.value, plain.low, plain.high))
    assert repeated.clusters == 80
    weighed = fs.sufficiency(RULES, MODEL.predict(X), population=once, weights=np.arange(80))
    means = (labels == MODEL.predict(X)[:, None]).mean(axis=1)
    assert weighed.value == pytest.approx(np.average(means, weights=np.arange(80)))
    assert weighed.effective_n < 80


@pytest.mark.parametrize("agreement", [fs.Close(0.7), fs.Tolerance(0.7), lambda a, b: np.exp(-np.abs(a - b))])
def test_numbers_agree_as_the_agreement_says(agreement):
    model = LinearRegression().fit(TRAIN, TRAIN @ [1.0, 2.0, 0.5])
    drawn = PERTURBED.draw(RULES, X)
    gaps = np.abs(model.predict(drawn.rows) - model.predict(X)[drawn.of])
    by = {fs.Close: lambda g: np.maximum(0, 1 - g / 0.7), fs.Tolerance: lambda g: g <= 0.7}
    expected = by.get(type(agreement), lambda g: np.exp(-g))(gaps).mean()
    estimate = measured(model=model, agreement=agreement)
    assert estimate.value == pytest.approx(expected)
    drop = (np.repeat(model.predict(X), 10) - model.predict(drawn.rows)).mean()
    assert estimate.drop == pytest.approx(drop)


def test_the_result_tells_its_population_everywhere():
    estimate = measured()
    assert str(estimate).startswith("sufficiency on perturbed rows 0.")
    assert max(map(len, str(estimate).splitlines())) <= 100
    assert estimate.population == "Perturbed(X_train of 200 rows, draws=10, seed=0)"
    assert json.loads(json.dumps(estimate.to_dict()))["population"] == estimate.population
    assert "draws that keep its explanation" in estimate.to_markdown()
    assert "perturbed rows" in estimate._repr_html_()
    assert len(estimate.table()) == 1
    fs.assert_faithful(estimate, at_least=0.1)
    assert estimate.plot().to_dict()


@pytest.mark.parametrize("reads", [fs.plan, fs.GibbsDecoder, fs.mse_bound])
def test_what_reads_counts_of_rows_refuses_draws_in_one_sentence(reads):
    with pytest.raises(WrongType, match="sufficiency on perturbed rows compares rows with draws"):
        reads(measured())


def test_the_model_cannot_change_the_rows():
    def spoils(rows):
        rows[:] = 0
        return np.ones(len(rows), int)

    before = X.copy(), TRAIN.copy()
    measured(model=spoils)
    assert (before[0] == X).all()
    assert (before[1] == TRAIN).all()


def test_the_model_is_asked_in_large_batches():
    sizes = []

    def model(rows):
        sizes.append(len(rows))
        return np.ones(len(rows), int)

    measured(fs.Perturbed(TRAIN, draws=1000), model)
    assert sum(sizes) == 80 + 80_000
    assert len(sizes) == 3


FRAME = pd.DataFrame(TRAIN, columns=["a", "b", "c"])


@pytest.mark.parametrize(
    ("call", "kind", "told"),
    [
        (lambda: measured(model=MODEL.predict(X)), BadInput, "Perturbed makes new rows, .* pass the model"),
        (lambda: measured(fs.Perturbed), WrongType, "Perturbed without its arguments is no population"),
        (lambda: measured("perturbed"), WrongType, "population='perturbed' is no population"),
        (lambda: measured(fs.Perturbed()), BadInput, "draws from training rows: pass Perturbed"),
        (lambda: measured(fs.Perturbed(TRAIN[:0])), BadInput, "X_train is empty"),
        (lambda: measured(fs.Perturbed(TRAIN[:, :2])), BadInput, "X_train has 2 columns and X has 3|have 2 columns"),
        (lambda: measured(fs.Perturbed(FRAME)), BadInput, "X_train is a table with named columns and X is a plain arr"),
        (
            lambda: fs.sufficiency(
                RULES, MODEL, FRAME[:80], population=fs.Perturbed(FRAME.rename(columns={"b": "bb"}))
            ),
            BadInput,
            "X has no column 'bb', which X_train has",
        ),
        (lambda: measured(fs.Perturbed(TRAIN, draws=0)), BadInput, "draws must be a whole number"),
        (lambda: measured(fs.Perturbed(TRAIN, keep=2)), BadInput, "keep must be a probability"),
        (lambda: measured(fs.Perturbed(TRAIN, unknown=3)), WrongType, "unknown must be a text"),
        (lambda: measured(fs.Perturbed(TRAIN, seed=-1)), BadInput, "seed must be a whole number"),
        (lambda: measured(fs.Conditional(TRAIN, k=0)), BadInput, "k must be a whole number"),
        (lambda: measured(fs.Conditional(None)), BadInput, "draws from training rows"),
        (lambda: measured(relation=lambda X, e: X[:, 0] > 0), BadInput, "leave relation= out"),
        (lambda: measured(further=TRAIN), BadInput, "leave further= out"),
        (lambda: measured(interval="mcdiarmid"), NotProven, "use 'jackknife'"),
        (lambda: measured(confidence=2), BadInput, "confidence"),
        (lambda: measured(agreement=fs.Spread()), NotProven, "on draws, pass"),
        (
            lambda: measured(model=LinearRegression().fit(TRAIN, TRAIN[:, 0])),
            BadInput,
            "LinearRegression predicts numbers",
        ),
        (
            lambda: fs.sufficiency(X, MODEL, X, population=PERTURBED),
            NotScoped,
            "importances over 3 features, which do not say where they apply",
        ),
        (
            lambda: fs.sufficiency(fs.Counterfactuals(X + 1, X), MODEL, X, population=PERTURBED),
            BadInput,
            "Perturbed fixes what an explanation names",
        ),
        (lambda: fs.sufficiency(RULES, MODEL, population=PERTURBED), (WrongType, BadInput), "X"),
        (lambda: measured(model=lambda rows: [1]), BadInput, "80 rows but predictions have 1"),
        (lambda: measured(model=lambda rows: [None] * len(rows)), BadInput, "missing|None"),
    ],
)
def test_what_cannot_be_measured_gets_one_sentence(call, kind, told):
    with pytest.raises(kind, match=told) as raised:
        call()
    assert "\n" not in str(raised.value)


def test_an_error_of_the_model_says_that_it_was_raised_on_draws():
    def fails(rows):
        if len(rows) > 80:
            raise ZeroDivisionError("oh")
        return [1] * len(rows)

    with pytest.raises(ZeroDivisionError) as raised:
        measured(model=fails)
    assert "predicting draws" in raised.value.__notes__[0]


def test_no_draw_at_all_says_that_nothing_can_be_checked():
    rules = fs.Rules.from_conditions([[("a", ">", 1e9)]] * 80, features=["a", "b", "c"])
    estimate = fs.sufficiency(rules, MODEL, X, population=PERTURBED)
    assert (estimate.value, estimate.low, estimate.high, estimate.verified) == (0, 0, 1, None)
    assert "80 rows have an explanation that leaves no draw" in estimate.notes
    assert "that leaves no draw" in estimate.to_markdown()
