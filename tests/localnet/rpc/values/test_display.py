"""Objects shown by the display of their type, made and asked for over gRPC."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from nexus_tools.localnet.rpc.values.display import MAX_OUTPUT_BYTES
from nexus_tools.sui.address import SUI_FRAMEWORK, Address
from nexus_tools.sui.bcs import string
from nexus_tools.sui.builder import TransactionBuilder
from nexus_tools.sui.digest import Digest
from nexus_tools.sui.object import ObjectReference
from nexus_tools.sui.transaction import OwnedObject
from nexus_tools.sui.type_tag import Primitive, StructTag

CARD = Path(__file__).parent / "card" / "bytecode" / "card.mv"
CREATED = 2


@dataclass
class Gallery:
    """The package of `card.move`, with its publisher, and cards with their displays."""

    client: object
    account: object
    package: Address
    publisher: Address

    def type(self, name, *params):
        return StructTag(self.package, "card", name, params)

    def run(self, build):
        builder = TransactionBuilder()
        build(builder)
        executed = self.account.execute(self.client, builder)
        assert executed.effects.status.success, executed.effects.status
        changed = executed.effects.changed_objects
        return [each.object_id for each in changed if each.id_operation == CREATED]

    def owned(self, builder, object_id):
        found = self.object(object_id, "version", "digest")
        reference = ObjectReference(object_id, found.version, Digest.parse(found.digest))
        return builder.resolved(OwnedObject(reference))

    def object(self, object_id, *paths):
        return self.client.call(
            "LedgerService/GetObject", *(paths or ("*",)), object_id=str(object_id)
        ).object

    def make(self, function="new", *types, text="Bär"):
        def build(builder):
            arguments = [builder.pure(string, text)] if function == "new" else []
            made = builder.move_call(self.package, "card", function, arguments, types)
            builder.transfer_objects([made], self.account.address)

        return self.run(build)[0]

    def show(self, fields, tag=None, *, commit=True):
        """Make a display of these fields; gives its id."""
        types = [tag or self.type("Card")]

        def build(builder):
            publisher = self.owned(builder, self.publisher)
            display = builder.move_call(SUI_FRAMEWORK, "display", "new", [publisher], types)
            for name, template in fields.items():
                texts = [builder.pure(string, each) for each in (name, template)]
                builder.move_call(SUI_FRAMEWORK, "display", "add", [display, *texts], types)
            if commit:
                builder.move_call(SUI_FRAMEWORK, "display", "update_version", [display], types)
            builder.transfer_objects([display], self.account.address)

        return self.run(build)[0]

    def shown(self, fields):
        """What a new card's display says: texts, and sentences for what cannot be shown."""
        self.show(fields)
        display = self.object(self.make(), "display").display
        output, errors = display.output.struct_value.fields, display.errors.struct_value.fields
        assert set(errors) == {name for name in output if output[name].HasField("null_value")}
        assert set(output) == set(fields)
        return {
            name: (errors[name].string_value,) if name in errors else output[name].string_value
            for name in fields
        }


@pytest.fixture
def gallery(client, alice):
    builder = TransactionBuilder()
    cap = builder.publish([CARD.read_bytes()], [Address.of(1), Address.of(2)])
    builder.transfer_objects([cap], alice.address)
    executed = alice.execute(client, builder)
    created = {
        each.object_type.rpartition("::")[2]: Address.parse(each.object_id)
        for each in executed.effects.changed_objects
        if each.id_operation == CREATED
    }
    return Gallery(client, alice, created["package"], created["Publisher"])


def test_fields_of_every_kind_are_put_into_the_text(gallery):
    assert gallery.shown(
        {
            "string": "{name}",
            "ascii": "<{code}>",
            "url": "{link}",
            "numbers": "{small} and {large}",
            "boolean": "{sold}",
            "address": "{author}",
            "options": "{some}, {none}.",
            "balance": "{empty}",
            "inner": "{stats.level}{ stats . inner . mark }",
            "variant": "{rank.years}",
            "text": r"\{name\} as it is",
        }
    ) == {
        "string": "Bär",
        "ascii": "<C-7>",
        "url": "https://cards.example/7",
        "numbers": f"8 and {2**255}",
        "boolean": "true",
        "address": f"0x{'a11ce':0>64}",
        "options": "12, .",
        "balance": "0",
        "inner": "3*",
        "variant": "40",
        "text": "{name} as it is",
    }


