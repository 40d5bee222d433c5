import pytest

from nexus_tools.sui.localnet.rpc.interface import Code, RpcError
from nexus_tools.sui.localnet.rpc.requests.paging import page_size, place_of, token_for


@pytest.fixture
def request_of(messages):
    return messages.message("sui.rpc.v2.ListOwnedObjectsRequest")


@pytest.mark.parametrize(
    ("wanted", "given"),
    [(None, 50), (0, 1), (1, 1), (999, 999), (1000, 1000), (4_000_000_000, 1000)],
)
def test_page_size_is_between_1_and_1000(request_of, wanted, given):
    assert page_size(request_of(page_size=wanted)) == given


def test_token_returns_its_place(request_of):
    token = token_for(b"place", ("owned", "0x1"))
    assert place_of(request_of(page_token=token), ("owned", "0x1")) == b"place"
    assert place_of(request_of(), ("owned", "0x1")) is None


@pytest.mark.parametrize("token", [b"", b"x", b"\0" * 40])
def test_forged_token_is_refused(request_of, token):
    with pytest.raises(RpcError) as caught:
        place_of(request_of(page_token=token), ("owned", "0x1"))
    assert caught.value.code is Code.INVALID_ARGUMENT


def test_token_of_another_owner_is_refused(request_of):
    token = token_for(b"place", ("owned", "0x1"))
    with pytest.raises(RpcError):
        place_of(request_of(page_token=token), ("owned", "0x2"))


def test_token_with_another_place_is_refused(request_of):
    token = token_for(b"place", ("owned", "0x1"))
    with pytest.raises(RpcError):
        place_of(request_of(page_token=token + b"s"), ("owned", "0x1"))
