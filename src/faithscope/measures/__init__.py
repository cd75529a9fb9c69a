"""Counts in, answers out.

Measures for everyday use are names of `faithscope` itself; ``dir(faithscope.measures)`` lists the others: what a
measure is made of, bounds, decoders and curves.
"""

from typing import TYPE_CHECKING

from faithscope.lazily import MEASURES, loads

if TYPE_CHECKING:
    from faithscope.counting.counts import Counts, count
    from faithscope.measures.decoders import GibbsDecoder, OptimalDecoder
    from faithscope.measures.intervals.bounds import local_sample_size, mse_bound, sample_size
    from faithscope.measures.tolerance import tolerance_curve
    from faithscope.measures.within import within_curve
    from faithscope.populations import pairs_to_ask
    from faithscope.sample import Sample

__all__ = [
    "Counts",
    "GibbsDecoder",
    "OptimalDecoder",
    "Sample",
    "count",
    "local_sample_size",
    "mse_bound",
    "pairs_to_ask",
    "sample_size",
    "tolerance_curve",
    "within_curve",
]


def __dir__() -> list[str]:
    return __all__


__getattr__ = loads(__name__, MEASURES)
