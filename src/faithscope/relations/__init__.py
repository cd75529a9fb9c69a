"""Relations, the paper's R: which rows an explanation covers.

``dir(faithscope.relations)`` lists those there are. `Relation` is the base of all, and `Custom` is what a function
becomes.
"""

from faithscope.relations.base import Beside as Beside
from faithscope.relations.base import Blocks as Blocks
from faithscope.relations.base import Parts as Parts
from faithscope.relations.base import Relation, Same
from faithscope.relations.judged import Judged
from faithscope.relations.judged import JudgedPairs as JudgedPairs
from faithscope.relations.judged import bind as bind
from faithscope.relations.judged import check_rows as check_rows
from faithscope.relations.kinds import Alike, Applies, Ball, Custom, Nearest, Within
from faithscope.relations.kinds import says_where as says_where
from faithscope.relations.kinds import to_relation as to_relation
from faithscope.relations.kinds import vectors as vectors

__all__ = ["Alike", "Applies", "Ball", "Custom", "Judged", "Nearest", "Relation", "Same", "Within"]


def __dir__() -> list[str]:
    return [name for name in __all__ if name not in ("Custom", "Relation")]
