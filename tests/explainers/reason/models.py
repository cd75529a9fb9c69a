"""Models that sufficient reasons are proven of, of every library, fitted on the same rows."""

import numpy as np
import pytest
from sklearn import ensemble, tree
from sklearn.datasets import make_classification

CLASSIFIERS = {
    "tree": lambda: tree.DecisionTreeClassifier(max_depth=6, random_state=0),
    "forest": lambda: ensemble.RandomForestClassifier(15, max_depth=6, random_state=0),
    "deep forest": lambda: ensemble.RandomForestClassifier(6, random_state=0),
    "extra trees": lambda: ensemble.ExtraTreesClassifier(10, max_depth=6, random_state=0),
    "boosting": lambda: ensemble.GradientBoostingClassifier(n_estimators=20, random_state=0),
    "exponential": lambda: ensemble.GradientBoostingClassifier(n_estimators=20, loss="exponential", random_state=0),
    "hist": lambda: ensemble.HistGradientBoostingClassifier(max_iter=20, random_state=0),
    "xgboost": lambda: _library("xgboost").XGBClassifier(n_jobs=1, n_estimators=20, max_depth=4),
    "xgboost, base": lambda: _library("xgboost").XGBClassifier(n_jobs=1, n_estimators=20, max_depth=4, base_score=0.2),
    "xgboost forest": lambda: _library("xgboost").XGBRFClassifier(n_jobs=1, n_estimators=20, max_depth=4),
    "lightgbm": lambda: _library("lightgbm").LGBMClassifier(n_jobs=1, n_estimators=20, verbose=-1),
    "lightgbm forest": lambda: _library("lightgbm").LGBMClassifier(
        n_jobs=1, n_estimators=20, boosting_type="rf", bagging_freq=1, bagging_fraction=0.5, verbose=-1
    ),
}
REGRESSORS = {
    "tree": lambda: tree.DecisionTreeRegressor(max_depth=6, random_state=0),
    "forest": lambda: ensemble.RandomForestRegressor(15, max_depth=6, random_state=0),
    "boosting": lambda: ensemble.GradientBoostingRegressor(n_estimators=20, random_state=0),
    "zero": lambda: ensemble.GradientBoostingRegressor(n_estimators=20, init="zero", random_state=0),
    "hist": lambda: ensemble.HistGradientBoostingRegressor(max_iter=20, random_state=0),
    "hist poisson": lambda: ensemble.HistGradientBoostingRegressor(max_iter=20, loss="poisson", random_state=0),
    "xgboost": lambda: _library("xgboost").XGBRegressor(n_jobs=1, n_estimators=20, max_depth=4),
    "xgboost poisson": lambda: _library("xgboost").XGBRegressor(n_jobs=1, n_estimators=20, objective="count:poisson"),
    "xgboost logistic": lambda: _library("xgboost").XGBRegressor(n_jobs=1, n_estimators=20, objective="reg:logistic"),
    "lightgbm": lambda: _library("lightgbm").LGBMRegressor(n_jobs=1, n_estimators=20, verbose=-1),
    "lightgbm gamma": lambda: _library("lightgbm").LGBMRegressor(
        n_jobs=1, n_estimators=20, objective="gamma", verbose=-1
    ),
}
NO_MISSING = ("boosting", "exponential", "zero")  # which refuse rows that miss values


def _library(name):
    return pytest.importorskip(name, reason=f"{name} is not installed")


def table(classes=2, holes=False, whole=False):
    """Rows and labels; whole numbers lie exactly at thresholds of some libraries."""
    X, y = make_classification(600, 6, n_informative=4, n_redundant=0, n_classes=classes, random_state=classes)
    X = np.round(X) if whole else X
    if holes:
        X[np.random.default_rng(1).random(X.shape) < 0.15] = np.nan
    return X, y


def numbers(X):
    """What regressors are fitted to: between 0 and 1, and above 0."""
    return 0.05 + 0.9 / (1 + np.exp(-np.nan_to_num(X[:, 0] + X[:, 1] * X[:, 2])))
