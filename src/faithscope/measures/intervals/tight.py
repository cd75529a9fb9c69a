"""The tight interval of consistency: rows with one companion, or two, tell of those that have none.

Let a row with c others count b_c instead of 1: ``b_1 = 1 + κ``, ``b_2 = 1 - (κ²/2) (n-1)/(n-2)``, and 1 from three
others on. With ``n M' = Σ b s/c`` and ``n D' = Σ b (1 - s/c)``, where s of the c others agree,
``E[M'] <= m <= E[1 - D']`` for n > 2, every system and every κ (docs/proofs.md has the proof). So what is left
open is about ``h_0 - κ h_1 + κ² h_2 / 2`` instead of h_0, where h_c is the share of rows with c others. κ = 0 is the
paper's.
"""

import math
from functools import partial

import numpy as np

from faithscope.counting.leave_out import parts_left_out
from faithscope.counting.profile import Profile
from faithscope.inputs.array_types import Floats
from faithscope.inputs.chunks import over_chunks
from faithscope.measures.intervals.local import chernoff, log_choose
from faithscope.measures.intervals.margins import (
    Bracket,
    Deviations,
    LeftOutDeviations,
    Margins,
    check_confidence,
    margins,
)

KAPPAS = np.linspace(0.0, 2.0, 41)
_POWERS = 5  # of what explanations add, from 0 to 4, of which intervals read sums
_DRAWN = np.array([2.0, 3.0, 4.0, 1.0])  # rows of an explanation that is taken as one draw; larger ones, row by row
_ROUNDING = 1e-12  # ends of intervals that are nearer than this are the same
_WIDTH = 4  # numbers worked on per row
_FLAT = 1e-7  # of the mean square of what rows add, below which it is rounding; the least margin is larger


def equality_margins(profile: Profile, method: str, confidence: float) -> Margins:
    """Margins of consistency by a method.

    By default they are about the narrowest bracket, over κ, and never wider than the plain ones of the jackknife. It is
    taken among those whose bracket does not cross, and does not contradict what rows say as they are (κ = 0); of those
    as narrow the first, so that the order in which rows were added decides nothing.
    """
    n = float(profile.n)
    known = LeftOutDeviations.of(parts_left_out(profile.parts())[1]) if n > 1 else None
    plain = margins(known, n, confidence)
    if method == "jackknife":
        return plain
    if method in ("proven", "mcdiarmid"):
        found = (proven if method == "proven" else mcdiarmid)(profile, confidence)
        return Margins(*found, verified=plain.verified, again=partial(equality_margins, profile, method))
    if known is None or n < 3:  # no row has two others
        return plain
    # Over explanations of 2, 3 and 4 rows, the sums of Tᵏ for k from 0 to 4, with T what they add to n·M̂; and over rows
    # of larger explanations, the sums of tᵏ, with t how much of T is lost without the row.
    columns = profile.others, profile.agreeing, profile.pairs, profile.rows

    def drawn(start: int, stop: int) -> Floats:
        others, agreeing, pairs, rows = (column[start:stop] for column in columns)
        added = pairs / np.where(others > 0, others, np.inf)
        lost = added - (pairs - 2 * agreeing) / np.maximum(others - 1.0, 1.0)
        sums = np.empty((len(_DRAWN), _POWERS))
        for size, powers in zip(_DRAWN, sums, strict=True):
            chosen = others == size - 1 if size > 1 else others >= _DRAWN.max()
            values, power = (added if size > 1 else lost)[chosen], rows[chosen] / size
            for k in range(_POWERS):
                powers[k] = power.sum()
                power *= values
        return sums

    agreeing = np.sum(over_chunks(drawn, len(profile.rows), _WIDTH), axis=0)
    # The same sums of what they add to n·(1 - M̂ - U).
    opposite, rest = -np.ones((len(_DRAWN), 1)), -_DRAWN[:, None]
    disagreeing = np.concatenate([_moved(agreeing, opposite, rest, k) for k in range(_POWERS)], axis=1)
    one = np.ones(len(KAPPAS))
    weights = np.stack([1 + KAPPAS, 1 - KAPPAS**2 / 2 * (n - 1) / (n - 2), one, one])  # of rows with 1, 2, 3, 4… others
    low, high = agreeing[:, 1] @ weights / n, 1 - disagreeing[:, 1] @ weights / n
    possible = (low <= np.minimum(high, high[0]) + _ROUNDING) & (high >= low[0] - _ROUNDING)
    possible[0] = True
    low, high, kappas, weights = low[possible], high[possible], KAPPAS[possible], weights[:, possible]
    alone, scale, ends = profile.terms.silent, max(1.0, n - 1), []
    for table, mean in ((agreeing, low), (disagreeing, 1 - high)):
        # An explanation of up to four rows is one draw, which adds b T for its N rows: it differs by b T - θ N with θ
        # the mean. Leaving out its rows one by one would count its variance twice.
        center = _DRAWN[:, None] * mean
        second, third, fourth = (
            alone * (-mean) ** k + _moved(table, weights, center, k).sum(axis=0) for k in (2, 3, 4)
        )
        fourth = np.maximum(fourth, second**2 / n)
        largest = np.where(second > _FLAT * n, 1.0, 0.0)
        spreads = np.stack([largest, second / scale**2, -third / scale**3, fourth / scale**4], axis=1)
        ends.append([Deviations(n, *each) for each in spreads.tolist()])
    wrong, high = check_confidence(confidence) / 2, np.maximum(low, high)
    least = 2 * (1 + kappas) * math.log(1 / wrong) / n
    under, over = (np.array([each.margin(wrong)[0] for each in end]) for end in ends)
    top = np.minimum(1.0, high + np.maximum(over, least))
    bottom = np.maximum(0.0, low - np.maximum(under, least))
    wide = top - bottom
    best = int(np.argmax(wide <= wide.min() + _ROUNDING))
    whole = min(1.0, high[0] + plain.above) - max(0.0, low[0] - plain.below)
    if whole < wide[best] - _ROUNDING:
        return plain
    # Triples that count less than nothing may take an end out of [0, 1], where the measure is not.
    bracket = Bracket(max(0.0, float(low[best])), min(1.0, float(high[best])), float(kappas[best]))
    known = known._replace(value=ends[0][best], upper=ends[1][best])
    return margins(known, n, confidence, bracket=bracket)


