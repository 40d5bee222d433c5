"""Calls of the module `value`: JSON data by port name."""

from collections.abc import Callable, Sequence
from typing import Any

from nexus_tools.registry.calls.call import ascii_text, call
from nexus_tools.registry.objects.value import (
    Inline,
    InlineChunks,
    InlineList,
    Ports,
    Remote,
    RemoteList,
    Value,
)
from nexus_tools.registry.package import Deployment
from nexus_tools.sui.bcs import string, vector
from nexus_tools.sui.builder import TransactionBuilder
from nexus_tools.sui.transaction import Argument, Result
from nexus_tools.sui.type_tag import Primitive, VectorTag

_BYTES = VectorTag(Primitive.U8)


def inline(builder: TransactionBuilder, deployment: Deployment, json: bytes) -> Result:
    """A JSON text, kept on chain."""
    return call(builder, deployment, "value::inline", builder.byte_vector(json))


def inline_chunks(
    builder: TransactionBuilder, deployment: Deployment, chunks: Sequence[bytes]
) -> Result:
    """A JSON text in chunks, kept on chain."""
    return call(builder, deployment, "value::inline_chunks", _byte_vectors(builder, chunks))


def inline_list(
    builder: TransactionBuilder, deployment: Deployment, jsons: Sequence[bytes]
) -> Result:
    """A list of JSON texts, kept on chain."""
    return call(builder, deployment, "value::inline_list", _byte_vectors(builder, jsons))


def remote(builder: TransactionBuilder, deployment: Deployment, storage: str, key: bytes) -> Result:
    """A JSON text in a storage outside the chain."""
    arguments = ascii_text(builder, storage), builder.byte_vector(key)
    return call(builder, deployment, "value::remote", *arguments)


def remote_list(
    builder: TransactionBuilder, deployment: Deployment, storage: str, keys: Sequence[bytes]
) -> Result:
    """A list of JSON texts in a storage outside the chain."""
    arguments = ascii_text(builder, storage), _byte_vectors(builder, keys)
    return call(builder, deployment, "value::remote_list", *arguments)


def ports(
    builder: TransactionBuilder,
    deployment: Deployment,
    names: Sequence[str],
    values: Sequence[Argument],
) -> Result:
    """The ports `names` with the `values` at the same places."""
    value_type = deployment.type("value", "Value")
    arguments = (
        builder.pure(vector(string), names),
        builder.make_move_vec(values, value_type),
    )
    return call(builder, deployment, "value::ports", *arguments)


def size(builder: TransactionBuilder, deployment: Deployment, of: Argument) -> Result:
    """The bytes that ports take in an object; gives a `u64`."""
    return call(builder, deployment, "value::size", of)


def make_ports(builder: TransactionBuilder, deployment: Deployment, value: Ports) -> Result:
    """All the calls that it takes to have ports in a transaction."""
    made = [_MAKERS[type(item)](builder, deployment, item) for _, item in value.values]
    return ports(builder, deployment, [name for name, _ in value.values], made)


def _byte_vectors(builder: TransactionBuilder, values: Sequence[bytes]) -> Result:
    return builder.make_move_vec([builder.byte_vector(value) for value in values], _BYTES)


_Maker = Callable[[TransactionBuilder, Deployment, Any], Result]
_MAKERS: dict[type[Value], _Maker] = {
    Inline: lambda builder, deployment, value: inline(builder, deployment, value.json),
    InlineChunks: lambda builder, deployment, value: inline_chunks(
        builder, deployment, value.chunks
    ),
    InlineList: lambda builder, deployment, value: inline_list(builder, deployment, value.jsons),
    Remote: lambda builder, deployment, value: remote(
        builder, deployment, value.storage, value.key
    ),
    RemoteList: lambda builder, deployment, value: remote_list(
        builder, deployment, value.storage, value.keys
    ),
}
