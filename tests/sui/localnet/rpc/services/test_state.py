import grpc
import pytest

from nexus_tools.sui.bcs import boolean
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import dynamic_field_id
from nexus_tools.sui.types.type_tag import GAS_COIN, TYPE_TAG, Primitive

SUI_TYPE = f"{Address.of(2)}::sui::SUI"
COIN_TYPE = f"{Address.of(2)}::coin::Coin<{SUI_TYPE}>"


def expect_refusal(call, /, *arguments, **fields):
    with pytest.raises(grpc.RpcError) as caught:
        call(*arguments, **fields)
    return caught.value.code(), caught.value.details()


def split(account, client, recipient, count, amount=1):
    builder = TransactionBuilder()
    coins = builder.split_coins(builder.gas, [amount] * count)
    builder.transfer_objects([coins[index] for index in range(count)], recipient)
    executed = account.execute(client, builder, "effects.status")
    assert executed.effects.status.success


def all_pages(client, name, field, **fields):
    """Return the items of each page until the last one."""
    pages = []
    while True:
        response = client.call(name, **fields)
        pages.append(list(getattr(response, field)))
        if not response.HasField("next_page_token"):
            return pages
        fields["page_token"] = response.next_page_token


# --- Owned objects


def test_coins_are_listed_with_their_balance(client, alice):
    found = client.call(
        "StateService/ListOwnedObjects",
        "balance",
        "object_type",
        "owner",
        owner=str(alice.address),
        object_type="0x2::coin::Coin<0x2::sui::SUI>",
    )
    assert 100_000_000_000 in [entry.balance for entry in found.objects]
    assert {entry.object_type for entry in found.objects} == {COIN_TYPE}
    assert {entry.owner.address for entry in found.objects} == {str(alice.address)}


def test_type_without_arguments_matches_all_instantiations(client, alice):
    fields = {"owner": str(alice.address), "object_type": "0x2::coin::Coin"}
    assert client.call("StateService/ListOwnedObjects", **fields).objects


def test_list_without_a_type_contains_everything(client, alice, published):
    found = client.call("StateService/ListOwnedObjects", owner=str(alice.address)).objects
    assert str(published.upgrade_cap) in [item.object_id for item in found]
    assert {item.object_type.rpartition("::")[2] for item in found} >= {"SUI>", "UpgradeCap"}


def test_unknown_owner_has_no_objects(client):
    response = client.call("StateService/ListOwnedObjects", owner="0xdead")
    assert list(response.objects) == []
    assert not response.HasField("next_page_token")


def test_thousand_objects_are_paged_without_duplicates(client, alice):
    owner = Address.of(0xCAFE)
    for _ in range(4):
        split(alice, client, owner, 250)
    fields = {"owner": str(owner), "page_size": 300}
    pages = all_pages(client, "StateService/ListOwnedObjects", "objects", **fields)
    assert [len(page) for page in pages] == [300, 300, 300, 100]
    ids = [item.object_id for page in pages for item in page]
    assert ids == sorted(set(ids))
    (whole,) = all_pages(
        client, "StateService/ListOwnedObjects", "objects", owner=str(owner), page_size=1000
    )
    assert [item.object_id for item in whole] == ids


def test_page_continues_although_earlier_objects_are_removed(client, alice):
    owner = Address.of(0xCAFE)
    split(alice, client, owner, 4)
    first = client.call("StateService/ListOwnedObjects", owner=str(owner), page_size=2)
    split(alice, client, owner, 50)
    again = client.call(
        "StateService/ListOwnedObjects",
        owner=str(owner),
        page_size=1000,
        page_token=first.next_page_token,
    )
    last = max(entry.object_id for entry in first.objects)
    assert all(entry.object_id > last for entry in again.objects)


def test_coins_are_listed_from_the_largest_on(client, alice):
    owner = Address.of(0xCAFE)
    split(alice, client, owner, 2, amount=5)
    split(alice, client, owner, 1, amount=7)
    split(alice, client, owner, 1, amount=300)
    fields = {"owner": str(owner), "page_size": 3}
    pages = all_pages(client, "StateService/ListOwnedObjects", "objects", **fields)
    mask = ("balance", "object_id")
    whole = client.call("StateService/ListOwnedObjects", *mask, owner=str(owner)).objects
    assert [item.balance for item in whole] == [300, 7, 5, 5]
    assert whole[2].object_id < whole[3].object_id
    paged = [item.object_id for page in pages for item in page]
    assert paged == [item.object_id for item in whole]


def test_token_of_another_query_is_refused(client, alice):
    split(alice, client, Address.of(0xCAFE), 3)
    first = client.call("StateService/ListOwnedObjects", owner="0xcafe", page_size=1)
    for fields in (
        {"owner": "0xcaff", "page_token": first.next_page_token},
        {"owner": "0xcafe", "page_token": first.next_page_token + b"x"},
        {"owner": "0xcafe", "page_token": b"", "object_type": "0x2::coin::Coin"},
    ):
        code, details = expect_refusal(client.call, "StateService/ListOwnedObjects", **fields)
        assert (code, details) == (grpc.StatusCode.INVALID_ARGUMENT, "invalid page_token")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "missing owner"),
        ({"owner": "me"}, "invalid owner"),
        ({"owner": "0x1", "object_type": "0x2::coin"}, "invalid object_type"),
        ({"owner": "0x1", "object_type": "u8"}, "invalid object_type"),
    ],
)
def test_query_with_an_invalid_owner_or_type_is_refused(client, fields, message):
    code, details = expect_refusal(client.call, "StateService/ListOwnedObjects", **fields)
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert details.startswith(message)


