"""How a call of the package is put into a transaction."""

from nexus_tools.registry.package import Deployment
from nexus_tools.sui.address import MOVE_STDLIB, Address
from nexus_tools.sui.bcs import string
from nexus_tools.sui.builder import MAX_PURE_BYTES, TransactionBuilder
from nexus_tools.sui.transaction import Argument, Result
from nexus_tools.sui.type_tag import TypeTag

ObjectInput = Address | Argument
"""An object by its id, or one that an earlier command of the transaction gives."""

_LENGTH_BYTES = 3


def call(
    builder: TransactionBuilder,
    deployment: Deployment,
    function: str,
    *arguments: Argument,
    types: tuple[TypeTag, ...] = (),
) -> Result:
    """Call `module::function` of the newest version of the package."""
    module, _, name = function.partition("::")
    return builder.move_call(deployment.package_id, module, name, arguments, types)


def changed(builder: TransactionBuilder, value: ObjectInput) -> Argument:
    """An object that the call changes or takes."""
    return builder.object(value, mutable=True) if isinstance(value, Address) else value


def read(builder: TransactionBuilder, value: ObjectInput) -> Argument:
    """An object that the call only reads: shared ones are read by any number at once."""
    return builder.object(value, mutable=False) if isinstance(value, Address) else value


def ascii_text(builder: TransactionBuilder, text: str) -> Argument:
    """A `std::ascii::String` of any length."""
    return _text(builder, text, "ascii", "string")


def text(builder: TransactionBuilder, value: str) -> Argument:
    """A `std::string::String` of any length."""
    return _text(builder, value, "string", "utf8")


def _text(builder: TransactionBuilder, value: str, module: str, function: str) -> Argument:
    encoded = value.encode()
    if len(encoded) <= MAX_PURE_BYTES - _LENGTH_BYTES:
        return builder.pure(string, value)
    joined = builder.byte_vector(encoded)
    return builder.move_call(MOVE_STDLIB, module, function, [joined])
