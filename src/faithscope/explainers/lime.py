"""LIME: the coefficients of a linear model that is fitted to the model's outputs around the row."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from faithscope.errors import BadInput, WrongType
from faithscope.explainers.base import Explainer, Progress, blocks
from faithscope.explainers.shared.classes import (
    chosen_classes,
    importances_of,
    label_of,
    names_per_class,
    own_classes,
    warn_if_predicted,
)
from faithscope.explainers.shared.quarters import quarter_of, quartiles
from faithscope.explainers.space import Categories, Space, to_categorical
from faithscope.explanations.importances import Importances
from faithscope.inputs.array_types import Array, Bools, Codes, Floats, Ints
from faithscope.inputs.checks import check_flag, check_whole, check_word
from faithscope.inputs.chunks import WORKERS, in_threads
from faithscope.inputs.columns import Rows
from faithscope.inputs.grouping import group
from faithscope.inputs.models import Model, is_torch_module, of_both_classes, probability_function, to_outputs
from faithscope.inputs.rows import take_rows
from faithscope.inputs.seeds import canonical, generators
from faithscope.runtime.blas import one_blas_thread
from faithscope.runtime.memory import in_memory, need

Mode = Literal["classification", "regression"]
Places = NDArray[np.uint16]

_SHOWN = 100  # training rows that show whether a torch module gives logits
_ADVICE = "pass fewer samples or features"
_VALUES = 4_000_000  # drawn at once, 32 MB per array: more at once is no faster
_KERNEL = 0.75  # width of the kernel, times the square root of the number of features
_BYTES = 16_000_000  # of contrasts at once
_AT_A_TIME = 10_000_000  # bytes of terms that a thread multiplies: threads gain nothing from short calls of NumPy
_INSIDE = (1e-300, 1 - 2**-53)  # where the normal quantile is finite
_BITS, _FEWEST, _TABLES = 16, 12, 23  # bits of a place in a table, at most and at least, and of all tables
_ROUNDING = 1e-6  # by which a probability in single precision may leave [0, 1]
_SUM = 1e-3  # by which probabilities in half precision may miss 1 in sum
_LOGITS = "the module's outputs were taken for logits, and their softmax (of one logit the sigmoid) was explained"


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

    With ``discretize=False`` a number is seen as it is. It is drawn from a normal distribution with the mean and
    deviation of the training rows, wherever the row lies. The regression is then on the number of deviations, and k is
    the squared distance in deviations. A coefficient says how much more probable the class is for one deviation more.
    A missing number counts as the mean.

    Of a regressor the prediction takes the place of the probability, as in the regression mode of ``lime``: a
    coefficient says how much larger the prediction is if the feature stays as it is.

    Parameters
    ----------
    predict_proba : model or function
        Anything with ``predict_proba``, or a function from rows to probabilities: (n, classes), or (n,) of class 1. Or
        a regressor, or a function from rows to numbers: (n,). Outputs of a torch module that do not sum to 1 are taken
        for logits, of which the softmax is explained.
    X_train : (n, d) array or table
        Training rows; the model is asked about rows of the same kind (array, pandas, polars or Arrow).
    class_index : int, "predicted" or None
        The class explained. None: class 1 of two; if there are more, every class, one vector after the other. A
        regression has no classes, so None.
    categorical : positions or names of columns
        Numbers that are codes of categories; columns that hold no numbers are categories in any case.
    samples : int
        Rows that each linear model is fitted to, the row itself included.
    discretize : bool
        Whether numbers are seen as quarters, which is the default of ``lime``, or as they are.
    seed : int
        The same seed, and with ``draws="own"`` the same row, draws the same rows, in any batch.
    mode : {None, "classification", "regression"}
        Whether outputs are probabilities or numbers. None: numbers if the model is a regressor, such as scikit-learn's,
        or a function whose single output is no probability and takes fractions.
    draws : {"shared", "own"}
        Whether all rows share their draws, or each row has its own, which takes many times longer.

    Notes
    -----
    Of shared draws that are seen as quarters and categories, sums are taken in single precision, which changes a
    coefficient by less than 1e-5 of the range of the outputs; random error is about a thousand times larger.

    A feature is drawn from a table of 65,536 equally likely values (fewer beyond 128 features, at least 4,096), which
    is as good as drawing from the distribution itself and much faster.

    If all training values are equal, or all values of a quarter, that value is drawn. ``lime`` draws a value that is
    about 1e-11 smaller, and draws 0 instead of the least value of a column: an oversight there, which shows if that
    value is not 0. Without discretizing, ``lime`` draws a constant column with deviation 1.

    Examples
    --------
    >>> rows = np.random.default_rng(0).normal(size=(400, 2))
    >>> explanations = Lime(lambda X: X[:, 0] > 0, rows).explain([[1.5, 0.0]])
    >>> explanations.values.round(1) + 0.0
    array([[0.7, 0. ]])
    """

    _kept_as = MappingProxyType({"predict_proba": "model"})

    def __init__(
        self,
        predict_proba: Any,
        X_train: Any,
        *,
        class_index: int | str | None = None,
        categorical: Iterable[int | str] = (),
        samples: int = 5000,
        discretize: bool = True,
        seed: int = 0,
        mode: Mode | None = None,
        draws: Literal["shared", "own"] = "shared",
    ) -> None:
        check_word(mode, "mode", ("classification", "regression"), optional=True)
        check_word(draws, "draws", ("shared", "own"))
        self.model, self.class_index, self.seed, self.mode = predict_proba, class_index, seed, mode
        self._asked = _Asked(predict_proba, mode, class_index)
        self.X_train, self.categorical, self.draws = X_train, categorical, draws
        self.samples, self.discretize = check_whole(samples, "samples", least=2), check_flag(discretize, "discretize")
        self.table = Space.learn(X_train, categorical if discretize else _with_truth_values(X_train, categorical))
        rows = self.table.encode(X_train)
        self._features, self._known = _learn_features(self.table, rows, discretize), rows[:1]
        if is_torch_module(predict_proba) and not hasattr(predict_proba, "predict_proba"):
            self._asked.look_for_logits(take_rows(X_train, np.arange(min(len(rows), _SHOWN))))

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
        warn_if_predicted(self.class_index)
        rows, table = self.table.read(X)
        around = self._by_shared_draws if self.draws == "shared" else self._by_own_draws
        if len(rows):
            return self._importances(around(rows, table, progress))
        # Of no rows, a known row shows how many classes there are.
        return self._importances(around(self._known, table, None)[:0])

    def _importances(self, coefficients: Floats) -> Importances:
        rows, classes, features = coefficients.shape
        names = names_per_class(self.table.names, range(classes))
        importances = importances_of(coefficients.reshape(rows, classes * features), names, self.table.axes)
        remarks = (*own_classes(self.class_index, classes, "Lime"), *((_LOGITS,) if self._asked.logits else ()))
        return importances._with(remarks=remarks, label=label_of(self.model, self.class_index))

    @in_memory(_ADVICE)
    def _by_shared_draws(self, rows: Floats, table: Space, progress: Progress | None) -> Floats:
        """One vector per row and class explained, (n, classes, d): `samples` - 1 draws, and each row as one more."""
        self._need_memory(1)
        (generator,) = generators(self.seed, np.empty((1, 0)))
        drawn = self._places(generator, self.samples - 1)
        which, first = group([canonical(rows).view(np.int64)])
        own, outputs = self._outputs(rows[first], table, drawn)
        seen, told = self._seen(rows), np.stack([feature.told[drawn[j]] for j, feature in enumerate(self._features)])
        values = _Regressions(told.astype(np.float64), self._binned, _Scaled.of(outputs)).coefficients(
            seen, own[which], progress
        )
        return self._choose(values, own[which])

    def _by_own_draws(self, rows: Floats, table: Space, progress: Progress | None) -> Floats:
        """The same, by a generator per row, whose seed is a hash of the seed and of the row."""
        step = _VALUES // (self.samples * rows.shape[1])
        return np.concatenate([self._of_block(rows[block], table) for block in blocks(len(rows), step, progress)])

    @in_memory(_ADVICE)
    def _of_block(self, rows: Floats, table: Space) -> Floats:
        n, d = rows.shape
        self._need_memory(n)
        drawn = np.empty((d, n, self.samples - 1), np.uint16)
        for row, generator in enumerate(generators(self.seed, table.alike(rows))):
            drawn[:, row] = self._places(generator, self.samples)[:, 1:]  # the row itself is the first
        own, outputs = self._outputs(rows, table, drawn.reshape(d, n * (self.samples - 1)))
        seen, scaled = self._seen(rows), _Scaled.of(outputs.reshape(n, self.samples - 1, -1))
        terms, squares = scaled.terms(n, d, np.float64), np.zeros((n, self.samples - 1))
        for j, feature in enumerate(self._features):
            told = feature.told[drawn[j]]
            terms[:, j] = told != seen[:, [j]] if feature.binned else told - seen[:, [j]]
            squares += terms[:, j] ** 2
        with one_blas_thread():
            lines = _lines(terms, squares, np.zeros((n, d)), np.where(self._binned, -1.0, 1.0))
        return self._choose(scaled.coefficients(lines, own), own)

    @property
    def _binned(self) -> Bools:
        return np.array([feature.binned for feature in self._features])

    def _seen(self, rows: Floats) -> Floats:
        """What regressions see of rows: (n, d)."""
        return np.column_stack([feature.seen(rows[:, j]) for j, feature in enumerate(self._features)])

    def _choose(self, values: Floats, own: Floats) -> Floats:
        """The vectors of the classes explained, from those of all, (n, classes, d), and the rows' own outputs."""
        chosen = chosen_classes(self.class_index, own.shape[1])
        if chosen is not None:
            return values[:, chosen]
        return np.asarray(values[np.arange(len(own)), own.argmax(axis=1)][:, None])

    def _places(self, generator: np.random.Generator, samples: int) -> Places:
        """Random places in the tables of all features, all equally likely: (d, samples)."""
        count, places = len(self._features) * samples, len(self._features[0].values)
        raw = np.asarray(generator.bit_generator.random_raw(-(-count // 4)), "<u8").view("<u2")[:count]
        return np.asarray(raw >> (_BITS - places.bit_length() + 1), np.uint16).reshape(-1, samples)

    def _outputs(self, rows: Floats, table: Space, drawn: Places) -> tuple[Floats, Floats]:
        """Probabilities of every class, or numbers, of rows and of draws: (n, classes) and (draws, classes)."""
        columns = [
            np.concatenate([table.scales[j].decode(rows[:, j]), feature.values[drawn[j]]])
            for j, feature in enumerate(self._features)
        ]
        count = len(rows) + drawn.shape[1]
        parts = (
            self.table.rebuild([column[part] for column in columns]) for part in blocks(count, _VALUES // len(columns))
        )
        outputs = self._asked.outputs(parts, count)
        return outputs[: len(rows)], outputs[len(rows) :]

    def _need_memory(self, rows: int) -> None:
        d = len(self._features)
        # Bytes of the places, values, gaps and terms of all draws, and of the moments of all pairs of features.
        size = rows * d * (27 * self.samples + 40 * d)
        need(size, f"{self.samples:,} draws around a row of {d:,} features", _ADVICE)


class _Asked:
    """A model that is asked for probabilities or for numbers; raises if a regression is asked for a class.

    Attributes
    ----------
    mode : {"classification", "regression"} or None
        None: the answer tells which.
    logits : bool
        Whether answers are logits, which are explained as the probabilities that they stand for.
    """

    def __init__(self, model: Any, mode: Mode | None, class_index: int | str | None) -> None:
        owner = Model(getattr(model, "__self__", model))
        if mode is None and Model(model).kind == "regressor":
            mode = "regression"
        if mode is None and (hasattr(model, "predict_proba") or owner.kind == "classifier"):
            mode = "classification"
        self.mode, self.class_index, self.logits = mode, class_index, False
        try:
            self.ask: Callable[[Any], Any] = (
                Model(model).function(numbers=True) if mode == "regression" else probability_function(model)
            )
        except WrongType as error:
            if mode == "regression":
                raise
            raise WrongType(f'{error} If its predict gives numbers, pass mode="regression".') from None
        if mode == "regression":
            self._refuse_class()

    def look_for_logits(self, rows: Any) -> None:
        """See whether a torch module answers these rows with logits, as it does unless its classes sum to 1."""
        outputs = to_outputs(self.ask(rows))
        if outputs.shape[1] == 1:
            of_classes = self.mode == "classification" or (self.mode is None and self.class_index is not None)
            self.logits = of_classes and _outside(outputs).size > 0
        else:
            uneven = bool((np.abs(outputs.sum(axis=1) - 1) > _SUM).any())
            self.logits = self.mode != "regression" and (uneven or _outside(outputs).size > 0)

    def outputs(self, parts: Iterable[Any], count: int) -> Floats:
        """The outputs for so many rows, in parts: (n, classes) probabilities, or (n, 1) numbers."""
        outputs = np.concatenate([to_outputs(self.ask(rows)) for rows in parts])
        if self.logits:
            both = np.column_stack([np.zeros(len(outputs)), outputs]) if outputs.shape[1] == 1 else outputs
            powers = np.exp(both - both.max(axis=1, keepdims=True))
            outputs = np.asarray(powers / powers.sum(axis=1, keepdims=True))
        if len(outputs) != count:
            raise BadInput(f"The model gave {len(outputs):,} outputs for {count:,} rows: it must give one per row.")
        outside = _outside(outputs)
        # A single output is no probability, and no label either, if it takes fractions.
        free = self.mode is None and outputs.shape[1] == 1 and outside.size and (outputs != np.floor(outputs)).any()
        if self.mode == "regression" or free:
            self._refuse_class()
            if outputs.shape[1] != 1:
                raise BadInput(
                    f"The regression mode explains one number per row, and the model gave {outputs.shape[1]}: pass a "
                    "function that gives one of them."
                )
            return outputs
        if outside.size:
            raise BadInput(
                f"The model gave {outside.max():g}, which is no probability from 0 to 1: it seems to give labels or "
                "scores. Pass predict_proba, or a function from rows to probabilities; numbers of a regression are "
                'explained with mode="regression".'
            )
        return of_both_classes(outputs)

    def _refuse_class(self) -> None:
        if self.class_index is not None:
            raise BadInput(
                f"A regression has one output and no classes: class_index must be None; got {self.class_index!r}."
            )


def _outside(outputs: Floats) -> Floats:
    """Outputs that are no probabilities."""
    return outputs[(outputs < -_ROUNDING) | (outputs > 1 + _ROUNDING)]


# What each feature is drawn from.


@dataclass(frozen=True, eq=False)
class _Feature:
    """A feature of the rows that are drawn: a table of equally likely values, and what regressions see of them.

    Attributes
    ----------
    values : (places,) array
        The values as the model sees them.
    told : (places,) array
        What regressions see of them: bins, or numbers of deviations from the mean.
    borders : (quarters - 1,) array, optional
        Upper ends of all quarters but the last; None for categories, whose places are their bins, and for numbers.
    mean, deviation : float
        Of the training values, if numbers are seen as they are; a missing one counts as the mean.
    """

    values: Array
    told: Array
    borders: Floats | None = None
    mean: float = 0.0
    deviation: float = 0.0

    @property
    def binned(self) -> bool:
        """Whether regressions see only in which bin a value lies."""
        return self.deviation == 0

    def seen(self, column: Floats) -> Floats:
        """What regressions see of rows' values."""
        if not self.binned:
            return (np.where(np.isnan(column), self.mean, column) - self.mean) / self.deviation
        return (column.astype(np.intp) if self.borders is None else quarter_of(column, self.borders)).astype(np.float64)


def _learn_features(table: Space, rows: Floats, discretize: bool) -> list[_Feature]:
    """What to draw each feature from; the more features, the fewer places each table has."""
    places = 2 ** int(np.clip(_TABLES - np.ceil(np.log2(rows.shape[1])), _FEWEST, _BITS))
    features = []
    for j, column in enumerate(rows.T):
        scale = table.scales[j]
        if isinstance(scale, Categories):
            starts = _starts(column.astype(np.intp), len(scale.known) + 2, places)
            palette = scale.palette(int(column.max()))
            features.append(_Feature(np.repeat(palette, np.diff(starts)[: len(palette)]), _bins(starts)))
            continue
        learn = _quarters if discretize else _normal
        values, how = learn(column, places, bool(table.whole[j]))
        features.append(_Feature(scale.decode(values), **how))
    return features


def _quarters(column: Floats, places: int, whole: bool) -> tuple[Floats, dict[str, Any]]:
    """Values of numbers seen as quarters, cut at the quartiles; quartiles that coincide are one border.

    The values of a quarter are those of a normal distribution with its mean and deviation, cut off at its borders. If
    they must be `whole`, values are rounded up and borders down, so that a value stays in its quarter.
    """
    present = column[~np.isnan(column)]
    borders = quartiles(present, whole=whole)
    bins = quarter_of(present, borders)
    starts = _starts(quarter_of(column, borders), len(borders) + 2, places)
    cuts = np.array([present.min(), *borders, present.max()]) if len(present) else np.zeros(2)
    drawn = []
    for k, many in enumerate(np.diff(starts)[:-1]):
        own = present[bins == k]
        mean, deviation = (own.mean(), own.std()) if many else (0.0, 0.0)
        if deviation == 0 or own.min() == own.max():
            drawn.append(np.repeat(own[:1], many))
            continue
        low, high = ndtr((cuts[k : k + 2] - mean) / deviation)
        chances = low + (high - low) * _middles(many)
        drawn.append(mean + deviation * ndtri(np.clip(chances, *_INSIDE)))
    values = np.clip(np.concatenate(drawn), cuts[0], cuts[-1])
    values = np.append(np.ceil(values) if whole else values, np.full(starts[-1] - starts[-2], np.nan))
    return values, {"told": _bins(starts), "borders": borders}


def _normal(column: Floats, places: int, whole: bool) -> tuple[Floats, dict[str, Any]]:
    """Values of numbers seen as they are: normal, with the mean and deviation of training values.

    Missing is drawn as often as training rows have it. If all values are equal, that value is drawn.
    """
    present = column[~np.isnan(column)]
    many = round(places * len(present) / len(column))
    spread = float(present.std()) if len(present) and present.min() < present.max() else 0.0
    mean = float(present.mean()) if spread else float(present[0]) if len(present) else 0.0
    values = np.append(mean + spread * ndtri(_middles(many)), np.full(places - many, np.nan))
    told = (np.where(np.isnan(values), mean, values) - mean) / (spread or 1.0)
    return values, {"told": told, "mean": mean, "deviation": spread or 1.0}


def _starts(bins: Codes, count: int, places: int) -> Ints:
    """Where the places of each bin begin, if each gets its share of them; the values of a bin stand side by side."""
    upto = np.bincount(bins, minlength=count).cumsum() / len(bins)
    return np.asarray(np.rint(np.append(0.0, upto) * places), np.int64)


def _bins(starts: Ints) -> Codes:
    """The bin of each place, in few bytes, which are looked up for every draw."""
    return np.repeat(np.arange(len(starts) - 1).astype(np.min_scalar_type(len(starts))), np.diff(starts))


def _middles(count: int) -> Floats:
    return (np.arange(count) + 0.5) / count


def _with_truth_values(X: Any, categorical: Iterable[int | str]) -> list[int | str]:
    """The categorical columns, and all columns of True and False."""
    named = to_categorical(categorical)
    for j, column in enumerate(Rows(X).columns):
        kinds = set(map(type, column.values[~column.missing])) if column.values.dtype == object else {object}
        named += [j] if column.values.dtype == bool or (kinds and kinds <= {bool, np.bool_}) else []
    return named


# Regressions.


class _Scaled(NamedTuple):
    """Outputs of draws, as regressions see them; a leading axis of rows, if each has its own draws.

    Attributes
    ----------
    centers, scales : (…, classes) arrays
        Middle and reach of the outputs.
    outputs : (…, classes, draws) array
        Less the center, in scales: from -1 to 1.
    """

    centers: Floats
    scales: Floats
    outputs: Floats

    @classmethod
    def of(cls, outputs: Floats) -> "_Scaled":
        """Of outputs (…, draws, classes)."""
        # Clipped, so that a constant output is exactly its center, and gets exactly 0.
        centers = np.clip(outputs.mean(axis=-2), outputs.min(axis=-2), outputs.max(axis=-2))
        apart = outputs - centers[..., None, :]
        reach = np.abs(apart).max(axis=-2)
        scales = np.where(reach > 0, reach, 1.0)
        return cls(centers, scales, np.ascontiguousarray((apart / scales[..., None, :]).swapaxes(-1, -2)))

    def terms(self, rows: int, features: int, kind: Any) -> Array:
        """What `_lines` takes, (rows, features + 1 + classes, draws), with features to be filled in."""
        classes, draws = self.outputs.shape[-2:]
        terms: Array = np.empty((rows, features + 1 + classes, draws), kind)
        terms[:, features], terms[:, features + 1 :] = 1.0, self.outputs
        return terms

    def coefficients(self, lines: Floats, own: Floats) -> Floats:
        """Vectors (n, classes, d) from bases and slopes, (n, classes + 1, d), and the outputs of rows, (n, classes)."""
        own = (own - self.centers) / self.scales
        return (lines[:, :-1] + own[:, :, None] * lines[:, -1:]) * self.scales[..., None] + 0.0


def _lines(terms: Array, squares: Array, own: Floats, signs: Floats) -> Floats:
    """Linear models around rows: coefficients are ``base + slope · output``, linear in the output of the row itself.

    Ridge regressions with an intercept, in which draws have weights by a kernel of width 0.75 √d, and the row itself
    weight 1. A feature in which no draw differs from the row gets exactly 0.

    Parameters
    ----------
    terms : (n, d + 1 + classes, draws) array
        What the regressions see of the draws in each feature, 1, and the outputs; multiplied by weights in place.
    squares : (n, draws) array
        Squared distances of the draws; whole numbers count the features that differ.
    own : (n, d) array
        What the regressions see of the rows.
    signs : (n, d) or (d,) array
        -1 where the regressions see the opposite of "as in the row".

    Returns
    -------
    (n, classes + 1, d) array
        The bases, and last the slopes.
    """
    d = own.shape[1]
    scale = -4 * _KERNEL**2 * d  # of half the exponent of a weight, which is that of its root
    if squares.dtype.kind == "f":
        terms *= np.exp(squares / scale)[:, None]
    else:
        terms *= np.take(np.exp(np.arange(d + 1) / scale).astype(terms.dtype), squares, mode="clip")[:, None]
    moments = np.asarray(terms @ terms.transpose(0, 2, 1), np.float64)  # one product per regression, in any block
    own = own[:, :, None]
    total = moments[:, d:, [d]].copy()
    total[:, 0] += 1
    sums = moments[:, :d, [d]] + own
    of_pairs = moments[:, :d, :d] + own * own.transpose(0, 2, 1) - sums * sums.transpose(0, 2, 1) / total[:, :1]
    of_outputs = moments[:, :d, d + 1 :] - sums * total[:, 1:].transpose(0, 2, 1) / total[:, :1]
    slope = own - sums / total[:, :1]
    solved = np.linalg.solve(of_pairs + np.eye(d), np.concatenate([of_outputs, slope], axis=2))
    return solved.transpose(0, 2, 1) * signs[..., None, :]


@dataclass(frozen=True, eq=False)
class _Regressions:
    """Linear models of the outputs around any row, all fitted to the same draws.

    Rows that are seen alike share their regression, but for the row itself. Of bins, sums are taken in single
    precision.

    Attributes
    ----------
    draws : (d, draws) array
        What is seen of the draws: bins, or numbers of deviations.
    binned : (d,) array
        Which features are seen as bins.
    scaled : _Scaled
    """

    draws: Floats
    binned: Bools
    scaled: _Scaled

    def coefficients(self, seen: Floats, own: Floats, progress: Progress | None) -> Floats:
        """One vector per row and class, (n, classes, d), from what is seen of rows, (n, d), and their own outputs."""
        n, classes = own.shape
        asked = f"Coefficients of {n:,} rows and {classes:,} classes"
        need(32 * n * classes * len(self.draws), asked, "explain fewer rows at once")
        which, first = group([seen])
        rows = np.bincount(which).cumsum()
        lines, done = np.empty((len(first), classes + 1, len(self.draws))), 0
        for part in self._parts(seen[first]):
            lines[done : done + len(part)] = part
            done += len(part)
            if progress is not None:
                progress(int(rows[done - 1]), n)
        return self.scaled.coefficients(lines[which], own)

    def _parts(self, seen: Floats) -> Iterator[Floats]:
        """Bases and slopes of rows that are seen differently, (n, classes + 1, d): in blocks, by several threads."""
        d, draws = self.draws.shape
        room = _BYTES // (draws * (4 if self.binned.all() else 16))
        few = sum(len(np.unique(column)) for column in seen.T) <= room  # different values, whose contrasts fit
        with one_blas_thread():
            for stretch in blocks(len(seen), len(seen) if few else room // d):
                places, (columns, squares, own, signs) = self._contrasts(seen[stretch])

                def solve(
                    at: Ints, columns: Any = columns, squares: Any = squares, own: Any = own, signs: Any = signs
                ) -> Floats:
                    terms = self.scaled.terms(len(at), d, columns.dtype)
                    terms[:, :d] = columns[at]
                    return _lines(terms, squares[at].sum(axis=1, dtype=squares.dtype), own[at], signs[at])

                most = _AT_A_TIME // (columns.itemsize * draws * (d + len(self.scaled.outputs)))
                step = min(most, -(-len(places) // (2 * WORKERS)))
                parts = [places[block] for block in blocks(len(places), step)]
                yield from map(solve, parts) if len(parts) == 1 else in_threads(solve, parts)

    def _contrasts(self, seen: Floats) -> tuple[Ints, list[Array]]:
        """Draws compared with values that rows have, one line per feature and value; and the lines of each row, (n, d).

        Of every line there are its columns and squares, (k, draws), own and signs, (k,), as `_lines` takes them. A bin
        is seen as "in the row's bin" if less than half of the draws are, otherwise as "in another bin": most draws
        count 0, so that single precision loses nothing when the mean is subtracted. A number is seen by its deviations
        from the row's own, in double precision.
        """
        places, parts, start = np.empty(seen.shape, np.int64), [], 0
        for j, drawn in enumerate(self.draws):
            values, place = np.unique(seen[:, j], return_inverse=True)
            places[:, j] = place.reshape(-1) + start
            start += len(values)
            if self.binned[j]:
                other = drawn != values[:, None]
                rare = 2 * other.sum(axis=1) > len(drawn)  # bins that hold less than half of the draws
                parts.append((other != rare[:, None], other, rare.astype(np.float64), np.where(rare, 1.0, -1.0)))
            else:
                apart = drawn - values[:, None]
                parts.append((apart, apart**2, np.zeros(len(values)), np.ones(len(values))))
        columns, squares, own, signs = (np.concatenate(part) for part in zip(*parts, strict=True))
        kinds = (np.float32, np.min_scalar_type(len(self.draws))) if self.binned.all() else (np.float64, np.float64)
        return places, [columns.astype(kinds[0], copy=False), squares.astype(kinds[1], copy=False), own, signs]
