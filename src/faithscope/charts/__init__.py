"""Charts: estimates in, Altair charts out; nothing is measured here.

`specs` makes plain Vega-Lite specifications and `theme` gives them colors; this file makes Altair charts of them.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from faithscope.charts import specs
from faithscope.charts.layers import number
from faithscope.charts.theme import LIGHT, theme
from faithscope.errors import BadInput

if TYPE_CHECKING:
    import altair as alt

__all__ = [
    "curve",
    "encoding",
    "estimates",
    "heat_map",
    "tolerance_curve",
    "within_curve",
]

_WIDTH = 560
_ENCODING_KEY = ("one point per explanation, larger for more rows · on the diagonal: its choice says nothing more",)
_CURVE_KEY = ("line: agreement where it can be checked, with the interval · band: cannot be checked · dashed: chance",)


def estimates(named: Iterable[tuple[str, Any]], *, title: str = "") -> "alt.LayerChart":
    """One line per estimate: what was shown to agree, what cannot be checked, the interval, and chance.

    Parameters
    ----------
    named : pairs of a name and an Estimate, or its numbers
        Estimates of the same name are drawn together.
    title : str

    Returns
    -------
    altair.LayerChart

    Examples
    --------
    >>> import faithscope as fs
    >>> estimate = fs.consistency(["old", "old", "young"], ["yes", "no", "no"])
    >>> estimates([("by age", estimate)]).description
    'Bars with intervals. by age: consistency 0.000, interval 0.000 to 1.000, 33% unverifiable.'
    """
    rows = []
    for name, each in named:
        row = each if isinstance(each, Mapping) else each.to_dict()
        # A share that knows of no silent rows is drawn as if there were none.
        rows.append({"name": name, "upper": row["value"], "verified": row["value"], "unverifiable": 0.0, **row})
    if not rows:
        raise BadInput("There is nothing to draw: no estimate was given. Pass pairs of a name and an estimate.")
    return _chart(specs.estimates(rows, strokes=True), specs.in_words(rows), specs.key(rows), title)


def curve(plan: Any) -> "alt.LayerChart":
    """How the unverifiable share falls as rows are added, where the sample ends, and what is forecast.

    The band is the interval of the forecast; beyond 4 n there is only the band.

    Parameters
    ----------
    plan : Plan

    Examples
    --------
    >>> import faithscope as fs
    >>> curve(fs.plan(fs.consistency(["a", "a", "b"], [0, 0, 1]))).description
    'Share of rows that cannot be checked, by number of rows: 33.3% at 3 rows.'
    """
    words = f"Share of rows that cannot be checked, by number of rows: {plan.unverifiable:.1%} at {plan.n:,} rows."
    return _chart(specs.curve(plan), words)


def within_curve(taus: Sequence[float], estimates: Sequence[Any]) -> "alt.LayerChart":
    """Consistency by the distance within which explanations count as the same.

    Parameters
    ----------
    taus : sequence of float
        The distances.
    estimates : sequence of Estimate
        One per distance.

    Examples
    --------
    >>> import faithscope as fs
    >>> estimate = fs.within([[0.0], [0.1], [2.0]], [0, 0, 1], 0.5)
    >>> within_curve([0.5], [estimate]).description
    'Consistency by distance. within 0.5: 1.000, chance 0.333.'
    """
    x = number("tau", title="distance within which explanations count as the same", grid=False)
    return _by_number(x, taus, estimates, "within", "consistency", "Consistency by distance")


def tolerance_curve(eps: Sequence[float], estimates: Sequence[Any]) -> "alt.LayerChart":
    """A measure of numbers by eps, on a logarithmic axis, with its interval and beside chance.

    Parameters
    ----------
    eps : sequence of float
        In the units of the predictions.
    estimates : sequence of Estimate
        One per eps.

    Examples
    --------
    >>> import faithscope as fs
    >>> curve = fs.tolerance_curve(["a", "a", "b", "b"], [1.0, 1.5, 4.0, 6.0], [2.0])
    >>> tolerance_curve(curve.eps, curve.estimates).description
    'Consistency by eps. eps 2: 0.375, chance 0.125.'
    """
    axis = {"title": "eps, in the units of the predictions", "grid": False, "tickCount": 6, "format": "~g"}
    x = number("eps", {"type": "log", "nice": False, "padding": 8}, **axis)
    measure, kind = estimates[0].measure, str(estimates[0].agreement).partition("(")[0]
    return _by_number(x, eps, estimates, "eps", f"{measure} by {kind}(eps)", f"{measure.capitalize()} by eps")


def _by_number(
    x: dict[str, Any], points: Sequence[float], estimates: Sequence[Any], word: str, title: str, words: str
) -> "alt.LayerChart":
    """Estimates by a number, whose axis is `x`, with intervals and chance."""
    rows, told = [], []
    for point, estimate in zip(points, estimates, strict=True):
        chance = "" if estimate.chance is None else f", chance {estimate.chance:.3f}"
        told.append(f"{word} {point:g}: {specs.shown(estimate.verified)}{chance}")
        rows.append({x["field"]: point, **estimate.to_dict()})
    return _chart(specs.measure_curve(rows, x, title), f"{words}. {'; '.join(told)}.", _CURVE_KEY)


def encoding(columns: Mapping[str, Any]) -> "alt.LayerChart":
    """The rows given each explanation against the others that it covers: points on the diagonal do not encode.

    Parameters
    ----------
    columns : the table of an Encoding, or its columns

    Examples
    --------
    >>> import faithscope as fs
    >>> rules = fs.Rules.parse(["x0 <= 99", "x1 <= 99"] * 20, features=["x0", "x1"])
    >>> chart = encoding(fs.encoding(rules, [0, 1] * 20, [[i, i] for i in range(40)], clusters=range(40)).table())
    >>> chart.description
    '2 of 2 explanations are flagged.'
    """
    told = f"{sum(columns['flagged']):,} of {len(columns['n']):,} explanations are flagged."
    return _chart(specs.encoding(columns), told, _ENCODING_KEY, width=420)


def heat_map(names: Sequence[str], values: Sequence[Sequence[float | None]], *, measure: str = "") -> "alt.LayerChart":
    """A square of numbers from 0 to 1 by two names, such as how far explainers agree; darker is more.

    Parameters
    ----------
    names : sequence of str
    values : square of float or None
        One row per name; None for what is not known, and on the diagonal.
    measure : str
        What the numbers are.

    Examples
    --------
    >>> heat_map(["shap", "lime"], [[None, 0.25], [0.25, None]], measure="same").description
    'Same, pair by pair: shap and lime 0.25.'
    """
    if not names:
        raise BadInput("There is nothing to draw: no name was given. Pass names, and one row of numbers per name.")
    width = min(_WIDTH, specs.CELL * len(names))
    title = f"{measure[:1].upper()}{measure[1:]}"
    return _chart(
        specs.heat_map(names, values, measure), specs.pairs_in_words(names, values, measure), (), title, width
    )


def _chart(
    spec: dict[str, Any], words: str, key: Sequence[str] = (), title: str = "", width: int = _WIDTH
) -> "alt.LayerChart":
    from faithscope.charts.offline import OfflineChart

    # Vega draws no subtitle under an empty title, so without a title the key itself becomes the title.
    alone = {"text": list(key), "fontSize": 11, "fontWeight": "normal", "color": LIGHT["muted"]}
    heading = {"title": {"text": title, "subtitle": list(key)} if title else alone} if title or key else {}
    looks = {"description": words, "width": width, "config": theme(LIGHT)}
    chart: alt.LayerChart = OfflineChart.from_dict({**spec, **heading, **looks})
    return chart
