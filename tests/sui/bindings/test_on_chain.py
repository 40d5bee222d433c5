"""Generated functions called on a network, and the resulting objects and events, decoded."""

import pytest

from nexus_tools.errors import NotFoundError, RefusedOnChainError, ValidationError
from nexus_tools.sui.bcs import u8, u64
from nexus_tools.sui.bindings.runtime import Address, Coin, Package
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import CLOCK
from nexus_tools.sui.types.type_tag import STRING, SUI, Primitive, StructTag, VectorTag

from nexus_tools.sui.bcs import string  # isort: skip


@pytest.fixture
def pack(boxes, published, execute, wallet):
    """Pack a number into a box for the wallet, and return the ID of the box."""

    def pack(number, label="a label"):
        def build(builder):
            item = builder.pure(u64, number)
            box = boxes.pack(builder, published.shapes, Primitive.U64, item, label)
            builder.transfer_objects([box], wallet.address)

        (box,) = execute(build).created_of("boxes", "Box")
        return box

    return pack


def test_generic_object_is_packed_and_read(boxes, pack, read):
    box = pack(42, "ünïcode")
    assert read(box) == boxes.Box(box, 42, "ünïcode")


def test_text_longer_than_an_input_is_joined(pack, read):
    text = "x" * 30_000
    assert read(pack(1, text)).label == text


def test_several_results_are_several_arguments(boxes, published, execute, pack, decoder, wallet):
    box = pack(5)

    def build(builder):
        item, label = boxes.open(builder, published.shapes, Primitive.U64, box)
        again = boxes.pack(builder, published.shapes, Primitive.U64, item, label)
        builder.transfer_objects([again], wallet.address)

    executed = execute(build)
    (event,) = map(decoder.event, executed.events)
    either = boxes.Either.Right((Address.of(0xB),))
    assert event == boxes.Opened(box, 5, either)


def test_event_has_its_type_arguments(boxes, published, execute, decoder):
    def build(builder):
        item = builder.pure(u8, 200)
        box = boxes.pack(builder, published.shapes, Primitive.U8, item, "")
        boxes.open(builder, published.shapes, Primitive.U8, box)

    (event,) = execute(build).events
    assert event.type == boxes.Opened.type_tag(published.shapes, Primitive.U8)
    assert decoder.event(event).item == 200


def test_vector_of_objects_is_passed(boxes, published, execute, pack):
    ids = [pack(1), pack(2), pack(3)]
    executed = execute(lambda builder: boxes.open_all(builder, published.shapes, ids))
    assert len(executed.events) == 3


def test_empty_vector_of_objects_needs_no_type(boxes, published, localnet, wallet):
    builder = TransactionBuilder()
    boxes.open_all(builder, published.shapes, [])
    simulated = localnet.run(wallet.client.inspect(builder))
    assert simulated.results[-1] == ((0).to_bytes(8, "little"),)


def test_enum_values_come_from_calls(boxes, published, localnet, wallet):
    builder = TransactionBuilder()
    values = [
        boxes.none(builder, published.shapes),
        boxes.left(builder, published.shapes, 3, 5),
        boxes.left(builder, published.shapes, value=builder.pure(u8, 2), weight=1),
    ]
    boxes.sum(builder, published.shapes, values)
    results = localnet.run(wallet.client.inspect(builder)).results
    codec = boxes.Either.bcs(u8, u64)
    assert codec.decode(results[0][0]) == boxes.Either.None_()
    assert codec.decode(results[1][0]) == boxes.Either.Left(3, 5)
    assert int.from_bytes(results[-1][0], "little") == 17


def test_returned_reference_is_read_by_a_simulation(boxes, published, localnet, wallet, pack):
    builder = TransactionBuilder()
    boxes.item(builder, published.shapes, Primitive.U64, pack(77))
    (results,) = localnet.run(wallet.client.inspect(builder)).results
    assert u64.decode(results[0]) == 77


def test_nested_vectors_and_options_are_pure(boxes, published, localnet, wallet):
    builder = TransactionBuilder()
    boxes.numbers(builder, published.shapes, [[1, None], [], [None]])
    (results,) = localnet.run(wallet.client.inspect(builder)).results
    assert u64.decode(results[0]) == 3


def test_coin_is_deposited_in_a_shared_object(boxes, published, execute, read):
    vault = published.created("boxes", "Vault")

    def build(builder):
        (coin,) = (builder.split_coins(builder.gas, [1_000])[0],)
        boxes.deposit(builder, published.shapes, SUI, vault, coin)

    execute(build)
    found = read(vault)
    assert (found.balance, found.pairs.size, found.pairs.head) == (1_000, 0, None)