def test_an_object_shows_its_own_id(gallery):
    gallery.show({"id": "{id}", "origin": "{origin}"})
    card = gallery.make()
    fields = gallery.object(card, "display").display.output.struct_value.fields
    assert fields["id"].string_value == fields["origin"].string_value == card


def test_what_cannot_be_shown_is_null_and_has_a_sentence(gallery):
    shown = gallery.shown(
        {
            "absent": "{nothing}",
            "too deep": "{name.length.more}",
            "vector": "a {bytes}",
            "struct": "{stats}",
            "template": "{name",
            "fine": "{name}",
        }
    )
    assert shown == {
        "absent": ("'nothing' not found in object",),
        "too deep": ("'name.length.more' not found in object",),
        "vector": ("'bytes' is a vector, and is not supported in Display",),
        "struct": ("'stats' is a whole struct or enum, which this network does not show",),
        "template": ("Unexpected end-of-string, expected one of '}', or '.'",),
        "fine": "Bär",
    }


def test_without_a_display_nothing_is_shown(gallery):
    assert not gallery.object(gallery.make()).HasField("display")
    assert not gallery.object(gallery.package).HasField("display")
    assert not gallery.object("0x6").HasField("display")


def test_a_display_counts_when_its_version_is_updated(gallery):
    card = gallery.make()
    display = gallery.show({"name": "{name}"}, commit=False)
    assert not gallery.object(card, "display").HasField("display")

    def update(builder):
        arguments = [gallery.owned(builder, Address.parse(display))]
        types = [gallery.type("Card")]
        builder.move_call(SUI_FRAMEWORK, "display", "update_version", arguments, types)

    gallery.run(update)
    assert gallery.object(card, "display").HasField("display")


def test_the_latest_version_is_what_counts(gallery):
    card = gallery.make()
    gallery.show({"name": "old"})
    gallery.show({"title": "new"})
    fields = gallery.object(card, "display").display.output.struct_value.fields
    assert {name: each.string_value for name, each in fields.items()} == {"title": "new"}


def test_an_instantiation_has_a_display_of_its_own(gallery):
    gallery.show({"count": "{count}"}, gallery.type("Boxed", Primitive.U8))
    boxes = [gallery.make("boxed", each) for each in (Primitive.U8, Primitive.U16)]
    shown = [gallery.object(each, "display").HasField("display") for each in boxes]
    assert shown == [True, False]


def test_no_more_is_shown_than_there_is_room_for(gallery):
    """60 times 16 000 bytes fit into 1 MiB, twice that do not."""
    text = "x" * 16_000
    fields = {"a": "{name}" * 60, "b": "{name}" * 60, "c": "{sold}"}
    gallery.show(fields)
    display = gallery.object(gallery.make(text=text), "display").display
    assert len(text) * 60 < MAX_OUTPUT_BYTES < len(text) * 120
    assert len(display.output.struct_value.fields["a"].string_value) == 960_000
    assert display.errors.struct_value.fields["b"].string_value == "Display output too large"


def test_lists_of_objects_show_them_too(gallery):
    gallery.show({"name": "{name}"})
    card = gallery.make()
    listed = gallery.client.call(
        "StateService/ListOwnedObjects",
        "object_id",
        "display",
        owner=str(gallery.account.address),
        object_type=str(gallery.type("Card")),
    )
    (found,) = listed.objects
    assert found.object_id == card
    assert found.display.output.struct_value.fields["name"].string_value == "Bär"
    assert not found.display.HasField("errors")


def test_a_part_of_the_display_may_be_asked_for(gallery):
    gallery.show({"name": "{name}", "wrong": "{nothing}"})
    found = gallery.object(gallery.make(), "display.errors")
    assert found.display.HasField("errors")
    assert not found.display.HasField("output")
