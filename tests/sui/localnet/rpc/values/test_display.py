"""Displays of version 1 are not rendered over gRPC.

Sui's nodes have rendered `display` over gRPC since February 2026 (MystenLabs/sui, pull request
25430), from the registry 0xd of protocol 109 (25241). Version 1 was for JSON-RPC and GraphQL.
"""

from pathlib import Path

from nexus_tools.sui.bcs import string
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import SUI_FRAMEWORK, Address
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.object import ObjectReference
from nexus_tools.sui.types.transaction import OwnedObject
from nexus_tools.sui.types.type_tag import StructTag

CARD = Path(__file__).parent / "card" / "bytecode" / "card.mv"
CREATED = 2


def test_object_with_a_version_1_display_is_rendered_without_display(client, alice):
    created = run(client, alice, publish)
    package, publisher = Address.parse(created["package"]), owned_ids(client, created["Publisher"])
    types = [StructTag(package, "card", "Card", ())]

    def make(builder):
        resolved = builder.resolved(OwnedObject(publisher))
        display = builder.move_call(SUI_FRAMEWORK, "display", "new", [resolved], types)
        name = [builder.pure(string, text) for text in ("name", "{name}")]
        builder.move_call(SUI_FRAMEWORK, "display", "add", [display, *name], types)
        builder.move_call(SUI_FRAMEWORK, "display", "update_version", [display], types)
        card = builder.move_call(package, "card", "new", [builder.pure(string, "Bär")])
        builder.transfer_objects([display, card], alice.address)

    card = run(client, alice, make)["Card"]
    found = client.call("LedgerService/GetObject", "*", object_id=card).object
    assert found.json.struct_value.fields["name"].string_value == "Bär"
    assert not found.HasField("display")


def publish(builder):
    cap = builder.publish([CARD.read_bytes()], [Address.of(1), Address.of(2)])
    builder.transfer_objects([cap], Address.of(0xA))


def run(client, account, build):
    """Return the IDs of the objects that a transaction creates, by type name."""
    builder = TransactionBuilder()
    build(builder)
    executed = account.execute(client, builder)
    assert executed.effects.status.success, executed.effects.status
    return {
        change.object_type.rpartition("::")[2]: change.object_id
        for change in executed.effects.changed_objects
        if change.id_operation == CREATED
    }


def owned_ids(client, object_id):
    found = client.call("LedgerService/GetObject", object_id=object_id).object
    return ObjectReference(Address.parse(object_id), found.version, Digest.parse(found.digest))
