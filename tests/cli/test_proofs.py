"""The commands `proof show` and `proof verify`, also with another node of the same chain."""

import asyncio
import json
import shutil

import pytest

from nexus_tools.contracts import Deployment
from nexus_tools.registry import Invocations
from nexus_tools.sui.client import SuiClient
from nexus_tools.sui.network import Network
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import Answer
from tests.cli.conftest import Home, make_definition

INPUT = '{"a": 1, "b": 2}'
HOSTILE = "3\x1b[31m\u202eSUI"


def settle(operator, name, leader, invocation, answer):
    """Settle an invocation as the operator's Leader would."""
    url = operator.json("network", "show")["url"]

    async def close():
        async with SuiClient(Network(name, url), operator.wallet.signer()) as client:
            deployment = Deployment.parse(operator.settings["deployments"][name])
            invocations = Invocations(client, deployment)
            await invocations.close(Address.parse(leader), {Address.parse(invocation): answer})

    asyncio.run(close())


@pytest.fixture
def request_call(author, registered_fqn):
    def request_call():
        options = ("--input", INPUT, "--no-wait", "--yes")
        return author.json("tool", "invoke", registered_fqn, *options)["invocation"]

    return request_call


@pytest.fixture
def settled(request_call, operator, operator_leader):
    place = request_call()
    settle(operator, "test", operator_leader, place, Answer("ok", {"total": HOSTILE}))
    return place


@pytest.fixture
def proof_file(author, settled, tmp_path):
    file = tmp_path / "proof.json"
    assert author.run("proof", "show", settled, "--output", file).code == 0
    return file


def test_saved_proof_is_verified_by_another_user(stranger, proof_file, settled):
    result = stranger.run("proof", "verify", proof_file)
    assert result.code == 0, result.stderr
    assert "✓ the proof is valid" in result.stderr
    assert "paid 0.001 SUI" in result.stdout
    document = stranger.json("proof", "verify", proof_file)
    assert (document["valid"], document["invocation"]) == (True, settled)
    assert {check["state"] for check in document["checks"]} == {"passed", "not_applicable"}
    assert document["call"] == json.loads(proof_file.read_text())["call"]


def test_proof_errors_name_the_next_command(author, registered_fqn):
    named = author.run("proof", "show", registered_fqn, "--json").error
    assert named["message"] == f"expected the ID of an invocation, got {registered_fqn!r}"
    assert "nexus-tools invocation list --closed" in named["hint"]
    place = "0x" + 64 * "7"
    missing = author.run("proof", "verify", place, "--json").error
    assert f"nexus-tools proof show {place}" in missing["hint"]


def test_proof_on_stdin_is_verified(author, stranger, settled):
    text = author.run("proof", "show", settled, "--json").stdout
    assert stranger.run("proof", "verify", "-", stdin=text).code == 0


def test_shown_proof_is_safe_for_a_terminal(author, settled):
    shown = author.run("proof", "show", settled).stdout
    assert "0.001 SUI to 0x" in shown
    assert "This document proves:" in shown
    assert "It does not prove:" in shown
    assert not {"\x1b", "\u202e"} & {*shown}


def test_forged_proof_is_refused_with_the_failed_check(stranger, proof_file):
    document = json.loads(proof_file.read_text())
    document["call"]["price_mist"] = 5_000_000_000
    proof_file.write_text(json.dumps(document))
    result = stranger.run("proof", "verify", proof_file)
    assert result.code == 7
    assert "✗ call " in result.stdout
    assert "price_mist" in result.stdout
    assert "paid" not in result.stdout
    result = stranger.run("proof", "verify", proof_file, "--json")
    assert (result.code, result.error["code"]) == (7, "proof_refused")
    assert result.error["details"]["failed"] == ["call"]
    assert (result.document["valid"], result.document["call"]) == (False, None)


def test_malformed_proof_is_refused(stranger, tmp_path):
    file = tmp_path / "proof.json"
    file.write_text("{}")
    assert stranger.fails("proof", "verify", file) == (7, "proof_malformed")
    assert stranger.fails("proof", "verify", tmp_path / "none") == (2, "output_file_unreadable")


def test_unpaid_call_has_no_proof(author, request_call):
    assert author.fails("proof", "show", request_call()) == (4, "not_settled")
    assert author.fails("proof", "show", f"0x{2**40:064x}") == (3, "invocation_unknown")


# --- Another node


def start_localnet(home, *options):
    result = home.spawn("localnet", "start", "--detach", "--port", "0", "--json", *options)
    assert result.code == 0, result.stderr


@pytest.fixture
def make_home(tmp_path):
    made = []

    def make(name):
        made.append(Home(tmp_path / name))
        return made[-1]

    yield make
    for home in made:
        home.run("localnet", "stop")


@pytest.mark.long
def test_proof_is_verified_by_an_independent_node(make_home, tmp_path):
    """The second node is another process, with a copy of the chain and nothing of the first."""
    first, second, other = (make_home(name) for name in ("first", "second", "other"))
    for home in (first, other):
        start_localnet(home, "--state", home.folder / "state")
        home.json("wallet", "new", "author")
        home.json("localnet", "faucet")
        home.json("package", "publish", "--yes")
    leader = first.json("leader", "register", "--yes")["leader"]
    meta = tmp_path / "meta.json"
    meta.write_text(json.dumps(make_definition("independent")))
    terms = ("--price", "0.001", "--leader", leader)
    first.json("tool", "register", "--from-meta", meta, *terms, "--yes")
    options = ("--input", INPUT, "--no-wait", "--yes")
    place = first.json("tool", "invoke", "xyz.test.tindependent@1", *options)["invocation"]
    settle(first, "localnet", leader, place, Answer("ok", {"total": 3}))
    file = tmp_path / "proof.json"
    assert first.run("proof", "show", place, "--output", file).code == 0
    first.json("localnet", "stop")
    shutil.copytree(first.folder / "state", second.folder / "state")
    start_localnet(second, "--state", second.folder / "state")
    second.configure(deployments=first.settings["deployments"])
    assert second.json("proof", "verify", file)["valid"]
    forged = json.loads(file.read_text()) | {"chain_id": other.json("network", "show")["chain_id"]}
    file.write_text(json.dumps(forged))
    result = other.run("proof", "verify", file, "--json")
    assert result.code == 7
    assert {"request.node", "closing.node", "package"} <= {*result.error["details"]["failed"]}
