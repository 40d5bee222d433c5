"""How often a process that runs for long looks for cycles of garbage."""

import gc

_OBJECTS_BETWEEN_COLLECTIONS = 10_000


def collect_seldom() -> None:
    """Keep what there is for good, and look through what comes seldom.

    For a process that has made all that stays, and whose work makes next to nothing that refers to
    itself: as often as Python does by default, it takes a seventh of a localnet's time and a fifth
    of a Leader's.
    """
    gc.freeze()
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
