"""Random Protobuf messages of any definition, with values that exist on the network.

The messages are written directly as bytes, so that any field can be repeated or have another type.
"""

from collections.abc import Callable, Sequence
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from hypothesis import strategies as st

from fuzzing.mutation import mutated, weighted
from fuzzing.network import Network
from nexus_tools.sui.support.uleb128 import write_uleb128
from nexus_tools.sui.types.object import MoveObject

_DEPTH = 5
_VARINTS = {
    FieldDescriptor.TYPE_INT32,
    FieldDescriptor.TYPE_INT64,
    FieldDescriptor.TYPE_UINT32,
    FieldDescriptor.TYPE_UINT64,
    FieldDescriptor.TYPE_BOOL,
    FieldDescriptor.TYPE_ENUM,
    FieldDescriptor.TYPE_SINT32,
    FieldDescriptor.TYPE_SINT64,
}
_EIGHT_BYTES = {
    FieldDescriptor.TYPE_FIXED64,
    FieldDescriptor.TYPE_SFIXED64,
    FieldDescriptor.TYPE_DOUBLE,
}
_FOUR_BYTES = {
    FieldDescriptor.TYPE_FIXED32,
    FieldDescriptor.TYPE_SFIXED32,
    FieldDescriptor.TYPE_FLOAT,
}
_NUMBERS = st.one_of(
    st.integers(0, 12), st.sampled_from([2**31 - 1, 2**31, 2**32 - 1, 2**63, 2**64 - 1])
)
_DEEP = "vector<" * 200 + "u8" + ">" * 200


class Wire:
    """A generator of messages with the values of one network."""

    def __init__(self, network: Network) -> None:
        objects = network.objects()
        executed = network.node.ledger.transactions(0, 100)
        small = [
            transaction.data_bytes
            for transaction in executed
            if len(transaction.data_bytes) < 50_000
        ]
        tags = {str(value.type) for value in objects if value.type is not None}
        ids = [str(value.id) for value in objects]
        accounts = [str(account.address) for account in network.accounts]
        digests = [str(transaction.digest) for transaction in executed]
        packages = [str(network.probe), str(network.registry), "0x1", "0x2", "0x3"]
        self._texts = {
            "package": st.sampled_from(packages),
            "digest": st.sampled_from(digests),
            "type": st.sampled_from(sorted(tags)),
            "id": st.sampled_from([*ids, *packages]),
            "address": st.sampled_from(accounts),
            "owner": st.sampled_from(accounts),
            "sender": st.sampled_from(accounts),
            "module": st.sampled_from(["probe", "tool_registry", "coin", "transfer"]),
            "name": st.sampled_from(["Thing", "Coin", "join", "new_thing", "register"]),
            "function": st.sampled_from(["join", "new_thing", "sum", "public_transfer"]),
        }
        self._any_text = st.one_of(
            *self._texts.values(),
            st.sampled_from(["", "*", "0x", "0x2::sui::SUI", "1", "-1", "1e9", "null", _DEEP]),
            st.text(max_size=12),
        )
        signatures = [bytes(one) for transaction in executed for one in transaction.signatures]
        moves = [value.data for value in objects if isinstance(value.data, MoveObject)]
        contents = [data.contents for data in moves]
        self._bytes = st.one_of(
            mutated(small, 2), mutated(signatures, 2), mutated(contents, 2), st.binary(max_size=40)
        )

    def message(
        self, descriptor: Descriptor, response: Descriptor | None = None
    ) -> st.SearchStrategy[bytes]:
        """Return messages of a type. Field masks in a message name fields of `response`."""

        @st.composite
        def draw_message(draw: st.DrawFn) -> bytes:
            return self._message(draw, descriptor, response, 0)

        return draw_message()

    def _message(
        self,
        draw: Callable[[Any], Any],
        descriptor: Descriptor,
        response: Descriptor | None,
        depth: int,
    ) -> bytes:
        if descriptor.full_name == "google.protobuf.FieldMask":
            return _mask(draw, response)
        fields = [
            field
            for field in descriptor.fields
            if depth < _DEPTH or field.type != FieldDescriptor.TYPE_MESSAGE
        ]
        if not fields:
            return b""
        chosen = draw(st.lists(st.sampled_from(range(len(fields))), max_size=5))
        return b"".join(self._field(draw, fields[place], response, depth) for place in chosen)

    def _field(
        self,
        draw: Callable[[Any], Any],
        field: FieldDescriptor,
        response: Descriptor | None,
        depth: int,
    ) -> bytes:
        if field.type in _VARINTS:
            return _key(field, 0) + _varint(draw(_NUMBERS))
        value: bytes
        if field.type in _EIGHT_BYTES:
            value = draw(st.binary(min_size=8, max_size=8))
            return _key(field, 1) + value
        if field.type in _FOUR_BYTES:
            value = draw(st.binary(min_size=4, max_size=4))
            return _key(field, 5) + value
        if field.message_type is not None:
            value = self._message(draw, field.message_type, response, depth + 1)
        elif field.type == FieldDescriptor.TYPE_STRING:
            value = draw(self._text(field.name)).encode()
        else:
            value = draw(self._bytes)
        return _key(field, 2) + _varint(len(value)) + value

    def _text(self, name: str) -> st.SearchStrategy[str]:
        """Return texts for a field. Most texts are suitable for a field of this name."""
        fitting = [text for word, text in self._texts.items() if word in name]
        if not fitting:
            return self._any_text
        return weighted((4, fitting[0]), (1, self._any_text))


def _mask(draw: Callable[[Any], Any], response: Descriptor | None) -> bytes:
    """Return a field mask with existing paths of any depth, and with other paths."""
    paths: Sequence[str] = draw(
        st.lists(
            st.one_of(
                st.lists(st.integers(0, 40), min_size=1, max_size=5).map(
                    lambda places: _path(response, places)
                ),
                st.sampled_from(["*", "", "a.b", ".", "bcs." * 50, "bcs.value", "contents"]),
            ),
            max_size=4,
        )
    )
    written = [path.encode() for path in paths]
    return b"".join(b"\x0a" + _varint(len(path)) + path for path in written)


def _path(descriptor: Descriptor | None, places: Sequence[int]) -> str:
    names = []
    for place in places:
        if descriptor is None or not descriptor.fields:
            break
        field = descriptor.fields[place % len(descriptor.fields)]
        names.append(field.name)
        descriptor = field.message_type
    return ".".join(names)


def _key(field: FieldDescriptor, wire_type: int) -> bytes:
    return _varint(field.number << 3 | wire_type)


def _varint(value: int) -> bytes:
    out = bytearray()
    write_uleb128(value, out)
    return bytes(out)
