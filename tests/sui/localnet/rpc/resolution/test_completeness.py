import pytest

from nexus_tools.sui.localnet.rpc.resolution import is_complete

REFERENCE = {
    "object_id": "0x7",
    "version": 1,
    "digest": "4vJ9JU1bJJE96FWSJKvHsmmFADCg4gpZQff4P3bkLKi",
}
INPUTS = [
    {"kind": 1, "pure": b"\1"},
    {"kind": 2, **REFERENCE},
    {"kind": 3, "object_id": "0x6", "version": 1, "mutable": False},
    {"kind": 4, **REFERENCE},
]


@pytest.fixture
def transaction(messages):
    def make():
        return messages.message("sui.rpc.v2.Transaction")(
            sender="0x1",
            kind={"programmable_transaction": {"inputs": INPUTS}},
            gas_payment={"objects": [REFERENCE], "owner": "0x1", "price": 1, "budget": 1},
            expiration={"kind": 1},
        )

    return make


def test_message_with_every_field_is_complete(transaction):
    assert is_complete(transaction())


def test_bytes_are_complete(messages):
    assert is_complete(messages.message("sui.rpc.v2.Transaction")(bcs={"value": b""}))


@pytest.mark.parametrize(
    "take",
    [
        lambda message: message.ClearField("gas_payment"),
        lambda message: message.ClearField("expiration"),
        lambda message: message.gas_payment.ClearField("owner"),
        lambda message: message.gas_payment.ClearField("price"),
        lambda message: message.gas_payment.ClearField("budget"),
        lambda message: message.gas_payment.objects[0].ClearField("digest"),
        *[
            lambda message, index=index, name=name: message.kind.programmable_transaction.inputs[
                index
            ].ClearField(name)
            for index, fields in enumerate(INPUTS)
            for name in fields
        ],
    ],
)
def test_message_without_a_required_field_is_incomplete(transaction, take):
    message = transaction()
    take(message)
    assert not is_complete(message)
