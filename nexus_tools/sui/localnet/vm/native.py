"""The kinds of native functions, which are Python implementations of functions without Move code.

Most native functions are of the kind `Native`. The other kinds are faster, because their cost or
types are known before the call.
"""

from collections.abc import Callable, Mapping
from typing import Any, Protocol, Self

from msgspec import Struct

from nexus_tools.sui.localnet.vm.runtime import Context
from nexus_tools.sui.localnet.vm.types import Types
from nexus_tools.sui.types.type_tag import TypeTag

Native = Callable[..., Any]
"""A function that receives the context, the type arguments, and the arguments.

References are passed as `Reference` objects.
"""

Charge = Callable[[Context, int], None]
"""A function that charges internal gas units for a call of a native function."""


class PricedNative(Struct, frozen=True):
    """A native function that receives only its arguments.

    The cost of the native function is known before the call.

    `implementation` receives the target of a reference instead of the reference, and returns no
    references. `cost` is in internal gas units. If `cost` is a function, it maps the length of the
    first argument to the cost, and the cost must not decrease with the length.
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
        """Return a copy of the hash object with the same state."""

    def update(self, data: bytearray, /) -> None:
        """Add bytes."""

    def digest(self) -> bytes:
        """Return the hash of all bytes."""


class HashNative(Struct, frozen=True):
    """A native hash function whose only argument is bytes or a reference to bytes.

    Each call copies `initial`, which has hashed no bytes yet. Copying is faster than creating a
    hash object. `cost` maps the length of the argument to the cost, as in `PricedNative`.
    """

    initial: HashState
    cost: Callable[[int], int]
    charge: Charge


class TypedNative(Struct, frozen=True):
    """A native function with a separate implementation for each tuple of type arguments.

    `make` returns the implementation at the first call. The implementation receives the context and
    the arguments. If an argument is a reference, the implementation receives the target. If the
    implementation returns a reference, it returns a tuple of container and key.
    """

    make: Callable[[Types, tuple[TypeTag, ...]], Callable[..., Any]]


AnyNative = Native | PricedNative | HashNative | TypedNative
Natives = Mapping[tuple[bytes, str, str], AnyNative]
"""The native functions by address, module name and function name."""
