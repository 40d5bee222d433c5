"""What can be fuzzed: one input as bytes, and what has to hold whatever the bytes are."""

from importlib import import_module
from typing import Protocol, cast

from hypothesis.strategies import SearchStrategy

TARGETS = ("reader", "verifier", "programs", "bcs", "transactions", "rpc", "bindings")


class Target(Protocol):
    """A module of this package with these two functions."""

    def inputs(self) -> SearchStrategy[bytes]:
        """How inputs are made."""

    def check(self, data: bytes) -> str:
        """Use one input, and say in a word how it ended; any exception is a finding.

        The same input always ends in the same way, so that a saved one can be used again.
        """


def load(name: str) -> Target:
    """The target of this name."""
    return cast("Target", import_module(f"fuzzing.{name}"))
