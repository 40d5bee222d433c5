"""Native functions: Python implementations of functions without Move code.

Most are a `Native`. The other kinds are faster, because their cost or types are known before the
call.
"""

from collections.abc import Callable, Mapping
from typing import Any, Protocol, Self

from msgspec import Struct

from nexus_tools.sui.localnet.vm.runtime import Context
from nexus_tools.sui.localnet.vm.types import Types
from nexus_tools.sui.types.type_tag import TypeTag

Native = Callable[..., Any]
"""A function of the context, the type arguments and the arguments, with references as objects."""

Charge = Callable[[Context, int], None]
"""A function that charges a native's internal gas units."""


class PricedNative(Struct, frozen=True):
    """A native that receives only its arguments, and whose cost is known before the call.

    `implementation` receives the target in place of a reference, and returns no references. `cost`
    is in internal gas units. If it is a function, it maps the length of the first argument to the
    cost and never decreases.
    """

    implementation: Callable[..., Any]
    cost: int | Callable[[int], int]
    charge: Charge


class HashState(Protocol):
    """A hash object of `hashlib`."""

    @property
    def digest_size(self) -> int:
        """The length of the digest in bytes."""

    def copy(self) -> Self:
        """Return a copy that has hashed the same bytes."""

    def update(self, data: bytearray, /) -> None:
        """Add bytes."""

    def digest(self) -> bytes:
        """Return the hash of all bytes."""


class HashNative(Struct, frozen=True):
    """A hash function of one argument: bytes, or a reference to bytes.

    `initial` has hashed no bytes yet, because copying it is faster than making a new one. `cost` is
    as in `PricedNative`.
    """

    initial: HashState
    cost: Callable[[int], int]
    charge: Charge


class TypedNative(Struct, frozen=True):
    """A native that is made separately for each tuple of type arguments.

    `make` returns it at the first call. The native receives the context and the arguments, with the
    target in place of a reference. It returns a reference as a tuple of container and key.
    """

    make: Callable[[Types, tuple[TypeTag, ...]], Callable[..., Any]]


AnyNative = Native | PricedNative | HashNative | TypedNative
Natives = Mapping[tuple[bytes, str, str], AnyNative]
"""The natives by address, module and function."""
