"""Name lookups, which never find a name."""

import grpc
import pytest


def expect_refusal(client, name, /, **fields):
    with pytest.raises(grpc.RpcError) as caught:
        client.call(f"NameService/{name}", **fields)
    return caught.value.code()


def test_name_is_not_found(client):
    assert expect_refusal(client, "LookupName", name="a.sui") is grpc.StatusCode.NOT_FOUND


def test_address_has_no_name(client):
    assert expect_refusal(client, "ReverseLookupName", address="0x6") is grpc.StatusCode.NOT_FOUND


def test_request_without_a_name_or_address_is_refused(client):
    assert expect_refusal(client, "LookupName") is grpc.StatusCode.INVALID_ARGUMENT
    assert expect_refusal(client, "ReverseLookupName") is grpc.StatusCode.INVALID_ARGUMENT
    wrong = expect_refusal(client, "ReverseLookupName", address="a.sui")
    assert wrong is grpc.StatusCode.INVALID_ARGUMENT


@pytest.mark.parametrize("name", ["example.sui", "a@example", "@example", "a*example*sui", "@sui"])
def test_name_may_have_any_form(client, name):
    assert expect_refusal(client, "LookupName", name=name) is grpc.StatusCode.NOT_FOUND


@pytest.mark.parametrize(
    "name",
    [
        *("", "sui", "a..sui", "Example.sui", "-a.sui", "a-.sui", "a_b.sui", "a.b*sui", "ü.sui"),
        *("@", "a@b@c", "a@b.sui", f"{'a' * 64}.sui", ".".join(["abcd"] * 41)),
    ],
)
def test_invalid_name_is_refused(client, name):
    assert expect_refusal(client, "LookupName", name=name) is grpc.StatusCode.INVALID_ARGUMENT
