"""Anchors of texts: sets of words that nearly always keep the prediction, whatever other words are masked."""

from collections import Counter
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from faithscope.errors import WrongType
from faithscope.explainers.anchors.search import (
    Answers,
    Candidates,
    Keys,
    Search,
    mix,
)
from faithscope.explainers.base import Progress, blocks
from faithscope.explanations.base import claims
from faithscope.explanations.highlights import Highlights
from faithscope.inputs.array_types import Bools, Codes, Floats, Ints
from faithscope.inputs.checks import check_function, check_whole
from faithscope.inputs.documents import Tokenizer, to_documents, words_of
from faithscope.inputs.seeds import row_digests

_GROUP = 256  # documents searched at the same time
_MARKS = 2**22  # words kept or masked, in one block


@dataclass(eq=False, repr=False)
class TextAnchors(Search):
    """Explains a text by a set of its words: as long as they stay, the model nearly always keeps its prediction.

    A draw masks each other word with probability 1/2, all its occurrences together: it is replaced by `unknown`, which
    ``anchor-exp`` calls the UNK distribution. Sets are found by beam search with KL-LUCB (see `Search`). If no set
    reaches the threshold, the text gets the most precise set that was tried: `Highlights.claimed` shows which these
    are.

    Parameters
    ----------
    predict : model or function
        Anything with ``predict``, or a function from a list of texts to labels; to numbers with an `agreement`.
    X_train : sequence of str, optional
        Accepted as by other explainers, and left alone: a text is masked by itself.
    threshold : float
        The precision asked for: the share of draws that have the text's prediction.
    beam : int
        How many sets of each size are kept and extended.
    delta, tau : float
        The chance of error in the choice of the best sets, and the error in precision that does not matter.
    tokenizer : callable
        From a text to its words; masked texts are their words joined by blanks.
    unknown : str
        What replaces a masked word.
    seed : int
        The same text and seed draw the same masks, in any batch.
    max_words : int, optional
        The largest number of words; no limit by default.
    agreement : Tolerance, optional
        Of a regressor, whose predictions are numbers: a draw keeps the prediction if it lies within eps of the text's.

    Examples
    --------
    >>> likes = TextAnchors(lambda texts: ["great" in text for text in texts])
    >>> likes.explain(["a great film", "a dull plot"]).describe(0)
    'great'
    """

    X_train: Any = None
    _: KW_ONLY
    tokenizer: Tokenizer = str.split
    unknown: str = "UNK"
    max_words: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self.X_train = None
        check_function(self.tokenizer, "tokenizer", "text")
        if not isinstance(self.unknown, str):
            raise WrongType(f"unknown must be a text; got {self.unknown!r}.")
        if self.max_words is not None:
            check_whole(self.max_words, "max_words")

    def explain(self, X: Any, *, progress: Progress | None = None) -> Highlights:
        """A set of words per text; empty if the text has no words, or if no mask changes its prediction.

        Parameters
        ----------
        X : sequence of str
        progress : bool or callable, optional
            True shows how far it is; a function is called with the texts done, and all texts, after each block of them.
        """
        documents = to_documents(X)
        words = {text: words_of(self.tokenizer, text) for text in documents}
        ordered = sorted(words, key=lambda text: len(words[text]))
        anchors: dict[str, tuple[list[str], float]] = {}
        times, done = Counter(documents), 0
        for block in blocks(len(ordered), _GROUP):
            texts = [text for text in ordered[block] if words[text]]
            if texts:
                masked = _MaskedTexts(self, texts, [words[text] for text in texts])
                kept, precision = self.run(masked, np.arange(len(texts)), self.threshold, self.max_words)
                chosen = [[own[j] for j in np.flatnonzero(held)] for own, held in zip(masked.words, kept, strict=True)]
                anchors.update(zip(texts, zip(chosen, precision.tolist(), strict=True), strict=True))
            done += sum(times[text] for text in ordered[block])
            if progress is not None:
                progress(done, len(documents))
        found = [anchors.get(text, ([], 1.0)) for text in documents]
        claimed = claims({"precision": [precision for _, precision in found]})
        return Highlights([anchor for anchor, _ in found], tokenizer=self.tokenizer)._with(claimed=claimed)


class _MaskedTexts:
    """Texts with words masked, and the model's answers to them, each asked for once.

    Attributes
    ----------
    words : list of lists of str
        The distinct words of each text.
    written : list of pairs of arrays
        The words of each text in order, and the place of each among the distinct ones.
    count : (n,) array
        How many distinct words each text has; `width` is the largest number.
    """

    batch = 50

    def __init__(self, explainer: TextAnchors, texts: list[str], tokens: list[list[str]]) -> None:
        self.outcomes, self.unknown = explainer._outcomes, explainer.unknown
        self.labels = self.outcomes.ask(texts)
        self.seeds: Keys = np.frombuffer(b"".join(row_digests(explainer.seed, texts)), "<u8")
        self.words = [list(dict.fromkeys(words)) for words in tokens]
        self.written = [
            (np.array(words, object), np.array(list(map({word: j for j, word in enumerate(own)}.get, words)), np.int64))
            for words, own in zip(tokens, self.words, strict=True)
        ]
        self.count = np.array(list(map(len, self.words)))
        self.width, self.answers = int(self.count.max()), Answers()

    def extend(self, rows: Ints, anchors: Codes) -> tuple[Ints, Codes]:
        """Words that may be added: those of the text that are not in the set."""
        features = np.arange(self.width)
        return features, ((anchors == 0) & (features < self.count[rows, None, None])).astype(np.int32)

    def coverage(self, anchors: Codes, features: Ints, codes: Codes) -> Floats:
        """Zeros: sets of the same size are equally wide, since they stay whole in equally many draws."""
        return np.zeros(codes.shape)

    def agreeing(self, candidates: Candidates, line: Ints, which: Ints, batch: Ints) -> Ints:
        """How many draws of each batch have the text's prediction."""
        hits = np.empty(len(line), np.int64)
        for block in blocks(len(hits), _MARKS // (self.batch * self.width)):
            rows = candidates.rows[line[block]]
            draws = mix(self.seeds[rows, None] ^ mix(batch[block, None] * self.batch + np.arange(self.batch)))
            bits = mix(draws[:, :, None] + np.arange(-(-self.width // 64), dtype=np.uint64))
            kept = np.unpackbits(bits.astype("<u8").view(np.uint8), axis=2, count=self.width).astype(bool)
            kept |= (candidates.anchors(line[block], which[block]) != 0)[:, None]
            hits[block] = self._agree(rows, kept & (np.arange(self.width) < self.count[rows, None, None])).sum(axis=1)
        return hits

    def _agree(self, rows: Ints, kept: Bools) -> Floats:
        """Whether each draw, given by the words that it keeps, has the text's prediction: 1 or 0."""
        keys = kept.astype(np.uint64) @ mix(np.arange(1, self.width + 1)) + mix(self.seeds[rows, None])

        def ask(positions: Ints) -> Floats:
            """Of texts in which all words that are not kept are masked."""
            line, draw = np.divmod(positions, self.batch)
            texts = []
            for row, held in zip(rows[line].tolist(), kept[line, draw], strict=True):
                words, places = self.written[row]
                texts.append(" ".join(np.where(held[places], words, self.unknown)))
            return self.outcomes.agree(self.outcomes.ask(texts), self.labels[rows[line]]).astype(np.float64)

        return self.answers.of(keys | np.uint64(1), ask)
