"""A package in several versions: calls name the newest, and types name the first."""

import pytest

from nexus_tools.sui.bcs import u8
from nexus_tools.sui.bindings.runtime import Address, Package
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.event import Event
from nexus_tools.sui.types.type_tag import Primitive, StructTag

PACKAGE = '[package]\nname = "grown"\nedition = "2024"\n\n[addresses]\ngrown = "0x0"\n'
FIRST = "module grown::first;\npublic struct Old has copy, drop { number: u8 }\n"
SECOND = "module grown::second;\npublic struct New has copy, drop { number: u8 }\n"
FRAMEWORK = tuple(map(Address.of, (1, 2)))
COMPATIBLE = 0


@pytest.fixture
def versions(move_builder, publish, localnet, wallet):
    """Return a node's package objects: the first version, and one with an additional type."""
    sources = {"Move.toml": PACKAGE, "sources/first.move": FIRST}
    first = publish(move_builder.build(sources).modules)
    built = move_builder.build({**sources, "sources/second.move": SECOND})
    builder = TransactionBuilder()
    cap = builder.object(first.upgrade_cap)
    policy, digest = builder.pure(u8, COMPATIBLE), builder.byte_vector(built.digest)
    sui = Address.of(2)
    ticket = builder.move_call(sui, "package", "authorize_upgrade", [cap, policy, digest])
    dependencies = list(map(Address, built.dependencies))
    receipt = builder.upgrade(built.modules, dependencies, first.id, ticket)
    builder.move_call(sui, "package", "commit_upgrade", [cap, receipt])
    newest = localnet.run(wallet.client.execute(builder)).published()
    found = localnet.run(wallet.client.objects([first.id, newest]))
    return [value.data for value in found]


def test_calls_name_the_newest_version_and_types_keep_their_origin(versions):
    first, newest = versions
    package = Package.of(newest)
    assert (package.id, package.original_id) == (newest.id, first.id)
    assert package.type_tag("first::Old") == StructTag(first.id, "first", "Old")
    assert package.type_tag("second::New", Primitive.U8) == StructTag(
        newest.id, "second", "New", (Primitive.U8,)
    )


def test_package_that_was_never_upgraded_equals_its_id(versions):
    assert Package.of(versions[0]) == Package.at(versions[0].id)


def test_type_is_recognised_only_by_its_origin(versions):
    first, newest = versions
    package = Package.of(newest)
    assert package.name_of(StructTag(newest.id, "second", "New")) == "second::New"
    assert package.name_of(StructTag(first.id, "second", "New")) is None
    assert package.name_of(StructTag(newest.id, "first", "Old")) is None


def test_events_of_all_versions_are_decoded(versions, shapes):
    first, newest = versions
    tokens = shapes("tokens").TYPES
    origins = {"token::Amount": newest.id}
    decoder = tokens.at(Package(newest.id, first.id, origins))
    tag = StructTag(newest.id, "token", "Amount", (Primitive.BOOL,))
    event = Event(newest.id, "token", Address.of(1), tag, bytes([5, *[0] * 7, 1]))
    assert decoder.event(event) == shapes("tokens.token").Amount(5, True)
    assert (
        decoder.event(Event(first.id, "a", Address.of(1), StructTag(first.id, "a", "B"), b""))
        is None
    )