def test_read_does_not_make_objects_mutable(boxes, published):
    vault = published.created("boxes", "Vault")
    builder = TransactionBuilder()
    boxes.balance_of(builder, published.shapes, SUI, vault)
    assert [value.mutable for value in builder.unresolved()] == [False]
    boxes.deposit(builder, published.shapes, SUI, vault, Address.of(99))
    assert [value.mutable for value in builder.unresolved()] == [True, True]


def test_clock_and_random_need_no_argument(boxes, published, execute, pack, read):
    box = pack(0)
    execute(lambda builder: boxes.roll(builder, published.shapes, box))
    assert 1 <= read(box).item <= 6


def test_object_sent_to_another_is_received(
    boxes, published, execute, localnet, wallet, pack, read
):
    outer, inner = pack(1), pack(2)
    execute(lambda builder: builder.transfer_objects([builder.object(inner)], outer))
    reference = localnet.run(wallet.client.object(inner)).reference()

    def build(builder):
        box = boxes.take_back(builder, published.shapes, outer, reference)
        builder.transfer_objects([box], wallet.address)

    execute(build)
    assert read(inner).item == 2


def test_type_of_another_package_is_decoded_by_its_bindings(
    boxes, token, published, execute, decoder, wallet
):
    def build(builder):
        badge = token.badge(builder, published.tokens, 9)
        unit = builder.pure(string, "kg")
        amount = token.amount(builder, published.tokens, STRING, 12, unit)
        boxes.wear(builder, published.shapes, badge, amount)
        builder.transfer_objects([badge], wallet.address)

    (event,) = execute(build).events
    assert decoder.event(event) == boxes.Worn(9, token.Amount(12, "kg"))


def test_objects_of_another_package_are_passed_wherever_it_is_published(
    boxes, token, published, execute, localnet, wallet
):
    def make(builder):
        badges = [token.badge(builder, published.tokens, level) for level in (1, 2)]
        builder.transfer_objects(badges, wallet.address)

    badges = execute(make).created_of("token", "Badge")
    builder = TransactionBuilder()
    boxes.take_off(builder, published.shapes, badges)
    simulated = localnet.run(wallet.client.inspect(builder))
    assert u64.decode(simulated.results[-1][0]) == 2


def test_empty_vector_of_another_package_needs_a_tag(boxes, token, published, localnet, wallet):
    builder = TransactionBuilder()
    with pytest.raises(ValidationError) as caught:
        boxes.take_off(builder, published.shapes, [])
    assert caught.value.code == "element_type_unknown"
    assert "type_tag" in caught.value.hint
    badges = builder.make_move_vec([], token.Badge.type_tag(published.tokens))
    boxes.take_off(builder, published.shapes, badges)
    simulated = localnet.run(wallet.client.inspect(builder))
    assert u64.decode(simulated.results[-1][0]) == 0


def test_python_names_keep_their_values(importing, published, execute, decoder, read):
    owner, number = Address.of(7), 2**255 + 1

    def build(builder):
        importing.def_(builder, published.shapes, owner, number, b"\1\2", "plain")

    (made,) = execute(build).created_of("import", "MoveStruct")
    value = read(made)
    assert (value.from_, value.int_, value.bytes_, value.str_) == (owner, number, b"\1\2", "plain")
    assert (value.bcs_, value.class_) == (1 << 100, 7)
    assert value.type_tag_ == f"{published.shapes.id.hex()}::import::Package"
    assert (value.empty, value.place) == (importing.Package(), importing.Address(owner, b"here"))
    assert (value.url, value.tuple_, value.bool_) == ("https://example.com", (("one", 1),), (3,))
    assert (value.table.size, value.bag.size, value.objects.size) == (0, 0, 0)

    executed = execute(lambda builder: importing.bytes_(builder, published.shapes, made, 4, True))
    assert [decoder.event(event).kind for event in executed.events] == [
        importing.True_.False_(1, 2),
        importing.True_.Variant_(True),
    ]
    assert (read(made).table.size, read(made).bag.size) == (1, 1)


def test_table_entries_are_decoded(importing, published, execute, localnet, wallet, decoder, read):
    def build(builder):
        importing.def_(builder, published.shapes, Address.of(1), 0, b"", "")

    (made,) = execute(build).created_of("import", "MoveStruct")
    execute(lambda builder: importing.bytes_(builder, published.shapes, made, 4, False))
    (field,) = localnet.run(wallet.client.dynamic_fields(read(made).table.id))
    entry = read(field.field_id)
    assert (entry.name, entry.value) == (4, True)


