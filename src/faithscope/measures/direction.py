"""direction(): does redrawing a named feature move the model's output as the sign of its importance says?

A positive importance says "this value pushes toward the class". So the output of the row, less the mean output of the
same row with other values of that feature, must be positive. Each named feature of a row is a pair; pairs of a row, or
of a cluster of rows, stay together in the interval.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from faithscope.card import Table, framed
from faithscope.counting.layout import sums
from faithscope.errors import BadInput, WrongType
from faithscope.explanations.alike import feature_places
from faithscope.explanations.importances import OWN_CLASSES, Importances, Rankings
from faithscope.inputs.alignment import made_in_order
from faithscope.inputs.array_types import Bools, Floats, Ints
from faithscope.inputs.checks import check_share, check_whole, same_length
from faithscope.inputs.columns import Rows
from faithscope.inputs.models import Model, noting, of_both_classes, owner_of, rows_of_its_own, to_outputs
from faithscope.inputs.rows import rows_of
from faithscope.measures.intervals.margins import IndependentUnits, LeftOutDeviations, margins
from faithscope.measures.named_features import named_features
from faithscope.measures.telling import Answer, in_clusters
from faithscope.populations.base import to_population
from faithscope.populations.tables import SourceRows
from faithscope.populations.training import Perturbed, Product
from faithscope.readers import as_explanations
from faithscope.readers.wanted import ClassIndex, Wanted
from faithscope.rounding import told_share
from faithscope.runtime.memory import in_memory
from faithscope.sample import Sample, number_labels
from faithscope.visible import visible
from faithscope.words import several

if TYPE_CHECKING:
    import pandas as pd


_USUAL = 3  # features that importances name
_NUMBERS = 2**22  # of redrawn rows, in one block
_DOUBTED = 2.0  # standard errors of the mean over other values within which a move is not told from 0
_EQUAL = 1e-9  # by which probabilities may be off
_TINY = 0.001  # a move that is told from 0: of a probability, or of the standard deviation of the model's numbers


class Moved(NamedTuple):
    """Pairs of a row and a feature that it names.

    Attributes
    ----------
    rows, column : (m,) arrays
    moves : (m,) array
        How far redrawing the feature moves the output in the direction of its sign.
    clear : (m,) array
        Whether the move is told from 0.
    """

    units: IndependentUnits
    rows: Ints
    column: Ints
    moves: Floats
    clear: Bools

    def line(self, of: Bools, confidence: float) -> dict[str, Any]:
        """How many pairs these are, how they move, and the share of right ones among those that move, if any does."""
        weight, right = self.units.weight[self.rows] * of, self.clear & (self.moves > 0)
        kinds = {"right": right, "wrong": self.clear & ~right, "still": ~self.clear, "move": self.moves}
        told: dict[str, Any] = {"pairs": int(of.sum())}
        told |= {name: float(weight @ np.asarray(each, np.float64) / weight.sum()) for name, each in kinds.items()}
        rows = len(self.units.weight)
        part, whole = (self.units.sums(sums(self.rows, 1.0 * (of & each), rows)) for each in (right, self.clear))
        if not whole.any():
            return told | dict.fromkeys(("value", "low", "high"))
        value, apart = float(part.sum() / whole.sum()), self.units.without_each(part, whole)
        good = float(whole.sum() / whole.max())  # a unit that was missed may hold as much as the heaviest
        known = None if apart is None else LeftOutDeviations(apart, apart)
        margin = margins(known, good, confidence, lean=0.0).below
        return told | {"value": value, "low": max(0.0, value - margin), "high": min(1.0, value + margin)}


@dataclass(frozen=True, repr=False, kw_only=True)
class Direction(Answer):
    """How often redrawing a named feature moves the model's output as the sign of its importance says.

    Attributes
    ----------
    value, low, high : float or None
        Of the pairs of a row and a feature that it names whose redrawing moves the output, the share in which it moves
        as the sign says, with its interval over rows, or clusters; None if no pair moves it.
    chance : float
        What tossed signs reach: one half.
    right, wrong, still : float
        Shares of all named pairs: moved as the sign says, moved the other way, and moved too little to tell.
    move : float
        The mean move in the direction of the sign.
    pairs, n : int
        Number of named pairs, and of rows.
    clusters : int or None
        Number of clusters of rows; None if rows are not clustered.
    k : int
        How many features a row names at most.
    output : str
        What is moved, such as "the probability of '>50K'".
    population : str
        Where other values come from.
    confidence : float
    notes : tuple of str

    Examples
    --------
    >>> import faithscope as fs
    >>> X = [[float(i % 5), float(i % 3)] for i in range(15)]
    >>> importances = [[a - 2, 1 - b] for a, b in X]  # the model is a - b: the second sign is right as well
    >>> print(fs.direction(importances, lambda rows: rows[:, 0] - rows[:, 1], X, population=fs.Perturbed(X)))
    direction 1.00, 95% interval [0.66, 1.00], chance 0.50; signs say where the model's number goes;
      15 rows, 22 named features of rows, 0% of them do not move it
    """

    value: float | None  # type: ignore[assignment]
    low: float | None  # type: ignore[assignment]
    high: float | None  # type: ignore[assignment]
    right: float
    wrong: float
    still: float
    move: float
    pairs: int
    clusters: int | None
    k: int
    output: str
    population: str
    _names: tuple[str, ...] = field(repr=False, compare=False)  # of the columns of X
    _moved: Moved = field(repr=False, compare=False)
    chance: float = 0.5
    measure: str = "direction"

    @property
    def flipped(self) -> bool:
        """Whether signs say the opposite of what the model does: the whole interval lies below one half."""
        return self.high is not None and self.high < self.chance

    @property
    def above_chance(self) -> bool | None:
        """Whether signs are right more often than tossed ones; None if the interval does not tell."""
        if self.low is None or self.high is None or self.low <= self.chance <= self.high:
            return None
        return self.low > self.chance

    def table(self) -> "pd.DataFrame":
        """One line per feature that is named, the most often named first; intervals are each by itself.

        ``right``, ``wrong`` and ``still`` are shares of its pairs, ``move`` the mean move in the direction of the sign.
        """
        import pandas as pd

        moved, (columns, pairs) = self._moved, np.unique(self._moved.column, return_counts=True)
        often = columns[np.argsort(-pairs, kind="stable")].tolist()
        lines = ({"feature": self._names[one], **moved.line(moved.column == one, self.confidence)} for one in often)
        return pd.DataFrame(list(lines))

    def plot(self) -> Any:
        """Every feature with its interval and chance, as an Altair chart."""
        from faithscope.charts import estimates

        told = {"measure": self.measure, "chance": self.chance, "n": self.n}
        lines = self.table().dropna(subset=["value"]).to_dict("records")
        return estimates([(line["feature"], line | told) for line in lines])

    @property
    def _line(self) -> str:
        still = f"{self.still:.0%} of them do not move it"
        rows = f"{several(self.n, 'row', 'rows')}{in_clusters(self.clusters)}"
        rest = f"{rows}, {self.pairs:,} named features of rows, {still}"
        if self.value is None or self.low is None or self.high is None:
            return f"direction cannot be told, since no named feature moves the output; {rest}"
        words = {
            True: f"signs say where {visible(self.output)} goes",
            False: f"signs are flipped for {visible(self.output)}",
            None: f"signs may be tossed for {visible(self.output)}",
        }
        told = f"direction {told_share(self.value)}, {self._ends}, chance {self.chance:.2f}"
        return f"{told}; {words[self.above_chance]}; {rest}"

    def _tables(self) -> Iterable[Table]:
        below = f"{self.output}; {100 * self.confidence:g}% intervals over rows, each by itself"
        return [framed(self.table(), ("feature", "pairs", "value", "low", "high", "still"), below)]


@in_memory("measure fewer rows, or fewer draws, fs.Perturbed(X_train, draws=20)")
def direction(
    importances: Any,
    model: Any,
    X: Any,
    *,
    population: Any = None,
    k: int | None = None,
    class_index: ClassIndex = None,
    confidence: float = 0.95,
    weights: Any = None,
    clusters: Any = None,
) -> Direction:
    """Share of named features of rows whose redrawing moves the model's output as the sign of the importance says.

    Of row i, let f be the output that its importances speak of, and f_j its mean with feature j taken from training
    rows and all others kept. Feature j is right if ``f - f_j`` has the sign of its importance, and

    ``value = Σ_ij w_i 1(right) / Σ_ij w_i 1(right or wrong)`` over the named features j of rows i.

    A pair is neither right nor wrong, but ``still``, if ``|f - f_j|`` is at most 0.001 (of a number, of the standard
    deviation of the model's numbers), or within two standard errors of its draws. Tossed signs reach one half, and
    flipped signs one less the value. The interval is over rows, or clusters: all pairs of a row are one observation.

    It asks whether signs are right, one feature at a time, not whether the features that matter are named.

    Parameters
    ----------
    importances : Importances, or what `consistency` takes as such
        One number per column of X: of one class, or of the class predicted for each row; also signs (`SignOfTop`) and
        reason codes, which say that their features count against the label.
    model : model or function
        Anything with ``predict_proba``, a regressor, or a function from rows to probabilities or numbers.
    X : (n, d) array or table
        The rows that were explained, as the model takes them.
    population : Perturbed or Product, optional
        ``fs.Perturbed(X_train, draws=100)``: the rows that other values come from, and how many per pair; by default
        the rows of X that have weight. Of a training column with more different values than that, the middle
        ones of as many equal parts are taken; there is no chance in it.
    k : int, optional
        How many features each row names, those largest in size; a feature of importance 0 is never named. By default 3,
        or all that a discretizer kept.
    class_index : int or "predicted", optional
        The class, or output, that importances of one class speak of, if they do not say it: by default class 1 of two.
    confidence : float
    weights, clusters : array-like, (n,), optional
        As for `consistency`.

    Returns
    -------
    Direction

    Examples
    --------
    >>> import faithscope as fs
    >>> X = [[float(i % 5), float(i % 3)] for i in range(15)]
    >>> flipped = [[2 - a, 0.0] for a, b in X]
    >>> found = fs.direction(flipped, lambda rows: rows[:, 0], X)
    >>> found.value, found.flipped
    (0.0, True)
    """
    given = as_explanations(importances)
    if not isinstance(given, Importances) or isinstance(given, Rankings):
        raise WrongType(f"direction asks for signs of features, which importances have; got {given.kind}.")
    chosen = Perturbed() if population is None else to_population(population)
    if not isinstance(chosen, Perturbed | Product):
        raise BadInput(
            f"direction redraws one feature of a row and keeps the others, and {chosen!r} does not: pass "
            "fs.Perturbed(X_train)."
        )
    check_share(confidence, "confidence")
    wanted = Wanted.of(class_index, None, None).class_index
    most = check_whole(_USUAL if k is None else k, "k, the number of features that importances name,")
    sample = Sample.checked(given, None, X, weights, clusters).counted()
    train = sample.X if chosen.X_train is None else chosen.X_train
    named, source = named_features(sample.explanations, most), SourceRows.of(train, sample.X)
    if named is None or not len(named.rows):
        raise BadInput("No row names a feature: all importances are 0.")
    if named.signs is None:
        raise BadInput(f"{given.form} left no signs: pass the importances themselves, or fs.SignOfTop(k) of them.")
    ask, own, labels = _outputs(model, source)
    column = feature_places(Rows(source.X_train), given.names, len(named.names))[named.features]
    output, told = _target(given, own, labels, wanted)
    answers = own[np.arange(sample.n), output]  # of each row, the output that its importances speak of
    scale = 1.0 if labels is not None else float(np.std(answers)) or 1.0
    moves, noise = _moves(ask, source, chosen.draws, answers, output, named.rows, column)
    units, clear = IndependentUnits.of(sample), np.abs(moves) > np.maximum(_TINY * scale, _DOUBTED * noise)
    moved = Moved(units, named.rows, column, moves * named.signs, clear)
    notes = sample.all_notes
    if chosen.X_train is None:
        notes = (*notes, "other values were drawn from the rows themselves: pass population=fs.Perturbed(X_train)")
    return Direction(
        **moved.line(np.ones(len(moves), bool), confidence),
        n=sample.n,
        clusters=None if sample.clusters is None else len(units.mass),
        k=int(named.sizes.max()),
        output=told,
        population=repr(chosen),
        confidence=float(confidence),
        notes=notes,
        _names=tuple(source.names),
        _moved=moved,
    )


Ask = Callable[[Any], Floats]


def _outputs(model: Any, source: SourceRows) -> tuple[Ask, Floats, list[str] | None]:
    """The model as a function from rows to (n, outputs) numbers, and these numbers of all rows.

    If they are probabilities, also the labels that the model says, which may be none; else None.
    """
    kind = Model(model).kind
    owner = owner_of(model) if kind == "classifier" else model
    chances = kind != "regressor" and callable(getattr(owner, "predict_proba", None))
    function = Model(owner).find("probabilities" if chances else "numbers")
    if function is None or (kind == "classifier" and not chances):
        raise WrongType(
            f"direction asks for outputs of rows in which a feature is redrawn, and {type(owner).__name__} has no "
            "predict_proba: pass the model itself, or a function from rows to probabilities or numbers."
        )

    def ask(rows: Any) -> Floats:
        with noting(f"Raised while predicting {rows_of(rows):,} rows, of which one feature each was redrawn."):
            answers = function(rows_of_its_own(rows))
        made_in_order(rows, answers, "predictions")
        outputs = to_outputs(answers)
        same_length(rows=rows_of(rows), predictions=len(outputs))
        return outputs

    every = np.arange(source.train, len(source.columns[0]))
    own = ask(source.rows(np.repeat(every[:, None], len(source.names), axis=1)))
    if kind == "regressor" or (own < -_EQUAL).any() or (own > 1 + _EQUAL).any():
        return ask, own, None
    classes = Model(owner).classes
    labels = [] if classes is None or np.ndim(classes) != 1 else list(map(str, classes))
    return lambda rows: of_both_classes(ask(rows)), of_both_classes(own), labels


def _target(given: Importances, own: Floats, labels: list[str] | None, class_index: ClassIndex) -> tuple[Ints, str]:
    """Per row, the output of the model that its importances speak of, and what that is called."""
    rows, many = own.shape
    if class_index == "predicted" or (class_index is None and OWN_CLASSES in given.remarks):
        return own.argmax(axis=1), "the output of the predicted class"
    if class_index is None and given.label is not None and labels:
        if given.label not in labels:
            raise BadInput(
                f"Importances speak of {given.label!r}, which is none of the model's classes, {', '.join(labels)}: "
                "pass class_index=."
            )
        class_index = labels.index(given.label)
    output = many - 1 if class_index is None and many <= 2 else class_index
    if output is None or output >= many:
        raise BadInput(
            f"The model has {many} outputs, and nothing says of which the importances speak: pass class_index=, a "
            f"number from 0 to {many - 1} or 'predicted'."
        )
    told = "the model's number" if many == 1 else f"output {output}"
    if labels is not None:
        told = f"the probability of {labels[output]!r}" if labels else f"the probability of class {output}"
    return np.full(rows, output), told


def _moves(
    ask: Ask, source: SourceRows, draws: int, own: Floats, output: Ints, rows: Ints, column: Ints
) -> tuple[Floats, Floats]:
    """Per pair, the output less its mean over other values, and the standard error of that.

    Other values are all of the training column, or the middle ones of as many equal parts of it as there are draws. The
    mean is then off by what the output varies within parts, which neighbors tell, ``Σ (f_m+1 - f_m)² / 2``.
    """
    moves, noise = np.zeros((2, len(rows)))
    for j in np.unique(column).tolist():
        other = source.columns[j][: source.train]
        ordered = other.dtype.kind in "biufmM"
        codes = np.unique(other, return_inverse=True)[1] if ordered else number_labels(other)[1]
        order, exact = np.argsort(codes, kind="stable"), codes.max() < draws  # whether these are all values there are
        if not exact:
            order = order[((np.arange(draws) + 0.5) * (len(order) / draws)).astype(np.int64)]
        _, first, times = np.unique(codes[order], return_index=True, return_counts=True)
        values, share = order[first], times / len(order)
        pairs = np.flatnonzero(column == j)
        step = max(1, _NUMBERS // (len(values) * len(source.names)))
        for part in np.split(pairs, range(step, len(pairs), step)):
            mine = rows[part]
            cells = np.repeat(source.train + mine, len(values))[:, None].repeat(len(source.names), axis=1)
            cells[:, j] = np.tile(values, len(part))
            answers = ask(source.rows(cells)).reshape(len(part), len(values), -1)
            answers = answers[np.arange(len(part)), :, output[mine]]
            moves[part] = (own[mine][:, None] - answers) @ share
            if not exact:
                noise[part] = np.sqrt((np.diff(answers, axis=1) ** 2).sum(axis=1) / 2) / draws
    return moves, noise
