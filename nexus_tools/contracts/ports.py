"""JSON data by port name, on its way into a transaction."""

from collections.abc import Mapping
from typing import Any

from nexus_tools.contracts.move_bindings import value
from nexus_tools.contracts.move_bindings.value import Ports, Value
from nexus_tools.sui.bcs import byte_vector, vector
from nexus_tools.sui.bindings.runtime import Package
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.transaction import Argument, Result
from nexus_tools.sui.types.type_tag import Primitive, VectorTag
from nexus_tools.tool import encoded_ports

_PART = VectorTag(VectorTag(Primitive.U8))


def ports_of(document: Mapping[str, Any]) -> Ports:
    """Inline values from JSON, sorted by name and each in its canonical text.

    Raises `json_invalid`, `port_name_invalid` or `too_many_ports`.
    """
    return Ports.bcs.decode(encoded_ports(document))


def make_ports(builder: TransactionBuilder, package: Package, ports: Ports) -> Result:
    """All the commands that it takes to have ports in a transaction."""
    names = [name for name, _ in ports.values]
    return value.ports(
        builder, package, names, [_made(builder, package, each) for _, each in ports.values]
    )


def _made(builder: TransactionBuilder, package: Package, one: Value.Variant) -> Argument:
    match one:
        case Value.Inline(json):
            return value.inline(builder, package, json)
        case Value.InlineChunks(chunks):
            return value.inline_chunks(builder, package, chunks)
        case Value.InlineList(parts):
            # As a whole they may be longer than an argument.
            made = [builder.pure(vector(byte_vector), part) for part in parts]
            return value.inline_list(builder, package, builder.make_move_vec(made, _PART))
        case Value.Remote(storage, key):
            return value.remote(builder, package, storage, key)
        case Value.RemoteList(storage, keys):
            return value.remote_list(builder, package, storage, keys)
