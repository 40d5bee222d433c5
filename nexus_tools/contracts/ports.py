"""Conversion of ports, which are JSON values by name, into arguments of transactions."""

from collections.abc import Mapping
from typing import Any

from nexus_tools.contracts.move_bindings import value
from nexus_tools.contracts.move_bindings.value import Ports, Value
from nexus_tools.sui.bcs import byte_vector, vector
from nexus_tools.sui.bindings.runtime import Package
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.transaction import Argument, Result
from nexus_tools.sui.types.type_tag import Primitive, VectorTag
from nexus_tools.tool import encode_ports

_PART = VectorTag(VectorTag(Primitive.U8))


def ports_of(document: Mapping[str, Any]) -> Ports:
    """Return ports with inline values, sorted by name. Each value is canonical JSON text.

    Raises `json_invalid`, `port_name_invalid` or `too_many_ports`.
    """
    return Ports.bcs.decode(encode_ports(document))


def make_ports(builder: TransactionBuilder, package: Package, ports: Ports) -> Result:
    """Add the commands that create ports in a transaction."""
    names = [name for name, _ in ports.values]
    return value.ports(
        builder,
        package,
        names,
        [_value_argument(builder, package, port_value) for _, port_value in ports.values],
    )


def _value_argument(
    builder: TransactionBuilder, package: Package, port_value: Value.Variant
) -> Argument:
    match port_value:
        case Value.Inline(json):
            return value.inline(builder, package, json)
        case Value.InlineChunks(chunks):
            return value.inline_chunks(builder, package, chunks)
        case Value.InlineList(parts):
            # Each part is a separate argument, because a list may exceed the size of an argument.
            arguments = [builder.pure(vector(byte_vector), part) for part in parts]
            return value.inline_list(builder, package, builder.make_move_vec(arguments, _PART))
        case Value.Remote(storage, key):
            return value.remote(builder, package, storage, key)
        case Value.RemoteList(storage, keys):
            return value.remote_list(builder, package, storage, keys)
