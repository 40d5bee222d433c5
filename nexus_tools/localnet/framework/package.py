"""A framework package: one of the three that are there before anything is published."""

from nexus_tools.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class FrameworkPackage:
    """The module files of a framework package, in the order in which it was built.

    `address` and `dependencies` are addresses of 32 bytes; the dependencies are transitive.
    """

    address: bytes
    modules: tuple[bytes, ...]
    dependencies: tuple[bytes, ...]
