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
    rows = _rows(found)
    return _chart(specs.estimates(rows), title, width, _described(rows), specs.KEY)


def populations(found: Mapping[Any, Told], *, title: str = "", width: int = _WIDTH) -> "alt.LayerChart":
    """`estimates` by population."""
    return estimates([(str(group), one) for group, one in found.items()], title=title, width=width)


def against(found: Iterable[tuple[str, Told]], *, title: str = "", width: int = _WIDTH) -> "alt.LayerChart":
    """Consistency against sufficiency, with both intervals, of the names that have both.

    Parameters
    ----------
    found : pairs of a name and an Estimate
    """
    rows = _rows(found)
    return _chart(specs.against(rows), title, width, f"Consistency against sufficiency. {_described(rows)}")


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
    words = "; ".join(f"{row['name']}: {row['value']:.3f}, {row['uniqueness']:.0%} unique" for row in rows)
    return _chart(specs.discretizations(rows), title, width, f"Consistency against uniqueness. {words}.")


def curve(plan: Any, *, title: str = "", width: int = _WIDTH) -> "alt.LayerChart":
    """How the unverifiable share falls as rows are added, where you are, and what is forecast.

    Parameters
    ----------
    plan : Plan
    """
    points = [_known(point) for point in plan.curve.to_dict("records")]
    words = f"Share of rows that cannot be checked, by number of rows: {plan.unverifiable:.1%} at {plan.n:,} rows."
    return _chart(specs.curve(points, plan.n, plan.wanted, plan.rows_needed), title, width, words)


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
    words = "; ".join(f"within {row['tau']:g}: {row['value']:.3f}" for row in rows)
    return _chart(specs.within_curve(rows), title, width, f"Consistency by distance. {words}.")


def _rows(found: Iterable[tuple[str, Told]]) -> list[dict[str, Any]]:
    rows = [{"name": name, **one.to_dict()} for name, one in found]
    if not rows:
        raise BadInput("There is nothing to draw: no estimate was given.")
    return rows


def _known(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of a table with None for NaN, which JSON does not have."""
    return {name: None if isinstance(v, float) and math.isnan(v) else v for name, v in row.items()}


def _described(rows: Iterable[Mapping[str, Any]]) -> str:
    """What bars show, in words."""
    lines = (
        f"{row['name']}: {row['measure']} {row['value']:.3f}, interval {row['low']:.3f} to {row['high']:.3f}"
        for row in rows
    )
    return "; ".join(lines) + "."


def _chart(spec: dict[str, Any], title: str, width: int, description: str, key: Sequence[str] = ()) -> "alt.LayerChart":
    from faithscope.charts.offline import OfflineChart

    # Vega draws no subtitle under an empty title, so a key without a title is the title itself.
    alone = {"text": list(key), "fontSize": 11, "fontWeight": "normal", "color": LIGHT["muted"]}
    heading: dict[str, Any] = {"title": {"text": title, "subtitle": list(key)} if title else alone}
    heading = heading if title or key else {}
    looks = {"description": description, "width": width, "config": theme(LIGHT)}
    chart: alt.LayerChart = OfflineChart.from_dict({**spec, **heading, **looks})
    return chart
