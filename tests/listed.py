"""Every public name: those that `faithscope` lists, and those that it lists one level down."""

import faithscope as fs
from faithscope.lazily import MEASURES, NAMES, RESULTS


def names(room):
    """The public names of a module."""
    if room is not fs:
        return room.__all__
    below = (name for homes in (NAMES, MEASURES, RESULTS) for each in homes.values() for name in each.split())
    return sorted({*fs.__all__, *below})
