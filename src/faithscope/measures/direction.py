"""direction(): does redrawing a named feature move the model's output as the sign of its importance says?

A positive importance says "this value pushes toward the class". So the output of the row, less the mean output of the
same row with other values of that feature, must be positive. Each named feature of a row is a pair; pairs of a row, or
of a cluster of rows, stay together in the interval.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from faithscope.errors import BadInput, WrongType
from faithscope.explanations.base import several
from faithscope.explanations.importances import OWN_CLASSES, Importances, Rankings
from faithscope.inputs.alignment import made_in_order, row_labels
from faithscope.inputs.array_types import Array, Bools, Floats, Ints
from faithscope.inputs.arrays import is_frame
from faithscope.inputs.asking import noting, rows_of_its_own
from faithscope.inputs.checks import check_share, check_whole, is_real, same_length
from faithscope.inputs.frames import frame
from faithscope.inputs.grouping import group
from faithscope.inputs.hints import hint
from faithscope.inputs.models import (
    classifier_name,
    is_torch_module,
    number_function,
    of_both_classes,
    owner_of,
    probability_function,
    regressor_name,
    to_outputs,
)
from faithscope.inputs.rows import rows_of
from faithscope.measures.intervals.margins import IndependentUnits, LeftOutDeviations, margins
from faithscope.measures.named_features import NamedFeatures, named_features
from faithscope.measures.telling import in_clusters
from faithscope.notes import Notes
from faithscope.populations.base import seeds_of, to_population, uniforms
from faithscope.populations.tables import SourceRows
from faithscope.populations.training import Perturbed, Product
from faithscope.readers import as_explanations
from faithscope.readers.wanted import ClassIndex, Wanted
from faithscope.rounding import down, in_brackets, told_share, up
from faithscope.runtime.memory import in_memory
from faithscope.sample import Sample
from faithscope.sinks.card import Table
from faithscope.sinks.lines import in_lines
from faithscope.sinks.shareable import Shareable
from faithscope.visible import visible

if TYPE_CHECKING:
    import pandas as pd


_USUAL = 3  # features that importances name
_NUMBERS = 2**22  # of redrawn rows, in one block
_DOUBTED = 2.0  # standard errors of the draws within which a move is not told from 0
_EQUAL = 1e-9  # difference of outputs, by their scale, that is rounding
_CLASS = re.compile(r" \| (?:class|output) ")


@dataclass(frozen=True, repr=False)
class Direction(Shareable):
    """How often redrawing a named feature moves the model's output as the sign of its importance says.

    Attributes
    ----------
    value, low, high : float or None
        Of the pairs of a row and a feature that it names whose redrawing moves the output, the share in which it moves
        as the sign says, with its interval over rows, or clusters; None if no pair moves it.
    chance : float
        What tossed signs reach: one half.
    right, wrong, tiny, ties : float
        Shares of all named pairs: moved as the sign says, moved the other way, moved too little to tell, and not moved
        at all, whatever value the feature takes.
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

    value: float | None
    low: float | None
    high: float | None
    right: float
    wrong: float
    tiny: float
    ties: float
    pairs: int
    n: int
    clusters: int | None
    k: int
    output: str
    population: str
    confidence: float
    _moved: "_Moved" = field(repr=False, compare=False)
    notes: Notes = ()
    chance: float = 0.5

    measure: ClassVar[str] = "direction"

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

        ``right``, ``wrong``, ``tiny`` and ``ties`` are shares of its pairs, ``move`` the mean move in the direction of
        the sign.
        """
        lines = self._lines
        return frame({name: [line[name] for line in lines] for name in lines[0]})

    @property
    def _lines(self) -> list[dict[str, Any]]:
        """One line per column that is named, the most often named first."""
        moved = self._moved
        columns, pairs = np.unique(moved.column, return_counts=True)
        return [
            {"feature": moved.source.names[column], **moved.line(moved.column == column, self.confidence)}
            for column in columns[np.argsort(-pairs, kind="stable")].tolist()
        ]

    def counterexamples(self, k: int = 10) -> "pd.DataFrame":
        """Up to k pairs whose redrawing moves the output most against the sign.

        ``row`` is the position among the rows handed over, ``index`` their label, ``feature`` and ``value`` what was
        redrawn, ``importance`` what the explanation says, and ``move`` the output less its mean over other values.
        """
        most, moved, source = check_whole(k, "k, the number of pairs,"), self._moved, self._moved.source
        wrong = np.flatnonzero(moved.clear & (moved.signed < 0))
        wrong = wrong[np.argsort(moved.signed[wrong], kind="stable")][:most]
        rows, column, importances = moved.named.rows[wrong], moved.column[wrong], moved.sample.explanations
        positions, labels = moved.sample.places[rows], row_labels(moved.sample.X)
        columns = {
            "row": positions,
            "index": positions if labels is None else labels[rows],
            "feature": [source.names[j] for j in column],
            "value": [source.columns[j][source.train + row] for row, j in zip(rows, column, strict=True)],
            "importance": importances.values[rows, moved.named.features[wrong]],  # type: ignore[attr-defined]
            "move": moved.moves[wrong],
        }
        return frame(columns)

    def plot(self) -> Any:
        """Every feature with its interval and chance, as an Altair chart."""
        from faithscope.charts import estimates

        told = {"measure": self.measure, "chance": 0.5, "n": self.n}
        known = [(line["feature"], line | told) for line in self._lines if line["value"] is not None]
        if not known:
            raise BadInput("No named feature moves the output, so there is nothing to draw.")
        return estimates(known)

    _written = (
        *("measure", "value", "low", "high", "chance", "right", "wrong", "tiny", "ties", "pairs", "n", "clusters", "k"),
        *("output", "population", "confidence", "flipped", "notes"),
    )

    _title = "direction"

    @property
    def _line(self) -> str:
        still = f"{self.tiny + self.ties:.0%} of them do not move it"
        rows = f"{several(self.n, 'row', 'rows')}{in_clusters(self.clusters)}"
        rest = f"{rows}, {self.pairs:,} named features of rows, {still}"
        if self.value is None or self.low is None or self.high is None:
            return f"direction cannot be told, since no named feature moves the output; {rest}"
        words = {
            True: f"signs say where {visible(self.output)} goes",
            False: f"signs are flipped for {visible(self.output)}",
            None: f"signs may be tossed for {visible(self.output)}",
        }
        interval = f"{100 * self.confidence:g}% interval {in_brackets(self.low, self.high)}"
        told = f"direction {told_share(self.value)}, {interval}, chance {self.chance:.2f}"
        return f"{told}; {words[self.above_chance]}; {rest}"

    def __str__(self) -> str:
        return in_lines(self._line, self.notes)

    def _tables(self) -> Iterable[Table]:
        lines = []
        for line in self._lines:
            value, shares = line["value"], (f"{line[name]:.1%}" for name in ("right", "wrong", "tiny", "ties"))
            share = ("–", "–") if value is None else (f"{value:.3f}", f"{down(line['low'])}–{up(line['high'])}")
            lines.append((visible(line["feature"]), f"{line['pairs']:,}", *share, *shares))
        columns = ("feature", "named", "direction", "interval", "right", "wrong", "tiny", "no move")
        below = f"{self.output}; {100 * self.confidence:g}% intervals over rows, each by itself"
        return [Table(columns, tuple(lines), 1, caption=below)]


@dataclass(frozen=True, eq=False)
class _Moved:
    """Pairs of a row and a feature, how far redrawing each moves the output, and whether that is told from 0."""

    named: NamedFeatures
    column: Ints  # of the rows, for each pair
    moves: Floats
    clear: Bools
    ties: Bools
    signed: Floats  # the moves in the direction of the sign
    units: IndependentUnits
    sample: Sample
    source: SourceRows

    def line(self, of: Bools, confidence: float) -> dict[str, Any]:
        """How many pairs these are, how they move, the share of right ones among those that move, and the mean move.

        The interval is over units; there is none if no pair moves.
        """
        up, moved, weight = self.signed > 0, of & self.clear, self.units.weight[self.named.rows] * of
        kinds = {"right": self.clear & up, "wrong": self.clear & ~up, "tiny": ~self.clear & ~self.ties}
        kinds["ties"] = self.ties
        told: dict[str, Any] = {name: float(weight @ each) / float(weight.sum()) for name, each in kinds.items()}
        told = {"pairs": int(of.sum()), **told, **dict.fromkeys(("value", "low", "high"))}
        if moved.any():
            part, whole = (
                self.units.sums(np.bincount(self.named.rows, each, self.named.n).astype(np.float64))
                for each in (moved & up, moved)
            )
            value, apart, margin = float(part.sum() / whole.sum()), self.units.without_each(part, whole), 1.0
            if apart is not None:
                good = float(whole.sum() / whole.max())  # a unit that was missed may hold as much as the heaviest
                margin = margins(LeftOutDeviations(apart, apart), good, confidence, own=1.0, lean=0.0).below
            told |= {"value": value, "low": max(0.0, value - margin), "high": min(1.0, value + margin)}
        return told | {"move": float(weight @ self.signed / weight.sum())}


@in_memory("measure fewer rows, or fewer draws, fs.Perturbed(X_train, draws=20)")
def direction(
    importances: Any,
    model: Any,
    X: Any,
    *,
    population: Any = None,
    k: int | None = None,
    tiny: float = 0.001,
    class_index: ClassIndex = None,
    confidence: float = 0.95,
    weights: Any = None,
    clusters: Any = None,
) -> Direction:
    """Share of named features of rows whose redrawing moves the model's output as the sign of the importance says.

    Of row i, let f be the output that its importances speak of, and f_j its mean with feature j taken from training
    rows and all others kept. Feature j is right if ``f - f_j`` has the sign of its importance, and

    ``value = Σ_ij w_i 1(right) / Σ_ij w_i 1(right or wrong)`` over the named features j of rows i.

    A pair is neither right nor wrong if no value of the feature changes the output (``ties``), or if ``|f - f_j|`` is
    at most `tiny`, or within two standard errors of its draws. Tossed signs reach one half, and flipped signs one less
    the value. The interval is over rows, or clusters: all pairs of a row are one observation.

    It asks whether signs are right, one feature at a time, not whether the features that matter are named.

    Parameters
    ----------
    importances : Importances, or what `consistency` takes as such
        One number per column of X: of one class, of all classes one after the other, or of the class predicted for
        each row; also signs (`SignOfTop`) and reason codes, which say that their features count against the label.
    model : model or function
        Anything with ``predict_proba``, a regressor, or a function from rows to probabilities or numbers.
    X : (n, d) array or table
        The rows that were explained, as the model takes them.
    population : Perturbed or Product, optional
        ``fs.Perturbed(X_train, draws=100)``: the rows that other values come from, and how many per pair; by default
        the rows of X themselves. Values are drawn from equal parts of the training column in its order, so 100 are
        nearly all of it.
    k : int, optional
        How many features each row names, those largest in size; a feature of importance 0 is never named. By default 3,
        or all that a discretizer kept.
    tiny : float
        Moves up to this are neither right nor wrong: of a probability, or as a share of the standard deviation of the
        model's numbers.
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
    given = _signed(as_explanations(importances))
    chosen = Perturbed(X) if population is None else to_population(population)
    if not isinstance(chosen, Perturbed | Product):
        raise BadInput(
            f"direction redraws one feature of a row and keeps the others, and {chosen!r} does not: pass "
            "fs.Perturbed(X_train)."
        )
    if chosen.X_train is None:
        raise BadInput("Perturbed draws from training rows: pass Perturbed(X_train).")
    same_length(importances=len(given), X=rows_of(X))
    if not is_real(tiny) or not 0 <= tiny < 1:
        raise BadInput(f"tiny must be a number from 0 to 1, such as 0.001; got {tiny!r}.")
    check_share(confidence, "confidence")
    wanted = Wanted.of(class_index, None, None).class_index
    most = check_whole(_USUAL if k is None else k, "k, the number of features that importances name,")
    zeros = np.zeros(len(given), np.int64)  # there are no predictions
    sample = Sample.checked(given, zeros, X, weights, clusters, row_labels={"explanations": given}).counted()
    named = named_features(sample.explanations, most)
    source = SourceRows.of(chosen.X_train, sample.X)
    ask = _Asked.of(model)
    every = np.arange(source.train, source.train + sample.n)
    own = ask(source.rows(np.repeat(every[:, None], len(source.names), axis=1)))
    if own.shape[1] == 1 and ask.of_chances(own):
        ask = replace(ask, both=True)
        own = np.column_stack([1 - own, own])
    if named is None or named.signs is None or not len(named.rows):
        raise BadInput("No row names a feature: all importances are 0.")
    column, output, told = _places(sample.explanations, named, source, own, ask, wanted)
    scale = 1.0
    if not ask.of_chances(own):
        of_row = np.zeros(sample.n, np.int64)  # the output of its first pair; the first one if it names nothing
        of_row[named.rows[::-1]] = output[::-1]
        scale = float(np.std(own[np.arange(sample.n), of_row])) or 1.0
    moves, noise, ties = _moves(ask, source, sample, chosen, named.rows, column, output, own, scale)
    clear = ~ties & (np.abs(moves) > np.maximum(tiny * scale, _DOUBTED * noise))
    units = IndependentUnits.of(sample)
    moved = _Moved(named, column, moves, clear, ties, moves * named.signs, units, sample, source)
    everything = moved.line(np.ones(len(moves), bool), confidence)
    del everything["move"]
    notes = list(sample.all_notes)
    if population is None:
        notes.append("other values were drawn from the rows themselves: pass population=fs.Perturbed(X_train)")
    return Direction(
        **everything,
        n=sample.n,
        clusters=None if sample.clusters is None else len(units.mass),
        k=int(named.sizes.max()),
        output=told,
        population=repr(chosen),
        confidence=float(confidence),
        notes=tuple(notes),
        _moved=moved,
    )


