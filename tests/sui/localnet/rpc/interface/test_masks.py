import pytest

from nexus_tools.sui.localnet.rpc.interface import Code, RpcError
from nexus_tools.sui.localnet.rpc.interface.masks import (
    EVERYTHING,
    compile_mask,
    prune,
    requested_mask,
)


@pytest.fixture
def transaction(messages):
    return messages.descriptor("sui.rpc.v2.ExecutedTransaction")


def test_path_includes_all_nested_fields(transaction):
    mask = compile_mask(("effects",), transaction)
    assert "status" in mask.get("effects")
    assert mask.get("events") is None


def test_broader_path_wins_in_either_order(transaction):
    for paths in (("effects", "effects.status"), ("effects.status", "effects")):
        assert compile_mask(paths, transaction).get("effects") is EVERYTHING


def test_paths_go_through_lists(transaction):
    mask = compile_mask(("events.events.json",), transaction)
    assert "json" in mask.get("events").get("events")
    assert "module" not in mask.get("events").get("events")


def test_star_means_everything(transaction):
    assert compile_mask(("digest", "*"), transaction) is EVERYTHING


@pytest.mark.parametrize(
    "path", ["nonsense", "effects.nonsense", "digest.x", "timestamp.seconds", "", "effects.", "a.*"]
)
def test_path_of_an_unknown_field_is_refused_by_name(transaction, path):
    with pytest.raises(RpcError) as caught:
        compile_mask((path,), transaction)
    assert caught.value.code is Code.INVALID_ARGUMENT
    assert caught.value.message == f"invalid read_mask path: {path}"


def test_missing_mask_means_the_default_and_empty_mask_means_nothing(messages, transaction):
    request = messages.message("sui.rpc.v2.GetTransactionRequest")()
    assert "digest" in requested_mask(request, transaction, "digest")
    request.read_mask.SetInParent()
    assert dict(requested_mask(request, transaction, "digest")) == {}


def test_prune_keeps_only_requested_fields(messages, transaction):
    message = messages.message("sui.rpc.v2.ExecutedTransaction")(
        digest="d",
        effects={"status": {"success": True}, "epoch": 3},
        events={"events": [{"module": "m", "sender": "s"}, {"sender": "t"}]},
    )
    prune(message, compile_mask(("effects.epoch", "events.events.sender"), transaction))
    assert message == messages.message("sui.rpc.v2.ExecutedTransaction")(
        effects={"epoch": 3}, events={"events": [{"sender": "s"}, {"sender": "t"}]}
    )