def _moved(sums: Floats, weight: Floats, center: Floats, k: int) -> Floats:
    """The sum of ``(weight T - center)ᵏ`` over the draws of each kind, (m, κs).

    Parameters
    ----------
    sums : (m, 5) array
        The sums of the powers of T, from 0 to 4, over m kinds of draws.
    weight, center : (m, κs) arrays
    """
    parts = [math.comb(k, j) * sums[:, j, None] * weight**j * (-center) ** (k - j) for j in range(k + 1)]
    return np.asarray(np.sum(parts, axis=0))


def mcdiarmid(profile: Profile, confidence: float) -> tuple[float, float]:
    """Margins that hold for any model, explainer and population, from n alone.

    Replacing one row changes n·M̂ by at most 3 and n·(M̂ + U) by at most 2, so McDiarmid's inequality applies. Of N rows
    with one explanation, let row i agree with the others by A in all, and these with each other by P (ordered pairs).
    Without row i, n·M̂ changes by ``P / ((N-1)(N-2)) - 2A / (N-1)``, from -2 to 1 for any agreement from 0 to 1; and a
    row that replaces another is left out once and added once. The disagreement n·(1 - M̂ - U) changes by the same
    formula; if ``1 - K`` obeys the triangle inequality, as for labels and `Close`, then P <= 2 (N-2) A, and it never
    rises. `Tolerance` does not obey it, nor need one's own function: there 3 is the bound on both sides.
    """
    tail = math.log(2 / check_confidence(confidence)) / profile.n
    return math.sqrt(4.5 * tail), math.sqrt((2 if profile.agreement.convex else 4.5) * tail)


def proven(profile: Profile, confidence: float) -> tuple[float, float]:
    """Margins that hold for any model, explainer and population: the better of `mcdiarmid`'s and those of pairs.

    Each holds with half of what may be wrong. Let a third of the rows, drawn at random, *open*: each is compared with
    one row of its explanation that does not, its own; openers beyond these are silent. Openers are independent draws,
    and so are their partners given the explanation. So k openers have independent agreements with mean m, of which
    silence hides some, and Chernoff's bound holds of their mean. It holds as well of its average over all ways of
    drawing and matching (Hoeffding 1963, section 5), which needs no draws at all: of N rows with one explanation, any
    two are as likely to be matched, and how many are depends on N alone.
    """
    wrong = check_confidence(confidence) / 4
    below, above = mcdiarmid(profile, 1 - 2 * wrong)
    openers = profile.n // 3
    if not openers:
        return below, above
    sizes, place = np.unique(profile.others + 1, return_inverse=True)
    matched = np.array([_matches(int(size), openers, profile.n) / size for size in sizes])[place] * profile.rows
    share = profile.agreeing / np.maximum(profile.others, 1)
    agreeing = np.array([np.sum(matched * share), np.sum(matched * (1 - share))])
    low, lost = chernoff(np.minimum(agreeing, openers), np.full(2, openers), 1 - 2 * wrong)[0].tolist()
    value, silent = profile.terms.agreeing / profile.n, profile.terms.silent / profile.n
    return min(below, value - low), min(above, 1 - lost - value - silent)


def _matches(size: int, openers: int, n: int) -> float:
    """How many openers among so many rows of one explanation have a partner, in the mean; `openers` of n rows open."""
    opening = np.arange(max(0, size - (n - openers)), min(size, openers) + 1)
    chance = np.exp(log_choose(size, opening) + log_choose(n - size, openers - opening) - log_choose(n, openers))
    return float(chance @ np.minimum(opening, size - opening))
