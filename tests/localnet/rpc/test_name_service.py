"""Names: there are none."""

import grpc
import pytest


def refused(client, name, /, **fields):
    with pytest.raises(grpc.RpcError) as caught:
        client.call(f"NameService/{name}", **fields)
    return caught.value.code()


def test_no_name_is_found(client):
    assert refused(client, "LookupName", name="a.sui") is grpc.StatusCode.NOT_FOUND


def test_no_address_has_a_name(client):
    assert refused(client, "ReverseLookupName", address="0x6") is grpc.StatusCode.NOT_FOUND


def test_a_question_without_a_subject_is_refused(client):
    assert refused(client, "LookupName") is grpc.StatusCode.INVALID_ARGUMENT
    assert refused(client, "ReverseLookupName") is grpc.StatusCode.INVALID_ARGUMENT
    wrong = refused(client, "ReverseLookupName", address="a.sui")
    assert wrong is grpc.StatusCode.INVALID_ARGUMENT
