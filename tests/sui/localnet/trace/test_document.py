import json

from nexus_tools.sui.localnet.trace import as_text, trace_document
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.type_tag import GAS_COIN


def test_call_document_contains_its_steps(world):
    executed = world.run("increase", world.counter, (world.u64, 5))
    (command,) = trace_document(world.trace(executed))["commands"]
    assert (command["index"], command["kind"], command["status"]) == (0, "MoveCall", "returned")
    assert (command["package"], command["module"], command["function"]) == (
        str(world.package),
        "counter",
        "increase",
    )
    assert command["arguments"][1] == {
        "source": {"kind": "input", "index": 1},
        "type": "u64",
        "value": "5",
    }
    (call,) = command["steps"]
    assert call["arguments"][0]["type"] == f"&mut {world.tag('Counter')}"
    before = {
        "id": str(world.counter),
        "name": "first",
        "value": "0",
        "status": {"@variant": "Idle"},
    }
    assert call["arguments"][0]["value"] == before
    assert call["arguments"][0]["after"] == {**before, "value": "5"}
    assert call["results"] == [{"type": "u64", "value": "5"}]
    assert [(step["kind"], step.get("function")) for step in call["steps"]] == [
        ("call", "check"),
        ("call", "sum"),
        ("call", "emit"),
        ("event", None),
    ]
    assert call["steps"][2]["is_native"]
    assert call["steps"][3] == {
        "kind": "event",
        "index": 0,
        "type": str(world.tag("Increased")),
        "value": {"by": "5"},
    }


def test_transaction_document_contains_objects_and_costs(world):
    executed = world.run("increase", world.counter, (world.u64, 5))
    document = trace_document(world.trace(executed))
    assert json.loads(json.dumps(document)) == document
    used = executed.effects.gas_used
    assert document["digest"] == str(executed.digest)
    assert document["effects_digest"] == str(executed.effects_digest)
    assert document["status"] == {"success": True}
    assert document["sender"] == str(world.address)
    assert document["is_faithful"]
    assert document["gas"]["net_mist"] == (
        used.computation_cost + used.storage_cost - used.storage_rebate
    )
    owner = {"kind": "address", "address": str(world.address)}
    counter, coin = sorted(document["objects"], key=lambda each: "coin" in each["type"])
    assert counter == {
        "change": "mutated",
        "id": str(world.counter),
        "type": str(world.tag("Counter")),
        "version": executed.effects.lamport_version,
        "owner": owner,
        "version_before": executed.effects.lamport_version - 1,
        "owner_before": owner,
    }
    assert coin["type"] == str(GAS_COIN)


def test_values_can_be_text(world):
    executed = world.run("increase", world.counter, (world.u64, 5))
    (command,) = trace_document(world.trace(executed), as_text)["commands"]
    value = f'Counter {{id: {world.counter}, name: "first", value: 0, status: Status::Idle}}'
    assert command["arguments"][0]["value"] == value
    assert command["steps"][0]["steps"][3]["value"] == "Increased {by: 5}"


def test_failure_document_contains_its_location(world):
    executed = world.run("increase", world.counter, (world.u64, 4))
    status = trace_document(world.trace(executed))["status"]
    assert (status["success"], status["error"], status["command"]) == (False, "MOVE_ABORT", 0)
    assert status["location"]["package"] == str(world.package)
    assert (status["location"]["module"], status["location"]["function"]) == ("counter", "check")
    assert status["clever_error"] == {
        "line": world.line("assert!(by % 2 == 1, ENotOdd)"),
        "code": None,
        "constant": "ENotOdd",
        "value": "The number must be odd",
        "bcs": None,
    }


def test_failure_without_a_location_has_none(world):
    builder = TransactionBuilder()
    builder.transfer_objects([builder.split_coins(builder.gas, [2**63])[0]], world.address)
    status = trace_document(world.trace(world.send(builder)))["status"]
    assert status["error"] == "INSUFFICIENT_COIN_BALANCE"
    assert [status[key] for key in ("location", "abort_code", "clever_error")] == [None] * 3


def test_publish_document_names_the_modules(world):
    publish, transfer = trace_document(world.trace(world.publishing))["commands"]
    assert (publish["package"], publish["modules"]) == (str(world.package), ["counter"])
    assert transfer["arguments"][0]["source"] == {"kind": "result", "command": 0, "index": 0}


def test_unreadable_modules_have_no_name(world):
    builder = TransactionBuilder()
    builder.transfer_objects([builder.publish([b"no module"], [])], world.address)
    document = trace_document(world.trace(world.send(builder)))
    assert document["commands"][0]["modules"] == [None]
    assert document["commands"][0]["status"] == "failed"


def test_deep_calls_fit_into_a_document(world):
    executed = world.run("climb", world.counter, (world.u64, 500))
    document = trace_document(world.trace(executed))
    assert json.dumps(document).count('"climb"') == 101  # a hundred calls, and the command
    assert document["left_out"] == 401
