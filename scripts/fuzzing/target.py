"""The interface of fuzz targets: an input of bytes, and a check that must hold for all bytes."""

from importlib import import_module
from typing import Protocol, cast

from hypothesis.strategies import SearchStrategy

TARGETS = ("reader", "verifier", "programs", "bcs", "transactions", "rpc", "bindings")


class Target(Protocol):
    """A module of this package with these two functions."""

    def inputs(self) -> SearchStrategy[bytes]:
        """Return the strategy that generates inputs."""

    def check(self, data: bytes) -> str:
        """Use one input, and return one word for its result. Any exception is a finding.

        The same input always has the same result, so a saved input can be replayed.
        """


def load(name: str) -> Target:
    """Return the target of this name."""
    return cast("Target", import_module(f"fuzzing.{name}"))
