"""How often are wrong features and flipped signs found? 100 samples of 1,000 rows of each of ten populations.

    python benchmarks/wrong_reasons.py                 # all tables; kept in results/wrong_reasons.txt
    python benchmarks/wrong_reasons.py --only heart    # some tables; nothing is kept

FAITHSCOPE_DATA names the folder of the paper's data sets. Of every table, HistGradientBoosting is fitted on up to 8,000
rows, and shap's TreeExplainer explains, for the class predicted, a population of up to 10,000 rows that it has not
seen. Four tables have fewer rows than that takes: there the population is a row of the table, drawn at random, with
every number moved by a normal of 0.3 standard deviations. Reviews of rt_polarity are which of its 200 most frequent
words they have. Samples are drawn from the population without replacement, so that each costs counting alone.

Features. A row names three, by SHAP values with their columns reversed, and by SHAP values.

beyond      sufficiency in the population (fs.Alike) beyond that of random features
quarter     of what lies between random features and the bar of the verdict, which is what a gain must surely stay
            below to be called no better than random
flagged     of 100 samples of 1,000 rows, those called so; then whether the population itself is

Signs. Moves are measured once, of 4,000 rows of the population (fs.direction).

right       the share of named features that move the probability as the sign says, among those that move it
flagged     of 100 samples of 1,000 rows, those whose interval lies below one half: of flipped signs, and of SHAP's
"""

import warnings

import numpy as np
import pandas as pd
import shap
from numpy.random import default_rng
from sklearn import datasets as bundled
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import CountVectorizer

import faithscope as fs
from faithscope.datasets import load
from faithscope.measures.telling import bar
from ratios import coded, describe_machine, options, tell

PAPER = ("heart", "bank", "adult", "avila", "chess", "covtype", "rt_polarity")
OTHERS = {"wine": bundled.load_wine, "breast cancer": bundled.load_breast_cancer, "digits": bundled.load_digits}
TRAINED, POPULATION, REDRAWN, SAMPLED, SAMPLES = 8_000, 10_000, 4_000, 1_000, 100
WORDS = 200


def table_of(name):
    """Rows and labels of a table."""
    if name in OTHERS:
        X, y = OTHERS[name](return_X_y=True, as_frame=True)
    else:
        known = load(name)
        X, y = known.X, known.y
    if name == "rt_polarity":
        words = CountVectorizer(binary=True, max_features=WORDS)
        X = pd.DataFrame(words.fit_transform(X.iloc[:, 0]).toarray(), columns=words.get_feature_names_out())
    return X.reset_index(drop=True).rename(columns=str), np.asarray(y)


def moved(X, many, rng):
    """A row of a table, drawn at random, with every number moved a little."""
    drawn = X.iloc[rng.integers(0, len(X), many)].reset_index(drop=True)
    for name in drawn.select_dtypes("number"):
        drawn[name] = drawn[name] + rng.normal(0, 0.3 * X[name].std(), many)
    return drawn


def of_predicted(values, place):
    """The numbers of each row's predicted class, of an array (n, d) of class 1 of two, or (n, d, classes)."""
    if values.ndim == 2:
        return np.where(place[:, None] == 1, values, -values)
    return values[np.arange(len(values)), :, place]


