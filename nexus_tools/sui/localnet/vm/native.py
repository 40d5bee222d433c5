"""Native functions: Python functions that stand for functions without Move code.

Most are a `Native`. The other kinds are quicker, because what they need is known before the call.
"""

from collections.abc import Callable, Mapping
from typing import Any, Protocol, Self

from msgspec import Struct

from nexus_tools.sui.localnet.vm.runtime import Context
from nexus_tools.sui.localnet.vm.types import Types
from nexus_tools.sui.types.type_tag import TypeTag

Native = Callable[..., Any]
"""Gets the context, the type arguments and the arguments, references as objects."""

Charge = Callable[[Context, int], None]
"""How natives charge internal gas units."""


class PricedNative(Struct, frozen=True):
    """A native that is told its arguments alone, and whose cost is known before it is called.

    `implementation` gets of a reference what it refers to, and gives no references. `cost` is in
    internal gas units; if it is a function, by the length of the first argument, and never less for
    a greater length.
    """

    implementation: Callable[..., Any]
    cost: int | Callable[[int], int]
    charge: Charge


class HashState(Protocol):
    """An object of `hashlib`."""

    @property
    def digest_size(self) -> int:
        """How many bytes the digest has."""

    def copy(self) -> Self:
        """Another object that has seen the same bytes."""

    def update(self, data: bytearray, /) -> None:
        """Add bytes."""

    def digest(self) -> bytes:
        """The hash of all bytes."""


class HashNative(Struct, frozen=True):
    """A hash function of its only argument, bytes or a reference to bytes.

    `initial` has seen no bytes yet: copies of it are quicker made than other new ones. `cost` is as
    in `PricedNative`.
    """

    initial: HashState
    cost: Callable[[int], int]
    charge: Charge


class TypedNative(Struct, frozen=True):
    """A native of which there is one for each tuple of type arguments.

    `make` gives it when it is called first. It gets the context and the arguments, of a reference
    what it refers to; a reference that it gives is a container and a key, in a tuple.
    """

    make: Callable[[Types, tuple[TypeTag, ...]], Callable[..., Any]]


AnyNative = Native | PricedNative | HashNative | TypedNative
Natives = Mapping[tuple[bytes, str, str], AnyNative]
"""The natives by address, module and function."""
