"""The interface of fuzz targets: a strategy for inputs, and a check that each input must pass."""

from importlib import import_module
from typing import Protocol, cast

from hypothesis.strategies import SearchStrategy

TARGETS = ("reader", "verifier", "programs", "bcs", "transactions", "rpc", "bindings")


class Target(Protocol):
    """A module of this package with the functions `inputs` and `check`."""

    def inputs(self) -> SearchStrategy[bytes]:
        """Return the strategy that generates inputs."""

    def check(self, data: bytes) -> str:
        """Check one input, and return a word for its result. Any exception is a finding.

        An input must always have the same result, so that a saved input can be replayed.
        """


def load(name: str) -> Target:
    """Import the target of this name."""
    return cast("Target", import_module(f"fuzzing.{name}"))
