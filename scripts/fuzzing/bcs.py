"""BCS and the other codecs: each rejects bytes, or it encodes the decoded value to the same bytes.

An input is the number of a codec, followed by bytes for the codec.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from hypothesis import strategies as st

from fuzzing.corpus import vectors
from fuzzing.finding import Broken
from fuzzing.mutation import mutated, weighted
from fuzzing.network import Network, network
from nexus_tools.errors import NotAllowedError, ValidationError
from nexus_tools.sui.bcs import BcsError, Codec
from nexus_tools.sui.localnet.vm import MoveFailure
from nexus_tools.sui.signature import UserSignature
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.checkpoint import ANY_CHECKPOINT_CONTENTS, CHECKPOINT_SUMMARY
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.effects_v1 import ANY_EFFECTS
from nexus_tools.sui.types.event import EVENTS
from nexus_tools.sui.types.object import OBJECT, MoveObject
from nexus_tools.sui.types.transaction import SIGNED_TRANSACTION, TRANSACTION_DATA
from nexus_tools.sui.types.type_tag import TYPE_TAG, TypeTag, parse_type_tag

_DEEP = b"\x06" * 70 + b"\x01"
_WIDE = b"\x07" + bytes(32) + b"\x01m\x01N\xff\xff\xff\xff\x0f"


@dataclass(frozen=True, slots=True)
class Subject:
    """A named codec, with genuine bytes that it can decode."""

    name: str
    read_and_write: Callable[[bytes], bytes]
    genuine: tuple[bytes, ...]


def inputs() -> st.SearchStrategy[bytes]:
    """Return mutated genuine values, and some random bytes."""
    return st.integers(0, len(subjects()) - 1).flatmap(
        lambda number: weighted(
            (9, mutated(subjects()[number].genuine)), (1, st.binary(max_size=100))
        ).map(lambda data: bytes([number]) + data)
    )


def check(data: bytes) -> str:
    """Decode the input, encode the value, and compare the bytes."""
    subject = subjects()[data[0] % len(subjects())]
    value = data[1:]
    try:
        written = subject.read_and_write(value)
    except BcsError:
        return "refused"
    if written != value:
        raise Broken(f"{subject.name} is not canonical: {value.hex():.200} -> {written.hex():.200}")
    return "read"


@cache
def subjects() -> tuple[Subject, ...]:
    """Return every codec with values of the network."""
    net = network()
    executed = net.node.ledger.transactions(0, 100)
    numbers = range(net.node.ledger.latest.number + 1)
    checkpoints = list(filter(None, map(net.node.ledger.checkpoint, numbers)))
    objects = [value for transaction in executed for value in transaction.output_objects]
    small = [value for value in objects if len(value.encode()) < 5_000]
    tags = [value.type for value in small if value.type is not None]
    signatures = [signature for transaction in executed for signature in transaction.signatures]
    data = [
        transaction.data_bytes for transaction in executed if len(transaction.data_bytes) < 100_000
    ]
    return (
        _subject("transaction", TRANSACTION_DATA, [*data, *vectors("transactions")]),
        _subject(
            "signed transaction",
            SIGNED_TRANSACTION,
            [
                SIGNED_TRANSACTION.encode((bytes(3), transaction.data, transaction.signatures))
                for transaction in executed[1:]
            ],
        ),
        _subject(
            "effects",
            ANY_EFFECTS,
            [*[transaction.effects_bytes for transaction in executed], *vectors("effects")],
        ),
        _subject("events", EVENTS, [EVENTS.encode(transaction.events) for transaction in executed]),
        _subject("object", OBJECT, [*[value.encode() for value in small], *vectors("objects")]),
        _subject(
            "summary",
            CHECKPOINT_SUMMARY,
            [checkpoint.summary.encode() for checkpoint in checkpoints],
        ),
        _subject(
            "contents",
            ANY_CHECKPOINT_CONTENTS,
            [
                *[checkpoint.contents.encode() for checkpoint in checkpoints],
                *vectors("checkpoints", "contents"),
            ],
        ),
        _subject("type tag", TYPE_TAG, [*map(TYPE_TAG.encode, tags), _DEEP, _WIDE]),
        *_move_values(net),
        _text("type", lambda text: str(parse_type_tag(text)), [str(tag) for tag in tags]),
        _text("address", lambda text: str(Address.parse(text)), ["0x2", str(net.probe)]),
        _text(
            "digest",
            lambda text: str(Digest.parse(text)),
            [str(transaction.digest) for transaction in executed],
        ),
        Subject(
            "signature",
            _signature,
            (*dict.fromkeys(signatures), *vectors("signatures", "signature")),
        ),
    )


def _subject(name: str, codec: Codec[Any], genuine: list[bytes]) -> Subject:
    return Subject(name, lambda data: codec.encode(codec.decode(data)), tuple(genuine))


def _move_values(net: Network) -> Iterator[Subject]:
    """Yield the contents of objects, and values of framework types."""
    found: dict[TypeTag, list[bytes]] = {
        parse_type_tag("vector<vector<vector<u16>>>"): [b"\x02\x01\x01\x05\x00\x00"],
        parse_type_tag("vector<bool>"): [b"\x02\x01\x00"],
        parse_type_tag("0x1::option::Option<vector<address>>"): [b"\x01\x01" + bytes(32)],
        parse_type_tag("0x2::vec_map::VecMap<0x1::string::String, u256>"): [
            b"\x01\x01a" + bytes(32)
        ],
    }
    for transaction in net.node.ledger.transactions(0, 100):
        for value in transaction.output_objects:
            if isinstance(value.data, MoveObject):
                found.setdefault(value.data.type, []).append(value.data.contents)
    for tag, genuine in found.items():
        yield Subject(str(tag), _move_value(net, tag), tuple(genuine))


def _move_value(net: Network, tag: TypeTag) -> Callable[[bytes], bytes]:
    machine = net.node.machine

    def read_and_write(data: bytes) -> bytes:
        try:
            return machine.types.encode(tag, machine.types.decode(tag, data))
        except MoveFailure as error:
            raise BcsError(str(error)) from error

    return read_and_write


def _text(name: str, parse: Callable[[str], str], genuine: list[str]) -> Subject:
    """Return a subject for a text format, in which each value has one canonical text."""

    def read_and_write(data: bytes) -> bytes:
        try:
            written = parse(data.decode())
        except (ValidationError, UnicodeDecodeError) as error:
            raise BcsError(str(error)) from error
        if parse(written) != written:
            raise Broken(f"the text form of a {name} is not stable: {written:.200}")
        return data

    return Subject(name, read_and_write, tuple(text.encode() for text in genuine))


def _signature(data: bytes) -> bytes:
    try:
        signature = UserSignature.parse(data)
        signature.address()
        signature.verify(b"a message")
    except NotAllowedError as error:
        if error.code not in ("signature_malformed", "signature_invalid"):
            raise
        raise BcsError(str(error)) from error
    return data
