"""LIME: the coefficients of a linear model that is fitted to the model's outputs around the row."""

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from faithscope.errors import BadInput
from faithscope.explainers.base import Explainer, Progress, blocks
from faithscope.explainers.classes import chosen_classes, of_classes
from faithscope.explainers.ranges import bins_of, edges_of
from faithscope.explainers.space import Categories, Dates, Scale, Space
from faithscope.explanations.importances import Importances
from faithscope.inputs.array_types import Array, Codes, Floats, Ints
from faithscope.inputs.checks import check_whole, check_word
from faithscope.inputs.chunks import WORKERS, in_threads
from faithscope.inputs.grouping import group
from faithscope.inputs.models import Model, is_torch_module, of_both_classes, to_outputs
from faithscope.inputs.seeds import canonical, generators
from faithscope.runtime.memory import in_memory, need
from faithscope.runtime.threads import one_blas_thread

Places = NDArray[np.uint16]

_ADVICE = "pass fewer samples or features"
_VALUES = 4_000_000  # drawn at once, 32 MB per array: more at once is no faster
_KERNEL = 0.75  # width of the kernel, times the square root of the number of features
_AT_A_TIME = 10_000_000  # bytes of terms that a thread multiplies: threads gain nothing from short calls of NumPy
_INSIDE = (1e-300, 1 - 2**-53)  # where the normal quantile is finite
_BITS, _FEWEST, _TABLES = 16, 12, 23  # bits of a place in a table, at most and at least, and of all tables
_ROUNDING = 1e-6  # by which a probability in single precision may leave [0, 1]
_SUM = 1e-3  # by which probabilities in half precision may miss 1 in sum


