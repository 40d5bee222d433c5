"""Tuning of the garbage collector for long-running processes."""

import gc

_OBJECTS_BETWEEN_COLLECTIONS = 10_000


def reduce_gc_frequency() -> None:
    """Freeze existing objects, and raise the threshold of the garbage collector.

    Call this function after all long-lived objects exist, in a process that creates almost no
    reference cycles. With the default threshold, collections take a seventh of a localnet's time,
    and a fifth of a Leader's time.
    """
    gc.freeze()
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
