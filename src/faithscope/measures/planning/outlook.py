"""Outlook: what a sample says about smaller and larger samples, and the rows that a wanted share takes."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from faithscope.counting.profile import Profile
from faithscope.measures.estimate import unverifiable as unverifiable_share
from faithscope.measures.planning.band import Band
from faithscope.measures.planning.forecast import Mixture
from faithscope.measures.planning.rarefaction import rarefy

NEAR = 4  # times n: there is no point forecast beyond
FARTHEST = 10  # times n: there is no interval beyond
ONCE = "every explanation occurred once, so nothing is known about how they repeat"
_ODD = (
    "explanations repeat as those of independent rows hardly ever do (are rows logged twice, or chosen by explanation, "
    "or does one row lie under most rules?)"
)


@dataclass(frozen=True, eq=False)
class Outlook:
    """What a sample says about smaller and larger samples: the exact curve, the forecast, and its band."""

    profile: Profile
    unverifiable: float
    mixture: Mixture | None
    band: Band

    @classmethod
    def of(cls, profile: Profile, confidence: float) -> "Outlook":
        rows = profile.rows.astype(np.float64)
        mixture = Mixture.fit(profile.others, rows) if profile.n > 1 else None
        return cls(profile, unverifiable_share(profile), mixture, Band.of(profile.others, rows, confidence))

    @property
    def n(self) -> int:
        return self.profile.n

    @property
    def why_not(self) -> str | None:
        """Why there is no point forecast; None if there is."""
        if self.mixture is None:
            return ONCE
        return _ODD if self.band.odd else None

    def at(self, rows: float) -> float:
        """The unverifiable share at so many rows; NaN beyond n if there is no forecast."""
        if rows <= self.n:
            return rarefy(self.profile, int(rows))[1]
        return self._point(rows, self.interval(rows))

    def _point(self, rows: float, interval: tuple[float, float]) -> float:
        low, high = interval  # the mixture that is stopped early may leave the band
        return math.nan if self.why_not else min(self.unverifiable, max(low, min(high, self._foreseen(rows))))

    def _foreseen(self, rows: float) -> float:
        """The share that the mixture foresees."""
        return math.nan if self.mixture is None else self.mixture.silent(self._times(rows))

    def interval(self, rows: float) -> tuple[float, float]:
        return (self.at(rows),) * 2 if rows <= self.n else (self.low(rows), self.high(rows))

    def low(self, rows: float) -> float:
        """The lower end beyond n; no more than these rows show, although their number may be a chance result."""
        return min(self.unverifiable, self.band.low(self._times(rows)))

    def high(self, rows: float) -> float:
        return self.band.high(self._times(rows))

    def _times(self, rows: float) -> float:
        return (rows - 1) / (self.n - 1)

    def curve(self) -> dict[str, list[Any]]:
        """The columns of `Plan.curve`."""
        known = [int(rows) for rows in np.unique(np.geomspace(1, self.n, 60).round())]
        exact = [rarefy(self.profile, rows) for rows in known]
        forecast = {rows: self.interval(rows) for rows in self._beyond()}
        silent = [share for _, share in exact]
        points = [self._point(rows, ends) if rows <= NEAR * self.n else math.nan for rows, ends in forecast.items()]
        return {
            "n": [*known, *forecast],
            "unverifiable": silent + points,
            "low": silent + [low for low, _ in forecast.values()],
            "high": silent + [high for _, high in forecast.values()],
            "value": [value for value, _ in exact] + [math.nan] * len(forecast),
            "kind": ["exact"] * len(known) + ["interval" if math.isnan(point) else "forecast" for point in points],
        }

    def _beyond(self) -> list[int]:
        """Numbers of rows from n to 10 n, 4 n among them."""
        parts = np.geomspace(1, NEAR, 9)[1:], np.geomspace(NEAR, FARTHEST, 6)[1:]
        rows = np.unique(np.concatenate(parts) * self.n).round()
        return [int(many) for many in np.unique(rows) if many > self.n > 1]

    def needed(self, wanted: float) -> "Needed":
        """The rows that a wanted share takes."""
        if self.unverifiable <= wanted:
            return Needed(*(_first(lambda m: rarefy(self.profile, m)[1] <= wanted, 1, self.n),) * 3)
        if self.n == 1:
            return Needed(None, None, None)
        low, high = self._reached(self.low, wanted), self._reached(self.high, wanted)
        return Needed(None if self.why_not else self._point_needed(low, high, wanted), low, high)

    def _point_needed(self, low: int | None, high: int | None, wanted: float) -> int | None:
        """Rows at which the point, which never leaves the band, reaches the wanted share; None beyond 4 n."""
        never = FARTHEST * self.n + 1
        rows = max(low or never, min(high or never, self._reached(self._foreseen, wanted) or never))
        return rows if rows <= NEAR * self.n else None

    def _reached(self, share: Callable[[float], float], wanted: float) -> int | None:
        """The least rows beyond n at which a falling share is at most the wanted one; None beyond 10 n."""
        least, most = self.n + 1.0, float(FARTHEST * self.n)
        if share(most) > wanted:
            return None
        if share(least) <= wanted:
            return self.n + 1
        from scipy.optimize import brentq  # imported late, as in `band`

        return math.ceil(float(brentq(lambda rows: share(rows) - wanted, least, most, xtol=0.01)))


@dataclass(frozen=True)
class Needed:
    """Rows needed, and their interval."""

    rows: int | None
    low: int | None
    high: int | None

    def reason(self, outlook: Outlook, wanted: float, confidence: float) -> str:
        """The same in words."""
        n, target, sure = outlook.n, f"{wanted:.1%} unverifiable", f"{100 * confidence:g}%"
        if self.rows is not None and self.rows <= n:
            return f"{self.rows:,} rows would do for {target}"
        most = f"more than {FARTHEST * n:,}"
        many = f"{most} rows, {FARTHEST} times as many, are needed for {target} ({sure} confidence)"
        if outlook.why_not:
            return f"not forecastable: {outlook.why_not}{f'; {many}' if n > 1 and self.low is None else ''}"
        if self.low is None:
            return many
        between = f"{self.low:,} to {most if self.high is None else f'{self.high:,}'}"
        if self.rows is None:
            return f"{between} rows in all are needed for {target} ({sure} interval)"
        return f"about {self.rows:,} rows in all are needed for {target} ({sure} interval: {between})"


def _first(enough: Callable[[int], bool], low: int, high: int) -> int:
    """Smallest integer in [low, high] with enough(m), by bisection. Requires: enough is monotone, and true at high."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle + 1, high)
    return low
