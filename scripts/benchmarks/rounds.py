"""Interleaved rounds. The compared measures take turns, so slow periods affect all of them."""

from collections.abc import Callable, Mapping


def interleaved(count: int, measures: Mapping[str, Callable[[], float]]) -> dict[str, list[float]]:
    """Return the values of each measure. A list has one value for each round."""
    values: dict[str, list[float]] = {name: [] for name in measures}
    for turn in range(count):
        order = list(measures)
        # Rotate the order, so that no measure always follows the same expensive measure.
        for name in order if turn % 2 == 0 else reversed(order):
            values[name].append(measures[name]())
    return values
