"""Rows paired at random with rows of the same explanation: independent draws of agreement, whatever the time.

An arriving row is, by an independent coin, an *opener* or a *closer*. Within an explanation openers are matched with
closers at random, whatever their labels; rows left over wait. Openers in their order then have independent agreements
with their partners, and each has the consistency as its mean (`docs/statistics.md` proves it).

Of scopes that overlap, an opener has its own scope, and `assign` lets a coin choose which scope a closer serves.
"""

from faithscope.counting.pairing.assigning import ScopedArrivals, ScopedOpeners, assign
from faithscope.counting.pairing.cells import Arrivals, Assigned, Waiting
from faithscope.counting.pairing.pairs import Pairs, pair

__all__ = ["Arrivals", "Assigned", "Pairs", "ScopedArrivals", "ScopedOpeners", "Waiting", "assign", "pair"]
