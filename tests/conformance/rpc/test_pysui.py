"""A user of pysui publishes the package, registers a tool, reads it back and follows its events.

The session is a separate program, `pysui_registry.py`. These tests check its output.
"""

import json
import subprocess
import sys
from base64 import b64encode
from pathlib import Path

import pytest

import nexus_tools.contracts
from nexus_tools.sui.bcs import string
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.type_tag import ASCII_STRING, derived_object_id

SCRIPT = Path(__file__).parent / "pysui_registry.py"
PACKAGE = Path(nexus_tools.contracts.__file__).parent / "bytecode"
FQN = "com.example.echo@1"


@pytest.fixture(scope="module")
def seen(url, tmp_path_factory):
    done = subprocess.run(
        [sys.executable, str(SCRIPT), url, str(PACKAGE)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={"HOME": str(tmp_path_factory.mktemp("home")), "PATH": ""},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_faucet_paid(seen):
    assert seen["faucet"] == "Success"
    assert seen["gas_price"] == 1000


def test_tool_is_found_by_its_name(seen):
    registry = Address.parse(seen["ids"]["ToolRegistry"])
    expected = derived_object_id(registry, ASCII_STRING, string.encode(FQN))
    assert seen["tool_id"] == str(expected)


def test_registered_tool_is_read_back(seen):
    tool = seen["tool"]
    assert seen["tool_owner"] == "SHARED"
    assert tool["definition"] == {
        "fqn": FQN,
        "tool_type": "offchain",
        "url": "https://example.com/echo",
        "description": "Says what it hears.",
        "input_schema": b64encode(b"{}").decode(),
        "output_schema": b64encode(b'{"type":"object"}').decode(),
        "timeout_ms": "5000",
        "function": None,
    }
    assert (tool["price_mist"], tool["payout"]) == ("42", seen["address"])
    assert tool["leaders"]["entries"] == ["0x" + "1e" * 32]
    assert tool["collateral"]["balance"] == "1000000000"
    assert tool["collateral"]["unregistered_at_ms"] is None


def test_live_events_match_later_query(seen):
    registered, locked = seen["live"]
    assert (locked["object"], locked["amount_mist"]) == (seen["tool_id"], "1000000000")
    assert (registered["tool"], registered["fqn"]) == (seen["tool_id"], FQN)
    (changed,) = seen["missed"]
    assert changed["settings"]["collateral_mist"] == "7000000000"


def test_registry_lists_one_name(seen):
    assert seen["field_names"] == [b64encode(bytes(8)).decode()]


def test_cap_belongs_to_the_sender(seen):
    assert seen["owned"].count("UpgradeCap") == 1


def test_modules_and_functions_are_described(seen):
    assert seen["modules"] == sorted(path.stem for path in PACKAGE.glob("*.mv"))
    assert seen["parameters"] == 7


def test_past_and_present_agree(seen):
    assert seen["past_is_present"]
    assert 0 < seen["transaction_checkpoint"] <= seen["height"]
    assert seen["many"] == [seen["tool_id"], str(Address.of(6))]


def test_simulation_succeeds(seen):
    assert seen["simulated"]
