"""Interleaved rounds: what is compared takes turns, so that a busy minute slows all of it."""

from collections.abc import Callable, Mapping


def interleaved(count: int, measures: Mapping[str, Callable[[], float]]) -> dict[str, list[float]]:
    """The values of each measure, one for each round."""
    values: dict[str, list[float]] = {name: [] for name in measures}
    for turn in range(count):
        order = list(measures)
        # Nothing is always the first after something heavy.
        for name in order if turn % 2 == 0 else reversed(order):
            values[name].append(measures[name]())
    return values