# --- Dynamic fields


@pytest.fixture
def table(client, alice):
    """Create a `Table<u64, bool>` with the keys 0 to 4, and return its ID."""
    builder = TransactionBuilder()
    framework = Address.of(2)
    types = (Primitive.U64, Primitive.BOOL)
    made = builder.move_call(framework, "table", "new", type_arguments=types)
    for key in range(5):
        value = builder.pure(boolean, key % 2 == 0)
        builder.move_call(framework, "table", "add", [made, builder.u64(key), value], types)
    builder.transfer_objects([made], alice.address)
    executed = alice.execute(client, builder)
    assert executed.effects.status.success, executed.effects.status.error.description
    (created,) = [
        change.object_id
        for change in executed.effects.changed_objects
        if "::table::Table<" in change.object_type and "dynamic_field" not in change.object_type
    ]
    return Address.parse(created)


def test_dynamic_fields_are_listed_with_name_and_value(client, table):
    response = client.call("StateService/ListDynamicFields", "*", parent=str(table))
    found = {int.from_bytes(field.name.value, "little"): field for field in response.dynamic_fields}
    assert sorted(found) == [0, 1, 2, 3, 4]
    for key, item in found.items():
        key_bytes = key.to_bytes(8, "little")
        expected = dynamic_field_id(table, TYPE_TAG.encode(Primitive.U64), key_bytes)
        assert item.field_id == item.field_object.object_id == str(expected)
        assert (item.kind, item.parent) == (1, str(table))
        assert (item.name.name, item.value.name, item.value_type) == ("u64", "bool", "bool")
        assert item.value.value == bytes([key % 2 == 0])
        assert not item.HasField("child_id")


def test_dynamic_fields_are_paged(client, table):
    fields = {"parent": str(table), "page_size": 2}
    pages = all_pages(client, "StateService/ListDynamicFields", "dynamic_fields", **fields)
    assert [len(page) for page in pages] == [2, 2, 1]
    assert len({item.field_id for page in pages for item in page}) == 5


def test_default_mask_contains_only_the_ids_of_fields(client, table):
    first = client.call("StateService/ListDynamicFields", parent=str(table)).dynamic_fields[0]
    assert first.parent == str(table)
    assert first.HasField("field_id")
    assert not first.HasField("name")


def test_object_field_contains_its_child(client, alice):
    builder = TransactionBuilder()
    framework = Address.of(2)
    bag = builder.move_call(framework, "object_bag", "new")
    coin = builder.split_coins(builder.gas, [7])[0]
    builder.move_call(
        framework, "object_bag", "add", [bag, builder.u64(1), coin], (Primitive.U64, GAS_COIN)
    )
    builder.transfer_objects([bag], alice.address)
    executed = alice.execute(client, builder)
    assert executed.effects.status.success
    (parent,) = [
        change.object_id
        for change in executed.effects.changed_objects
        if change.object_type.endswith("::object_bag::ObjectBag")
    ]
    (field,) = client.call("StateService/ListDynamicFields", "*", parent=parent).dynamic_fields
    assert (field.kind, field.name.name, field.value_type) == (2, "u64", COIN_TYPE)
    assert field.name.value == (1).to_bytes(8, "little")
    assert field.child_object.object_id == field.child_id
    assert field.child_object.balance == 7
    assert field.value.value == bytes.fromhex(field.child_id[2:])


# --- Balances and coins


def test_balance_is_the_sum_of_the_coins(client, alice):
    split(alice, client, Address.of(0xCAFE), 3, amount=10)
    balance = client.call(
        "StateService/GetBalance", owner="0xcafe", coin_type="0x2::sui::SUI"
    ).balance
    assert (balance.coin_type, balance.balance, balance.coin_balance) == (SUI_TYPE, 30, 30)
    (only,) = client.call("StateService/ListBalances", owner="0xcafe").balances
    assert only == balance


def test_balance_without_coins_is_zero(client):
    found = client.call("StateService/GetBalance", owner="0xdead", coin_type="0x2::sui::SUI")
    assert found.balance.balance == 0
    assert list(client.call("StateService/ListBalances", owner="0xdead").balances) == []


def test_sui_has_a_supply_of_ten_billion(client):
    info = client.call("StateService/GetCoinInfo", coin_type="0x2::sui::SUI")
    assert info.coin_type == SUI_TYPE
    assert info.treasury.total_supply == 10**10 * 10**9
    assert (info.metadata.decimals, info.metadata.symbol) == (9, "SUI")


def test_unknown_coin_type_is_not_found(client):
    code, _ = expect_refusal(
        client.call, "StateService/GetCoinInfo", coin_type="0x2::nothing::NOTHING"
    )
    assert code is grpc.StatusCode.NOT_FOUND