def test_value_of_an_object_entry_is_its_id(
    importing, published, execute, localnet, wallet, decoder, read
):
    def build(builder):
        importing.def_(builder, published.shapes, Address.of(1), 0, b"", "")

    (made,) = execute(build).created_of("import", "MoveStruct")
    execute(lambda builder: importing.keep(builder, published.shapes, made))
    value = read(made)
    names = []
    for parent in (value.objects.id, value.object_bag.id, made):
        (field,) = localnet.run(wallet.client.dynamic_fields(parent))
        entry = read(field.field_id)
        names.append(entry.name)
        assert (entry.id, entry.value) == (field.field_id, field.child)
        assert read(entry.value) == importing.Thing(entry.value)
    assert names == [7, "key", True]


def test_linked_table_entries_have_their_neighbours(
    boxes, published, execute, localnet, wallet, read
):
    vault = published.created("boxes", "Vault")

    def build(builder):
        for key in (4, 5):
            boxes.remember(builder, published.shapes, SUI, vault, key)

    execute(build)
    fields = localnet.run(wallet.client.dynamic_fields(read(vault).pairs.id))
    entries = {entry.name: entry.value for entry in (read(field.field_id) for field in fields)}
    assert (entries[4].prev, entries[4].next, entries[5].prev) == (None, 5, 4)
    assert entries[5].value == boxes.Pair((1,), (True,))


@pytest.mark.parametrize(
    ("number", "limit", "name"), [(0, None, "EEmpty"), (9, 8, "ELocked"), (9, None, None)]
)
def test_abort_has_its_message(shapes, boxes, published, execute, pack, number, limit, name):
    box = pack(number)

    def check():
        execute(lambda builder: boxes.check(builder, published.shapes, box, limit))

    if name is None:
        check()
        return
    with pytest.raises(RefusedOnChainError) as caught:
        check()
    details = caught.value.details
    for code in (details["abort"], details["abort_code"]):
        reason = shapes("").TYPES.error_of(details["module"], code)
        assert reason is getattr(boxes, name)


def test_error_with_a_text_is_found_by_its_constant(shapes, boxes, pack):
    with pytest.raises(RefusedOnChainError) as caught:
        pack(1, "x" * 40_000)
    reason = shapes("").TYPES.error_of("boxes", caught.value.details["abort"])
    assert reason.sentence == 'The box is too heavy: take "something" out.'
    assert boxes.ELocked.is_of(caught.value.details["abort"]) is False


def test_framework_objects_are_decoded_by_their_types(decoder, localnet, wallet):
    coin = localnet.run(wallet.client.coins(wallet.address))[0]
    value = localnet.run(wallet.client.object(coin.reference.object_id))
    assert decoder.object(value) == Coin(coin.reference.object_id, coin.balance)
    assert decoder.value(VectorTag(STRING), b"\1\2ok") == ("ok",)


def test_type_without_bindings_is_named_in_the_error(decoder, localnet, wallet, shapes, published):
    with pytest.raises(NotFoundError) as caught:
        decoder.object(localnet.run(wallet.client.object(CLOCK)))
    assert caught.value.code == "type_unknown"
    assert "0x2::clock::Clock" in caught.value.message
    elsewhere = shapes("").TYPES.at(Package.at(Address.of(0x77)))
    assert elsewhere.knows(StructTag(published.shapes.id, "boxes", "Box", (SUI,))) is False


def test_missing_object_cannot_be_decoded(decoder):
    with pytest.raises(NotFoundError) as caught:
        decoder.object(None)
    assert caught.value.code == "object_unknown"


def test_decoders_of_several_packages_are_joined(shapes, published):
    one = shapes("").TYPES.at(published.shapes)
    other = shapes("tokens").TYPES.at(published.tokens)
    types = (
        StructTag(published.shapes.id, "boxes", "BOXES"),
        StructTag(published.tokens.id, "token", "Badge"),
    )
    assert [one.knows(tag) for tag in types] == [True, False]
    assert [other.knows(tag) for tag in types] == [False, True]
    assert [(one | other).knows(tag) for tag in types] == [True, True]


def test_package_cannot_be_decoded(decoder, localnet, wallet, published):
    with pytest.raises(ValidationError) as caught:
        decoder.object(localnet.run(wallet.client.object(published.shapes.id)))
    assert caught.value.code == "object_is_package"
