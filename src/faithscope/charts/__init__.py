"""Charts: estimates in, Altair charts out; nothing is computed here.

`specs` draws in plain Vega-Lite, `theme` colors it; here it becomes an Altair chart, for notebooks.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from faithscope.charts import specs
from faithscope.charts.theme import LIGHT, theme
from faithscope.errors import BadInput

if TYPE_CHECKING:
    import altair as alt

__all__ = ["against", "curve", "discretizations", "estimates", "populations", "within_curve"]

_WIDTH = 560


class Told(Protocol):
    """Anything that tells its numbers as an `Estimate` does."""

    def to_dict(self) -> dict[str, Any]:
        """All numbers by name."""


def estimates(found: Iterable[tuple[str, Told]], *, title: str = "", width: int = _WIDTH) -> "alt.LayerChart":
    """A line for each estimate: what was shown to agree, what cannot be checked, the interval, and chance.

    Parameters
    ----------
    found : pairs of a name and an Estimate
        Those of the same name stand together.
    """
    return _chart(specs.estimates(_rows(found)), title, width, specs.KEY)


def populations(found: Mapping[Any, Told], *, title: str = "", width: int = _WIDTH) -> "alt.LayerChart":
    """`estimates` by population."""
    return estimates([(str(group), one) for group, one in found.items()], title=title, width=width)


def against(found: Iterable[tuple[str, Told]], *, title: str = "", width: int = _WIDTH) -> "alt.LayerChart":
    """Consistency against sufficiency, with both intervals, of the names that have both.

    Parameters
    ----------
    found : pairs of a name and an Estimate
    """
    return _chart(specs.against(_rows(found)), title, width)


def discretizations(table: Any, *, title: str = "", width: int = _WIDTH) -> "alt.LayerChart":
    """Consistency against uniqueness: coarser explanations can be checked on more rows, and say less.

    Parameters
    ----------
    table : DataFrame
        What `Evaluation.discretizations` gives.
    """
    lines = table.to_dict("records")
    rows = [
        {"name": line["discretizer"], "upper": min(1.0, line["value"] + line["unverifiable"])} | _known(line)
        for line in lines
    ]
    return _chart(specs.discretizations(rows), title, width)


def curve(plan: Any, *, title: str = "", width: int = _WIDTH) -> "alt.LayerChart":
    """How the unverifiable share falls as rows are added, where you are, and what is forecast.

    Parameters
    ----------
    plan : Plan
    """
    points = [_known(point) for point in plan.curve.to_dict("records")]
    return _chart(specs.curve(points, plan.n, plan.wanted, plan.rows_needed), title, width)


def within_curve(
    taus: Sequence[float], found: Sequence[Told], *, title: str = "", width: int = _WIDTH
) -> "alt.LayerChart":
    """The measure as more distant explanations count as the same.

    Parameters
    ----------
    taus : sequence of float
        The distances.
    found : sequence of Estimate
        One for each.
    """
    rows = [{"tau": tau, **one.to_dict()} for tau, one in zip(taus, found, strict=True)]
    return _chart(specs.within_curve(rows), title, width)


def _rows(found: Iterable[tuple[str, Told]]) -> list[dict[str, Any]]:
    rows = [{"name": name, **one.to_dict()} for name, one in found]
    if not rows:
        raise BadInput("There is nothing to draw: no estimate was given.")
    return rows


def _known(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of a table with None for NaN, which JSON does not have."""
    return {name: None if isinstance(v, float) and math.isnan(v) else v for name, v in row.items()}


def _chart(spec: dict[str, Any], title: str, width: int, key: str = "") -> "alt.LayerChart":
    import altair as alt

    heading = {"title": {"text": title, "subtitle": key}} if title or key else {}
    chart: alt.LayerChart = alt.LayerChart.from_dict({**spec, **heading, "width": width, "config": theme(LIGHT)})
    return chart