def _signed(kind: Any) -> Importances:
    """Importances with signs; raises for other kinds."""
    if not isinstance(kind, Importances) or isinstance(kind, Rankings):
        raise WrongType(f"direction asks for signs of features, which importances have; got {kind.kind}.")
    if kind.shape is not None:
        raise BadInput(
            f"direction redraws features of a table, and these are maps of shape {kind.shape}: pass importances of "
            "columns."
        )
    if len(kind) and (parts := named_features(kind.take(slice(0, 1)), 1)) is not None and parts.signs is None:
        raise BadInput(f"{kind.form} left no signs: pass the importances themselves, or fs.SignOfTop(k) of them.")
    return kind


@dataclass(frozen=True)
class _Asked:
    """A model as a function from rows to (n, outputs) numbers, and the labels of its classes if it says them."""

    function: Callable[[Any], Any]
    numbers: bool
    module: bool
    labels: tuple[str, ...]
    both: bool = False  # whether the one output is the probability of class 1 of two

    @classmethod
    def of(cls, model: Any) -> "_Asked":
        owner = owner_of(model) if classifier_name(model) else model
        numbers, module = regressor_name(model) is not None, is_torch_module(owner)
        function = number_function(owner)
        if not numbers and (module or callable(getattr(owner, "predict_proba", None))):
            function = probability_function(owner)
        elif classifier_name(owner):
            raise WrongType(
                f"{type(owner).__name__} has no predict_proba, and its labels do not move by degrees: pass a function "
                "of its outputs, such as model.decision_function."
            )
        if function is None or isinstance(owner, type):
            raise WrongType(
                "direction asks the model about rows in which it redraws a feature: pass the model itself, or a "
                f"function from rows to probabilities; got {type(model).__name__}."
            )
        classes = getattr(getattr(owner, "__self__", owner), "classes_", None)
        known = () if numbers or classes is None or np.ndim(classes) != 1 else tuple(map(str, classes))
        return cls(function, numbers, module, known)

    def __call__(self, rows: Any) -> Floats:
        from scipy.special import softmax

        with noting(f"Raised while predicting {rows_of(rows):,} rows, of which one feature each was redrawn."):
            answers = self.function(rows_of_its_own(rows))
        made_in_order(rows, answers, "predictions")
        outputs = to_outputs(answers)
        same_length(rows=rows_of(rows), predictions=len(outputs))
        if self.module and outputs.shape[1] > 1 and not np.allclose(outputs.sum(axis=1), 1, atol=1e-3):
            outputs = softmax(outputs, axis=1)
        return of_both_classes(outputs) if self.both else outputs

    def of_chances(self, outputs: Floats) -> bool:
        """Whether outputs are probabilities."""
        return not self.numbers and bool((outputs >= -_EQUAL).all() and (outputs <= 1 + _EQUAL).all())

    def title(self, output: int, outputs: Floats) -> str:
        """What an output is called."""
        if not self.of_chances(outputs):
            return "the model's number" if outputs.shape[1] == 1 else f"output {output}"
        return f"the probability of {self.labels[output]!r}" if self.labels else f"the probability of class {output}"


