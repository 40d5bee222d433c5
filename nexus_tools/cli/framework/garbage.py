"""Tuning of the garbage collector for long-running processes."""

import gc

_OBJECTS_BETWEEN_COLLECTIONS = 10_000


def reduce_gc_frequency() -> None:
    """Freeze existing objects, and raise the threshold of the garbage collector.

    This is for processes whose long-lived objects all exist, and whose work creates almost no
    reference cycles. The default threshold costs a seventh of a localnet's time and a fifth of a
    Leader's.
    """
    gc.freeze()
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
