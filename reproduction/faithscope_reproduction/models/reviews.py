"""Movie reviews and the linear model that judges them."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithscope.datasets import load
from faithscope_reproduction.settings import Settings

_ROUNDING = 1e-9
_SEED = 42  # with it, the training part has exactly the 15,888 words that the paper prints


@dataclass(frozen=True, eq=False)
class Reviews:
    """A bag-of-words model, and the documents that it has not seen."""

    vectorizer: Any
    model: Any
    test: list[str]
    y_test: NDArray[np.int64]

    def predict(self, texts: Any) -> NDArray[np.int64]:
        """0 for negative, 1 for positive, as by ``model.predict(vectorizer.transform(texts))``."""
        sums = np.fromiter((sum(map(self.worth, text.split())) for text in texts), np.float64, len(texts))
        sums += self.intercept
        labels = self.label(sums)
        close = np.flatnonzero(np.abs(sums) < _ROUNDING)  # the order in which coefficients are added could matter
        if len(close):
            labels[close] = self.model.predict(self.vectorizer.transform([texts[place] for place in close]))
        return np.asarray(labels, np.int64)

    @property
    def intercept(self) -> float:
        """The sum of a text without words."""
        return float(self.model.intercept_[0])

    def label(self, sums: NDArray[np.float64]) -> NDArray[Any]:
        """The labels of texts by their sums."""
        return np.asarray(self.model.classes_[(sums > 0).astype(np.intp)])

    @cached_property
    def worth(self) -> Callable[[str], float]:
        """What a word adds to the model's sum: the coefficients of its tokens. No token reaches over a blank."""
        tokens, places = self.vectorizer.build_analyzer(), self.vectorizer.vocabulary_
        coefficients = self.model.coef_[0].tolist()

        @cache
        def worth(word: str) -> float:
            return float(sum(coefficients[places[token]] for token in tokens(word) if token in places))

        return worth


def reviews(settings: Settings) -> Reviews:
    """A default logistic regression on counts of words, trained on 80% of the pure-ASCII documents."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression

    dataset = load("rt_polarity", settings.folder)
    kept = dataset.X["text"].map(str.isascii).to_numpy()
    train, test, y_train, y_test = _split(dataset.X["text"][kept].tolist(), dataset.y[kept])
    vectorizer = CountVectorizer().fit(train)
    model = LogisticRegression(max_iter=1000).fit(vectorizer.transform(train), y_train)
    return Reviews(vectorizer, model, test, np.asarray(y_test))


def vocabulary_size(texts: list[str], train_only: bool = False) -> int:
    """Number of different words in documents, or in the part of them that the model is trained on."""
    from sklearn.feature_extraction.text import CountVectorizer

    kept = _split(texts, np.zeros(len(texts)))[0] if train_only else texts
    return len(CountVectorizer().fit(kept).vocabulary_)


def _split(texts: list[str], labels: Any) -> Any:
    from sklearn.model_selection import train_test_split

    return train_test_split(texts, labels, test_size=0.2, random_state=_SEED)
