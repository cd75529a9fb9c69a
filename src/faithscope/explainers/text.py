"""Highlighted words of texts: the decisive word, the first word, all words."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from faithscope.errors import BadInput, WrongType
from faithscope.explainers.base import Explainer, Progress
from faithscope.explanations.highlights import Highlights
from faithscope.inputs.checks import check_word
from faithscope.inputs.documents import Tokenizer, to_documents, words_of


@dataclass(frozen=True, eq=False, repr=False)
class AllWords(Explainer):
    """Highlights every word: faithful by definition, and unverifiable.

    Parameters
    ----------
    tokenizer : callable
        From a text to its words.

    Examples
    --------
    >>> AllWords().explain(["great film"]).describe(0)
    'film, great'
    """

    tokenizer: Tokenizer = str.split
    _most: ClassVar[int | None] = None  # words that are highlighted

    def explain(self, X: Any, *, progress: Progress | None = None) -> Highlights:
        """The words of each document that are highlighted; nothing if it has no words."""
        words = [words_of(self.tokenizer, text)[: self._most] for text in to_documents(X)]
        return Highlights(words, tokenizer=self.tokenizer)


class FirstWord(AllWords):
    """Highlights the first word: close to a random explanation, which is what the paper uses it for.

    Parameters
    ----------
    tokenizer : callable
        From a text to its words.

    Examples
    --------
    >>> FirstWord().explain(["a great film"]).describe(0)
    'a'
    """

    _most = 1


@dataclass(frozen=True, eq=False, repr=False)
class TopCoefficient(Explainer):
    """Highlights the word of the document that has the largest coefficient in a linear model.

    Parameters
    ----------
    model : fitted linear classifier or regressor with ``coef_``, or a pipeline of a vectorizer and such a model
    vectorizer : fitted scikit-learn vectorizer of texts, such as CountVectorizer, optional
        Of a pipeline its own; training texts in this place are left alone.
    by : {"absolute", "favor"}
        The coefficient of largest absolute value, as in the paper's text; or the largest coefficient in favor of the
        prediction, which the paper's printed numbers seem to be about. A regressor has no prediction to be in favor of.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from sklearn.linear_model import LogisticRegression
    >>> texts = ["great film", "dull film"]
    >>> vectorizer = CountVectorizer().fit(texts)
    >>> model = LogisticRegression().fit(vectorizer.transform(texts), [1, 0])
    >>> TopCoefficient(model, vectorizer).explain(["great film"]).describe(0)
    'great'
    """

    model: Any
    vectorizer: Any = None
    by: Literal["absolute", "favor"] = "absolute"

    def __post_init__(self) -> None:
        if hasattr(self.model, "steps") and not hasattr(self.vectorizer, "vocabulary_"):
            object.__setattr__(self, "vectorizer", None)  # training texts, which nothing may show
        linear, vectorizer = self._parts()
        if not hasattr(linear, "coef_") or not hasattr(vectorizer, "vocabulary_"):
            raise WrongType(
                "TopCoefficient needs a fitted linear model (coef_) and a fitted vectorizer (vocabulary_), or a "
                f"pipeline of these two: pass TopCoefficient(model, vectorizer); got {type(self.model).__name__} and "
                f"{type(self.vectorizer).__name__}."
            )
        check_word(self.by, "by", ("absolute", "favor"))
        if not hasattr(linear, "classes_") and (self.by == "favor" or len(np.atleast_2d(linear.coef_)) > 1):
            raise BadInput(
                f'{type(linear).__name__} has no classes, so that no word is in favor of one: use by="absolute", '
                "with a model of one output."
            )

    def _parts(self) -> tuple[Any, Any]:
        """The linear model and its vectorizer."""
        steps = [step for _, step in getattr(self.model, "steps", ())]
        return (steps[1], steps[0]) if self.vectorizer is None and len(steps) == 2 else (self.model, self.vectorizer)

    def explain(self, X: Any, *, progress: Progress | None = None) -> Highlights:
        """The decisive word of each document; nothing if the model knows none of its words."""
        documents, (linear, vectorizer) = to_documents(X), self._parts()
        words: list[list[str]] = [[] for _ in documents]
        analyzer = vectorizer.build_analyzer()
        if not documents:
            return Highlights(words, analyzer, vectorizer.vocabulary_)
        names, bag = vectorizer.get_feature_names_out(), vectorizer.transform(documents).tocsr()
        coefficients, predicted = np.atleast_2d(linear.coef_), np.zeros(bag.shape[0], np.int64)
        if hasattr(linear, "classes_"):
            predicted = np.searchsorted(linear.classes_, linear.predict(bag))
            if len(coefficients) == 1:
                coefficients = np.vstack([-coefficients, coefficients])
        coefficients = np.abs(coefficients) if self.by == "absolute" else coefficients
        for row, columns in enumerate(np.split(bag.indices, bag.indptr[1:-1])):
            if len(columns):
                words[row].append(names[columns[coefficients[predicted[row], columns].argmax()]])
        return Highlights(words, analyzer, vectorizer.vocabulary_)