def _places(
    given: Any, named: NamedFeatures, source: SourceRows, own: Floats, ask: _Asked, class_index: ClassIndex
) -> tuple[Ints, Ints, str]:
    """The column of the rows and the output of the model that each pair is about, and what the output is called."""
    width, many = len(source.names), own.shape[1]
    titles = [_CLASS.split(name) for name in given.names or ()]
    several_outputs = bool(titles) and all(len(title) == 2 for title in titles)
    if not titles and many > 1 and len(named.names) == many * width:
        several_outputs, titles = True, [[source.names[j], str(c)] for c in range(many) for j in range(width)]
    column = _columns([title[0] for title in titles] if titles else None, len(named.names), source)[named.features]
    if several_outputs:
        if class_index is not None:
            raise BadInput("These importances are of all classes, one after the other: leave class_index= out.")
        order = {title: number for number, title in enumerate(dict.fromkeys(title[1] for title in titles))}
        if len(order) != many:
            raise BadInput(f"Importances are of {len(order)} classes, and the model has {many}: explain all of them.")
        return column, np.array([order[title[1]] for title in titles])[named.features], "the output of each class"
    if class_index == "predicted" or (class_index is None and OWN_CLASSES in given.remarks):
        if many == 1:
            raise BadInput("The model gives one number per row, so no class is predicted: explain that number.")
        return column, own.argmax(axis=1)[named.rows], "the output of the predicted class"
    output = 1 if many == 2 else 0 if many == 1 else None
    if class_index is not None:
        if class_index >= many:
            raise BadInput(f"class_index must be from 0 to {many - 1}, an output of the model; got {class_index!r}.")
        output = class_index
    elif given.label is not None and ask.labels:
        if given.label not in ask.labels:
            raise BadInput(
                f"Importances speak of {given.label!r}, which is none of the model's classes, {', '.join(ask.labels)}: "
                "pass class_index=."
            )
        output = ask.labels.index(given.label)
    if output is None:
        raise BadInput(
            f"The model has {many} outputs, and nothing says of which the importances speak: pass class_index=0, ..., "
            f"class_index={many - 1}, or class_index='predicted'."
        )
    return column, np.full(len(named.rows), output), ask.title(output, own)