def explained(train, labels, rows):
    """Boosted trees, what they predict of rows that they have not seen, and the SHAP values of that."""
    model = HistGradientBoostingClassifier(max_iter=60, random_state=0).fit(train, labels)
    predictions = model.predict(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        values = np.asarray(shap.TreeExplainer(model).shap_values(rows))
    return model, predictions, of_predicted(values, np.searchsorted(model.classes_, predictions))


class Population:
    """Rows that the model has not seen, its predictions, and the SHAP values of the class that it predicts."""

    def __init__(self, name):
        X, y = table_of(name)
        order, rng = default_rng(0).permutation(len(X)), default_rng(1)
        small = len(X) < TRAINED // 2
        train = order if small else order[:TRAINED]
        self.X = moved(X, POPULATION, rng) if small else X.iloc[order[TRAINED:][:POPULATION]].reset_index(drop=True)
        numbers = coded(pd.concat([X.iloc[train], self.X], ignore_index=True))
        self.train, self.rows = numbers[: len(train)], numbers[len(train) :].reset_index(drop=True)
        self.model, self.predictions, self.values = explained(self.train, y[train], self.rows)

    def named(self, values, rows):
        """Sufficiency of some rows by their three largest features."""
        importances = fs.Importances(values[rows], names=list(self.X))
        return fs.sufficiency(importances, self.predictions[rows], self.X.iloc[rows], relation=fs.Alike(3))

    def signs(self):
        """Direction of the signs, of rows whose moves are measured once."""
        drawn = fs.Perturbed(self.train.sample(min(2_000, len(self.train)), random_state=0), draws=50)
        first = slice(0, REDRAWN)
        return fs.direction(self.values[first], self.model, self.rows[first], population=drawn, class_index="predicted")


def flagged(estimate):
    """Whether features are called no better than random ones."""
    _, low, high = estimate.beyond_random
    return low <= 0 and high <= max(0.0, left(estimate) / 4)


def left(estimate):
    """What lies between random features and the bar of the verdict."""
    return bar(estimate.chance) - (estimate.value - estimate.beyond_random.value)


def samples(n, seed):
    """The rows of 100 samples."""
    return [default_rng([seed, sample]).permutation(n)[:SAMPLED] for sample in range(SAMPLES)]


def of_features(name, known):
    """How often wrong and right features are called no better than random ones."""
    n, ways = len(known.X), {"reversed": known.values[:, ::-1], "SHAP": known.values}
    whole = {way: known.named(values, np.arange(n)) for way, values in ways.items()}
    drawn = {way: [known.named(values, rows) for rows in samples(n, 2)] for way, values in ways.items()}
    gains = "".join(f"{each.beyond_random.value:>+10.3f}" for each in whole.values())
    quarters = "".join(f"{sum(map(flagged, found)):>5}" for found in drawn.values())
    every = "".join(f"{'yes' if flagged(each) else 'no':>5}" for each in whole.values())
    quarter = left(whole["SHAP"]) / 4
    return f"{name:<14}{n:>7,}{gains}{quarter:>9.3f}  {quarters}  {every}"


def of_signs(name, known):
    """How often flipped and right signs are called flipped; the interval of flipped ones is the mirror image."""
    whole = known.signs()
    pairs = whole._moved
    found = [pairs.line(np.isin(pairs.rows, rows), whole.confidence) for rows in samples(whole.n, 3)]
    flipped, mistaken = sum(each["low"] > 0.5 for each in found), sum(each["high"] < 0.5 for each in found)
    return f"{name:<14}{whole.n:>7,}{whole.value:>8.3f}{whole.still:>7.0%}{flipped:>10}{mistaken:>6}"


def lines(names):
    """Both tables, line by line."""
    yield describe_machine(("faithscope", "numpy", "scikit-learn", "shap"))
    yield ""
    over = "".join(f"  {what:>10}" for what in ("flagged", "population"))
    yield f"{'':<21}{'beyond':>20}{'':9}{over}"
    heads = "".join(f"{way:>10}" for way in ("reversed", "SHAP"))
    three = "".join(f"{way:>5}" for way in ("rev", "SHAP"))
    yield f"{'table':<14}{'rows':>7}{heads}{'quarter':>9}  {three}  {three}"
    signs = []
    for name in names:
        known = Population(name)
        yield of_features(name, known)
        signs.append(of_signs(name, known))
    yield ""
    yield f"{'table':<14}{'rows':>7}{'right':>8}{'still':>7}{'flipped':>10}{'SHAP':>6}"
    yield from signs


if __name__ == "__main__":
    chosen = options(__doc__, only=[]).only
    tell(lines(chosen or (*PAPER, *OTHERS)), None if chosen else "wrong_reasons.txt")
