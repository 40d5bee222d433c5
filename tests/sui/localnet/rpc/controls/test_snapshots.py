"""Snapshots and reverts over HTTP."""

import httpx
import pytest

RECIPIENT = "0x" + "cd" * 32


def post(localnet, path, body=None):
    return httpx.post(f"{localnet.url}{path}", json=body or {})


def checkpoint(localnet):
    return httpx.get(f"{localnet.url}/health").json()["checkpoint"]


def test_revert_undoes_everything_since_the_snapshot(localnet):
    snapshot = post(localnet, "/snapshot").json()
    assert snapshot["checkpoint"] == checkpoint(localnet)
    for _ in range(2):
        post(localnet, "/v2/gas", {"FixedAmountRequest": {"recipient": RECIPIENT}})
        assert checkpoint(localnet) > snapshot["checkpoint"]
        answer = post(localnet, "/revert", snapshot)
        assert (answer.status_code, answer.json()) == (200, snapshot)
        assert checkpoint(localnet) == snapshot["checkpoint"]


def test_snapshot_of_another_chain_does_not_exist(localnet):
    here = checkpoint(localnet)
    answer = post(localnet, "/revert", {"checkpoint": 0, "digest": "1" * 32})
    assert answer.status_code == 409
    assert answer.json()["error"]
    assert checkpoint(localnet) == here


@pytest.mark.parametrize(
    "body",
    [
        {"checkpoint": 0},
        {"checkpoint": -1, "digest": "1" * 32},
        {"checkpoint": True, "digest": "1" * 32},
        {"checkpoint": 0, "digest": "0OIl"},
        [1],
    ],
)
def test_invalid_snapshot_is_refused(localnet, body):
    answer = post(localnet, "/revert", body)
    assert answer.status_code == 400
    assert answer.json()["error"]