class Lime(Explainer):
    """Explains a row by a linear model fitted to the model's probabilities, or numbers, of rows drawn around it.

    The tabular algorithm of the ``lime`` package, with all features kept. A number is seen as its quarter of the
    training rows. So `samples` rows are drawn: quarters (or categories) as often as training rows have them, and a
    value inside each quarter from a normal distribution that is cut off at its borders. The probability is then
    regressed on "as in the row, or not", by ridge regression (penalty 1) with the weight ``exp(-k / (2 · 0.75² · d))``
    of a draw in which k of d features differ from the row. The coefficient of a feature says how much more probable
    the class is if the feature stays as it is. Two rows in the same quarters get nearly the same explanation, whatever
    the model predicts for them.

    What is drawn does not depend on the row: the row decides only which draws are like it. So one set of draws serves
    all rows, each row's explanation is distributed as that of ``lime``, and rows in the same quarters differ only by
    the row itself, which is one of the `samples` rows, with weight 1. In a call of `explain` the model is asked
    about ``samples - 1`` draws, and about the distinct rows. ``draws="own"`` draws for each row anew, as ``lime`` does,
    and asks the model about `samples` rows per row. Random errors of different rows are then independent.

    Missing values of a feature are a quarter of their own, or a category, drawn as often as training rows have them.
    Dates are numbers.

    Of a regressor the prediction takes the place of the probability, as in the regression mode of ``lime``: a
    coefficient says how much larger the prediction is if the feature stays as it is.

    Parameters
    ----------
    predict_proba : model or function
        Anything with ``predict_proba``, or a function from rows to probabilities: (n, classes), or (n,) of class 1. Or
        a regressor, or a function from rows to numbers: (n,).
    X_train : (n, d) array or table
        Training rows; the model is asked about rows of the same kind (array, pandas, polars or Arrow).
    class_index : int, "predicted" or None
        The class explained. None: class 1 of two; if there are more, every class, one vector after the other. A
        regression has no classes, so None.
    categorical : positions or names of columns
        Numbers that are codes of categories; columns that hold no numbers are categories in any case.
    samples : int
        Rows that each linear model is fitted to, the row itself included.
    seed : int
        The same seed, and with ``draws="own"`` the same row, draws the same rows, in any batch.
    mode : {None, "classification", "regression"}
        Whether outputs are probabilities or numbers. None: numbers if the model is a regressor, such as scikit-learn's,
        or a function whose single output is no probability and takes fractions.
    draws : {"shared", "own"}
        Whether all rows share their draws, or each row has its own, which takes many times longer.

    Notes
    -----
    Of shared draws, sums are taken in single precision, which changes a coefficient by less than 1e-5 of the range of
    the outputs; random error is about a thousand times larger.

    A feature is drawn from a table of 65,536 equally likely values (fewer beyond 128 features, at least 4,096), which
    is as good as drawing from the distribution itself and much faster.

    If all training values are equal, or all values of a quarter, that value is drawn. ``lime`` draws a value that is
    about 1e-11 smaller, and draws 0 instead of the least value of a column: an oversight there, which shows if that
    value is not 0.

    Examples
    --------
    >>> rows = np.random.default_rng(0).normal(size=(400, 2))
    >>> explanations = Lime(lambda X: X[:, 0] > 0, rows).explain([[1.5, 0.0]])
    >>> explanations.values.round(1) + 0.0
    array([[0.7, 0. ]])
    """

    def __init__(
        self,
        predict_proba: Any,
        X_train: Any,
        *,
        class_index: int | str | None = None,
        categorical: Iterable[int | str] = (),
        samples: int = 5000,
        seed: int = 0,
        mode: Literal["classification", "regression"] | None = None,
        draws: Literal["shared", "own"] = "shared",
    ) -> None:
        check_word(mode, "mode", ("classification", "regression"), optional=True)
        check_word(draws, "draws", ("shared", "own"))
        self.model = self.predict_proba = predict_proba
        self.class_index, self.seed, self.mode = class_index, seed, mode
        model, owner = Model(predict_proba), Model(getattr(predict_proba, "__self__", predict_proba))
        known = hasattr(predict_proba, "predict_proba")
        if mode is None and (known or owner.kind == "classifier" or model.kind == "regressor"):
            mode = "regression" if model.kind == "regressor" else "classification"
        self._mode = mode  # None: the answer tells which
        self._logits = is_torch_module(predict_proba) and not known  # unless its outputs sum to 1
        self._ask = model.function("numbers" if mode == "regression" else "probabilities")
        self._is_probability(np.empty((0, 1)))
        self.X_train, self.categorical, self.draws = X_train, categorical, draws
        self.samples = check_whole(samples, "samples", least=2)
        self.table = Space.learn(X_train, categorical)
        rows = self.table.encode(X_train)
        # The more features, the fewer places each table has.
        places = 2 ** int(np.clip(_TABLES - np.ceil(np.log2(rows.shape[1])), _FEWEST, _BITS))
        self._features = [_learn(*feature, places) for feature in zip(rows.T, self.table.scales, strict=True)]
        self._known = rows[:1]

    def explain(self, X: Any, *, progress: Progress | None = None) -> Importances:
        """One coefficient per feature and row; if several classes are explained, one vector after the other.

        Parameters
        ----------
        X : (n, d) array or table
            Values may be missing. A row may have a category that no training row has: the model is asked about the row
            as it is, and every draw differs from it in that feature.
        progress : bool or callable, optional
            True shows how far it is; a function is called with the rows done, and all rows, after every block of them.
        """
        rows, table = self.table.read(X)
        # Of no rows, a known row shows how many classes there are.
        values = self._vectors(rows, table, progress) if len(rows) else self._vectors(self._known, table, None)[:0]
        return of_classes(values, self.table.names, self, self.table.axes)

    @in_memory(_ADVICE)
    def _vectors(self, rows: Floats, table: Space, progress: Progress | None) -> Floats:
        """One vector per row and class explained: (n, classes, d)."""
        d = len(self._features)
        # Bytes of the places, values, bins and terms of all draws, and of the moments of all pairs of features.
        need(d * (27 * self.samples + 40 * d), f"{self.samples:,} draws around a row of {d:,} features", _ADVICE)
        if self.draws == "shared":
            (generator,) = generators(self.seed, np.empty((1, 0)))
            return self._around(rows, table, self._places(generator, self.samples - 1), progress)
        # A generator per row, whose seed is a hash of the seed and of the row; the row itself is the first draw.
        drawn = zip(blocks(len(rows), 1, progress), generators(self.seed, table.alike(rows)), strict=True)
        return np.concatenate(
            [
                self._around(rows[row], table, self._places(generator, self.samples)[:, 1:], precision=np.float64)
                for row, generator in drawn
            ]
        )

    def _around(
        self,
        rows: Floats,
        table: Space,
        drawn: Places,
        progress: Progress | None = None,
        precision: type[np.floating[Any]] = np.float32,
    ) -> Floats:
        """The vectors of rows by these draws, and each row as one more."""
        which, first = group([canonical(rows).view(np.int64)])
        columns = [
            np.concatenate([scale.decode(column), feature.values[places]])
            for scale, column, feature, places in zip(table.scales, rows[first].T, self._features, drawn, strict=True)
        ]
        count = len(first) + drawn.shape[1]
        outputs = np.concatenate(
            [
                to_outputs(self._ask(self.table.rebuild([column[part] for column in columns])))
                for part in blocks(count, _VALUES // len(columns))
            ]
        )
        if len(outputs) != count:
            raise BadInput(f"The model gave {len(outputs):,} outputs for {count:,} rows: it must give one per row.")
        outputs = of_both_classes(outputs) if self._is_probability(outputs) else outputs
        own, outputs = outputs[: len(first)], outputs[len(first) :]
        own, features = own[which], self._features
        bins = np.stack([feature.bins[places] for feature, places in zip(features, drawn, strict=True)])
        # Categories that no training row has come after all others.
        seen = [bins_of(column, feature.borders) for column, feature in zip(rows.T, features, strict=True)]
        values = _coefficients(bins, outputs, np.column_stack(seen), own, progress, precision)
        chosen = chosen_classes(self.class_index, own.shape[1])
        return values[np.arange(len(own)), own.argmax(axis=1)][:, None] if chosen is None else values[:, chosen]

    def _places(self, generator: np.random.Generator, samples: int) -> Places:
        """Random places in the tables of all features, all equally likely: (d, samples)."""
        count, places = len(self._features) * samples, len(self._features[0].values)
        raw = np.asarray(generator.bit_generator.random_raw(-(-count // 4)), "<u8").view("<u2")[:count]
        return np.asarray(raw >> (_BITS - places.bit_length() + 1), np.uint16).reshape(-1, samples)

    def _is_probability(self, outputs: Floats) -> bool:
        """Whether outputs are probabilities; a single one is none, and no label either, if it takes fractions."""
        outside = (outputs < -_ROUNDING) | (outputs > 1 + _ROUNDING)
        free = self._mode is None and outputs.shape[1] == 1 and outside.any() and (outputs != np.floor(outputs)).any()
        number = self._mode == "regression" or bool(free)
        if number and (self.class_index is not None or outputs.shape[1] > 1):
            raise BadInput(
                f"A regression has one output and no classes: class_index must be None, got {self.class_index!r}, and "
                f"the function must give one number per row, got {outputs.shape[1]}."
            )
        off = self._logits and outputs.shape[1] > 1 and (np.abs(outputs.sum(axis=1) - 1) > _SUM).any()
        if not number and (off or outside.any()):
            raise BadInput(
                f"The model gave {outputs.max():g}, or rows that do not sum to 1: no probabilities but labels, scores "
                "or logits. Pass predict_proba, a module that ends in a softmax, or a function from rows to "
                'probabilities; numbers of a regression are explained with mode="regression".'
            )
        return not number


class _Feature(NamedTuple):
    """A feature of the rows that are drawn: a table of equally likely values, and the bin of each.

    Attributes
    ----------
    values : (places,) array
        The values as the model sees them.
    bins : (places,) array
        In few bytes, since they are looked up for every draw.
    borders : (quarters - 1,) array, optional
        Upper ends of all quarters but the last; None for categories, which are their own bins.
    """

    values: Array
    bins: Codes
    borders: Floats | None


def _learn(column: Floats, scale: Scale, places: int) -> _Feature:
    """What to draw a feature from: each bin, missing ones too, has its share of the places, side by side.

    Quartiles that coincide are one border. If values must be whole, they are rounded up and borders down, so that a
    value stays in its quarter.
    """
    present = column[~np.isnan(column)]
    whole = isinstance(scale, Dates)
    borders = None if isinstance(scale, Categories) else edges_of(column, whole=whole)
    own = bins_of(column, borders)
    shares = np.bincount(own).cumsum() / len(own)
    many = np.diff(np.rint(np.append(0.0, shares) * places).astype(np.int64))
    bins = np.repeat(np.arange(len(many)).astype(np.min_scalar_type(len(many))), many)
    values = bins.astype(np.float64)
    if borders is not None and len(present):
        cuts = [present.min(), *borders, present.max()]
        quarters = [_of_quarter(column[own == k], cuts[k : k + 2], many[k]) for k in np.flatnonzero(many)]
        values = np.clip(np.concatenate(quarters), cuts[0], cuts[-1])
        values = np.ceil(values) if whole else values
    elif borders is not None:
        values = np.full(places, np.nan)
    return _Feature(scale.decode(values), bins, borders)


def _of_quarter(own: Floats, ends: list[float], many: int) -> Floats:
    """So many values of a normal distribution with the mean and deviation of a quarter, cut off at its ends."""
    mean, deviation = own.mean(), own.std()
    if not deviation > 0 or own.min() == own.max():  # or all are missing
        return np.repeat(own[:1], many)
    low, high = ndtr((np.array(ends) - mean) / deviation)
    chances = low + (high - low) * ((np.arange(many) + 0.5) / many)
    return np.asarray(mean + deviation * ndtri(np.clip(chances, *_INSIDE)))


def _coefficients(
    bins: Codes,
    outputs: Floats,
    seen: Ints,
    own: Floats,
    progress: Progress | None,
    precision: type[np.floating[Any]],
) -> Floats:
    """Coefficients of linear models of the outputs around rows, all fitted to the same draws: (n, classes, d).

    Ridge regressions with an intercept on "as in the row, or not", in which draws have weights by a kernel of width
    0.75 √d, and the row itself weight 1. Coefficients are ``base + slope · output``, linear in the output of the row
    itself: rows in the same bins share base and slope. A feature in which no draw differs from the row gets exactly 0.

    Parameters
    ----------
    bins : (d, draws) array
    outputs : (draws, classes) array
    seen : (n, d) array
        The bins of rows.
    own : (n, classes) array
        The outputs of rows.
    """
    (d, draws), (n, classes) = bins.shape, own.shape
    need(32 * n * classes * d, f"Coefficients of {n:,} rows and {classes:,} classes", "explain fewer rows at once")
    # Clipped, so that a constant output is exactly its center, and gets exactly 0.
    center = np.clip(outputs.mean(axis=0), outputs.min(axis=0), outputs.max(axis=0))
    reach = np.abs(outputs - center).max(axis=0)
    scale = np.where(reach > 0, reach, 1.0)
    scaled, own = ((outputs - center) / scale).T, (own - center) / scale
    which, first = group([seen])
    strange = int(bins.max()) + 1  # a bin in which no draw lies
    seen = np.minimum(seen[first], strange)
    held = np.array([np.bincount(column, minlength=strange + 1) for column in bins])
    # A bin that holds less than half of the draws is seen as "in the bin", any other as "in another bin": most draws
    # count 0, so that single precision loses nothing when the mean is subtracted.
    rare = 2 * held[np.arange(d), seen] < draws
    seen = seen.astype(np.result_type(bins, np.min_scalar_type(strange)))
    weights = np.exp(np.arange(d + 1) / (-4 * _KERNEL**2 * d)).astype(precision)  # roots, by features that differ

    def fitted(block: slice) -> Floats:
        """Bases and last slopes, (n, classes + 1, d)."""
        other = bins != seen[block, :, None]
        terms = np.empty((len(other), d + 1 + classes, draws), precision)
        np.not_equal(other, rare[block, :, None], out=terms[:, :d])
        terms[:, d], terms[:, d + 1 :] = 1.0, scaled
        differing = other.sum(axis=1, dtype=np.min_scalar_type(d))
        terms *= np.take(weights, differing, mode="clip")[:, None]
        # One product per regression, in any block. The intercept, which is not shrunk, is the last coefficient.
        moments = np.asarray(terms @ terms.transpose(0, 2, 1), np.float64)[:, : d + 1]
        row = np.concatenate([rare[block], np.ones((len(rare[block]), 1))], axis=1)[:, :, None]  # with weight 1
        pairs = moments[:, :, : d + 1] + row * row.transpose(0, 2, 1) + np.diag(np.arange(d + 1) < d)
        solved = np.linalg.solve(pairs, np.concatenate([moments[:, :, d + 1 :], row], axis=2))[:, :d]
        return solved.transpose(0, 2, 1) * np.where(rare[block], 1.0, -1.0)[:, None]

    most = _AT_A_TIME // (weights.itemsize * draws * (d + classes))
    steps = list(blocks(len(seen), min(most, -(-len(seen) // (2 * WORKERS)))))
    lines, rows, done = np.empty((len(seen), classes + 1, d)), np.bincount(which).cumsum(), 0
    with one_blas_thread():
        for part in map(fitted, steps) if len(steps) == 1 else in_threads(fitted, steps):
            lines[done : done + len(part)] = part
            done += len(part)
            if progress is not None:
                progress(int(rows[done - 1]), n)
    return np.asarray((lines[which, :-1] + own[:, :, None] * lines[which, -1:]) * scale[:, None] + 0.0)