def _columns(names: list[str] | None, width: int, source: SourceRows) -> Ints:
    """The column of the rows for every column of importances: by name if both have names, else by position."""
    if names is None or not is_frame(source.X):
        if width % len(source.names):
            raise BadInput(
                f"Importances have {width} features and X has {len(source.names)} columns: pass importances of the "
                "columns that the model takes."
            )
        return np.arange(width) % len(source.names)
    known = {name: place for place, name in enumerate(source.names)}
    strange = next((name for name in names if name not in known), None)
    if strange is not None:
        raise BadInput(
            f"Importances are of {strange!r}, which is no column of X: pass importances of the columns that the model "
            f"takes. {hint(strange, source.names)}"
        )
    return np.array([known[name] for name in names], np.int64)


def _moves(
    ask: _Asked,
    source: SourceRows,
    sample: Sample,
    population: Perturbed | Product,
    rows: Ints,
    column: Ints,
    output: Ints,
    own: Floats,
    scale: float,
) -> tuple[Floats, Floats, Bools]:
    """Per pair, the output less its mean over other values of the feature, the standard error of that, and ties.

    The training column in its order is cut into as many equal parts as there are draws, and one value is drawn from
    each: so the mean is off by what the output varies within parts, which neighbors tell, ``Σ (f_m+1 - f_m)² / 2``.
    The model is asked about equal values that follow each other once.
    """
    draws, width = population.draws, len(source.names)
    orders = {j: _order(source.columns[j][: source.train]) for j in np.unique(column).tolist()}
    seeds = seeds_of(population.seed, source.X, sample.explanations.describe)
    slot = np.arange(len(rows)) - np.searchsorted(rows, rows)  # of each pair among those of its row
    before = own[rows, output]
    moves, noise, ties = np.empty(len(rows)), np.empty(len(rows)), np.empty(len(rows), bool)
    for part in _parts(rows, draws * width):
        first, last = rows[part][0], rows[part][-1]
        chances = uniforms(seeds[first : last + 1], int(slot[part].max()) + 1, draws)[rows[part] - first, slot[part]]
        place = ((np.arange(draws) + chances) * (source.train / draws)).astype(np.int64)
        drawn, code = np.empty(place.shape, np.int64), np.empty(place.shape, np.int64)
        for j in np.unique(column[part]).tolist():
            of = column[part] == j
            drawn[of], code[of] = (each[place[of]] for each in orders[j])
        new = np.ones(place.shape, bool)
        new[:, 1:] = code[:, 1:] != code[:, :-1]
        pair, _ = np.nonzero(new)
        cells = np.repeat(source.train + rows[part][pair][:, None], width, axis=1)
        cells[np.arange(len(pair)), column[part][pair]] = drawn[new]
        answers = ask(source.rows(cells))[np.arange(len(pair)), output[part][pair]]
        values = answers[np.cumsum(new.ravel()) - 1].reshape(new.shape)
        gaps = before[part][:, None] - values
        moves[part] = gaps.mean(axis=1)
        noise[part] = np.sqrt((np.diff(values, axis=1) ** 2).sum(axis=1) / 2) / draws
        ties[part] = np.abs(gaps).max(axis=1) <= _EQUAL * scale
    return moves, noise, ties


def _parts(rows: Ints, numbers: int) -> Iterator[slice]:
    """Blocks of pairs, of whole rows, whose draws hold so many numbers per pair."""
    step = max(1, _NUMBERS // max(1, numbers))
    start = 0
    while start < len(rows):
        stop = min(len(rows), start + step)
        stop = int(np.searchsorted(rows, rows[stop - 1], side="right"))
        yield slice(start, stop)
        start = stop


def _order(column: Array) -> tuple[Ints, Ints]:
    """The positions of a column's values in their order, and a number of each value there: equal ones share it."""
    if column.dtype.kind in "biuf":
        _, codes = np.unique(column, return_inverse=True)
    else:
        codes = group([column.astype(object)])[0]
    order = np.argsort(codes, kind="stable")
    return order, codes[order]
