"""Forgeries of the bytes in proofs of paid calls.

A forger gains if a reader believes that a call was paid more, later, by or for another account, or
had another answer. Each forgery changes a valid proof as far as the forger can make it consistent.
"""

from base64 import b64decode, b64encode

import pytest
from msgspec.structs import replace

from nexus_tools.contracts import Publisher, ports_of
from nexus_tools.contracts.move_bindings.invocation import (
    Invocation,
    InvocationFailed,
    InvocationSettled,
)
from nexus_tools.registry import (
    Invocations,
    LeaderRegistry,
    Registration,
    ToolRegistry,
    make_proof,
)
from nexus_tools.sui.keystore import KeyPair
from nexus_tools.sui.types.checkpoint import CHECKPOINT_CONTENTS, CHECKPOINT_SUMMARY
from nexus_tools.sui.types.digest import checkpoint_contents_digest, events_digest, object_digest
from nexus_tools.sui.types.effects import TRANSACTION_EFFECTS
from nexus_tools.sui.types.event import EVENTS
from nexus_tools.sui.types.execution_status import (
    ErrorKind,
    ExecutionError,
    ExecutionFailure,
)
from nexus_tools.sui.types.object import OBJECT
from nexus_tools.sui.types.transaction import TRANSACTION_DATA
from nexus_tools.tool import Answer, Failure, FailureReason
from tests.registry.conftest import CALL_ANSWER as ANSWER
from tests.registry.conftest import CALL_INPUTS as INPUTS

PRICE = 500
FORGER = KeyPair.from_bytes(b"\0" + bytes([77] * 32))


def decoded(codec, text):
    return codec.decode(b64decode(text))


def encoded(codec, value):
    return b64encode(codec.encode(value)).decode()


def forge_settlement(document, deployment, change):
    """Change the event of the settlement, and its digest in the effects."""
    part = document["closing"]
    events = list(decoded(EVENTS, part["events"]))
    for place, event in enumerate(events):
        parsed = deployment.decoder.event(event)
        if isinstance(parsed, InvocationSettled):
            contents = InvocationSettled.bcs.encode(replace(parsed, **change(parsed)))
            events[place] = replace(event, contents=contents)
    part["events"] = encoded(EVENTS, tuple(events))
    digest = events_digest(b64decode(part["events"]))
    forge_effects(part, events_digest=digest)


def forge_effects(part, **changes):
    effects = decoded(TRANSACTION_EFFECTS, part["effects"])
    part["effects"] = encoded(TRANSACTION_EFFECTS, replace(effects, **changes))


def forge_state(document, deployment, **changes):
    """Change the closed invocation, and its digest in the effects."""
    part = document["closing"]
    value = decoded(OBJECT, part["invocation"])
    invocation = deployment.decode(value, Invocation)
    state = replace(invocation.state, **changes)
    contents = Invocation.bcs.encode(replace(invocation, state=state))
    forged = replace(value, data=replace(value.data, contents=contents))
    part["invocation"] = encoded(OBJECT, forged)
    effects = decoded(TRANSACTION_EFFECTS, part["effects"])
    objects = [
        (
            place,
            replace(change, output=replace(change.output, digest=object_digest(forged.encode()))),
        )
        if place == value.id
        else (place, change)
        for place, change in effects.changed_objects
    ]
    forge_effects(part, changed_objects=tuple(objects))


def forge_checkpoint(document, part):
    """Put the effects of a forged transaction into its checkpoint."""
    effects = decoded(TRANSACTION_EFFECTS, part["effects"])
    for checkpoint in document["checkpoints"]:
        summary = decoded(CHECKPOINT_SUMMARY, checkpoint["summary"])
        if summary.sequence_number != part["checkpoint"]:
            continue
        contents = decoded(CHECKPOINT_CONTENTS, checkpoint["contents"])
        transactions = tuple(
            (digest, effects.digest() if digest == effects.transaction_digest else other)
            for digest, other in contents.transactions
        )
        checkpoint["contents"] = encoded(
            CHECKPOINT_CONTENTS, replace(contents, transactions=transactions)
        )
        digest = checkpoint_contents_digest(b64decode(checkpoint["contents"]))
        checkpoint["summary"] = encoded(CHECKPOINT_SUMMARY, replace(summary, content_digest=digest))


async def test_another_amount_is_refused(proof, failed_checks, chain):
    """The forger gets everything consistent, except what the node confirms."""
    forged = proof.as_json()
    forge_settlement(
        forged,
        chain.deployment,
        lambda event: {"fee_mist": event.fee_mist + 1, "refund_mist": event.refund_mist - 1},
    )
    forged["call"]["fee_mist"] += 1
    forged["call"]["refund_mist"] -= 1
    assert await failed_checks(forged) == {"closing.checkpoint", "closing.node"}
    forge_checkpoint(forged, forged["closing"])
    assert await failed_checks(forged) == {"closing.node", "checkpoints.node"}


async def test_another_answer_is_refused(proof, failed_checks, chain):
    forged = proof.as_json()
    forge_state(forged, chain.deployment, ports=ports_of({"result": [42, 2]}))
    forged["call"]["ports"] = {"result": [42, 2]}
    forge_checkpoint(forged, forged["closing"])
    assert await failed_checks(forged) == {"closing.node", "checkpoints.node"}


async def test_another_time_is_refused(proof, failed_checks, chain):
    forged = proof.as_json()
    later = forged["call"]["settled_at_ms"] + 1_000
    forge_settlement(forged, chain.deployment, lambda _: {"settled_at_ms": later})
    forge_state(forged, chain.deployment, settled_at_ms=later)
    forged["call"]["settled_at_ms"] = later
    forge_checkpoint(forged, forged["closing"])
    assert await failed_checks(forged) == {"closing.node", "checkpoints.node"}


async def test_another_requester_is_refused(proof, failed_checks):
    """The forger signs the request of the requester."""
    forged = proof.as_json()
    data = decoded(TRANSACTION_DATA, forged["request"]["transaction"])
    gas = replace(data.gas, owner=FORGER.address)
    forgery = replace(data, sender=FORGER.address, gas=gas).encode()
    forged["request"]["transaction"] = b64encode(forgery).decode()
    forged["request"]["signatures"] = [b64encode(FORGER.sign(forgery)).decode()]
    forged["call"]["requester"] = str(FORGER.address)
    assert await failed_checks(forged) >= {
        "request.effects",
        "request.checkpoint",
        "request.node",
        "call",
    }


async def test_another_tool_is_refused(proof, failed_checks, registry, define, active_leader):
    """The forger exchanges the tool in the readable part for its own registered tool."""
    await registry.register(
        Registration(define("xyz.example.math.mine@1"), leaders=(active_leader,))
    )
    mine = await registry.get("xyz.example.math.mine@1")
    forged = proof.as_json()
    forged["call"] |= {"tool": str(mine.id), "fqn": mine.fqn}
    assert await failed_checks(forged) == {"call"}


async def test_swapped_signatures_are_refused(proof, failed_checks):
    forged = proof.as_json()
    request, closing = forged["request"], forged["closing"]
    request["signatures"], closing["signatures"] = closing["signatures"], request["signatures"]
    assert await failed_checks(forged) == {
        f"{part}.{check}"
        for part in ("request", "closing")
        for check in ("signatures", "checkpoint", "node")
    }


async def test_missing_signature_is_refused(proof, failed_checks):
    forged = proof.as_json()
    forged["request"]["signatures"] = []
    assert await failed_checks(forged) == {
        "request.signatures",
        "request.checkpoint",
        "request.node",
    }


async def test_effects_with_another_status_are_refused(proof, failed_checks):
    forged = proof.as_json()
    error = ExecutionError(ErrorKind.INSUFFICIENT_GAS)
    forge_effects(forged["closing"], status=ExecutionFailure(error, None))
    assert await failed_checks(forged) >= {"closing.effects", "closing.node"}


@pytest.mark.parametrize("part", ["request", "closing"])
@pytest.mark.parametrize("name", ["transaction", "effects", "events", "invocation"])
async def test_truncated_bytes_are_refused(proof, failed_checks, part, name):
    forged = proof.as_json()
    forged[part][name] = b64encode(b64decode(forged[part][name])[:-1]).decode()
    assert f"{part}.signatures" in await failed_checks(forged)


async def test_failed_call_presented_as_paid_is_refused(
    proof, failed_checks, invocations, closing, priced_tool, active_leader, user, chain
):
    """The forger puts the transactions of a failed call into the proof of a settled call."""
    _, place = await invocations.request(priced_tool, INPUTS)
    sent = await closing.close(active_leader, {place: Failure(FailureReason.TIMED_OUT, "")})
    assert closing.has_emitted(sent, InvocationFailed)
    history = await invocations.history(place)
    forged = proof.as_json()
    for part, step in zip(("request", "closing"), history.steps, strict=True):
        forged[part] = await transaction_part(user, step.transaction, place)
    forged["invocation"] = str(place)
    forged["checkpoints"] = [
        await checkpoint_part(user, forged[part]["checkpoint"]) for part in ("request", "closing")
    ]
    forged["call"] |= {"requested_in": str(history.steps[0].transaction)}
    assert await failed_checks(forged) == {"call"}


async def test_failed_call_with_an_invented_answer_is_refused(
    proof, failed_checks, invocations, closing, priced_tool, active_leader, user, chain
):
    """The forger also invents the state and the event of the settlement."""
    _, place = await invocations.request(priced_tool, INPUTS)
    await closing.close(active_leader, {place: Failure(FailureReason.TIMED_OUT, "")})
    request, failed = (await invocations.history(place)).steps
    forged = proof.as_json()
    forged["invocation"] = str(place)
    forged["request"] = await transaction_part(user, request.transaction, place)
    forged["closing"] |= await transaction_part(user, failed.transaction, place)
    forged["closing"]["events"] = proof.as_json()["closing"]["events"]
    forge_settlement(forged, chain.deployment, lambda _: {"invocation": place})
    assert {"closing.node", "call"} <= await failed_checks(forged)


async def transaction_part(client, digest, place):
    """Return the evidence of any transaction."""
    from nexus_tools.sui.client import read_transaction_record

    record = await read_transaction_record(client, digest)
    version = TRANSACTION_EFFECTS.decode(record.effects).lamport_version
    value = await client.object(place, version)
    return {
        "transaction": b64encode(record.transaction).decode(),
        "signatures": [b64encode(signature).decode() for signature in record.signatures],
        "effects": b64encode(record.effects).decode(),
        "events": b64encode(record.events).decode(),
        "invocation": b64encode(value.encode()).decode(),
        "checkpoint": record.checkpoint,
    }


async def checkpoint_part(client, number):
    from nexus_tools.sui.client import read_checkpoint_record

    record = await read_checkpoint_record(client, number)
    return {
        "summary": b64encode(record.summary).decode(),
        "contents": b64encode(record.contents).decode(),
        "signature": None,
    }


async def test_checkpoint_with_another_time_is_refused(proof, failed_checks):
    forged = proof.as_json()
    for checkpoint in forged["checkpoints"]:
        summary = decoded(CHECKPOINT_SUMMARY, checkpoint["summary"])
        checkpoint["summary"] = encoded(
            CHECKPOINT_SUMMARY, replace(summary, timestamp_ms=summary.timestamp_ms + 1)
        )
    assert await failed_checks(forged) == {"checkpoints.node"}


async def test_missing_or_repeated_checkpoint_is_refused(proof, failed_checks):
    forged = proof.as_json()
    forged["checkpoints"] = forged["checkpoints"][:1]
    assert await failed_checks(forged) == {"closing.checkpoint"}
    forged["checkpoints"] *= 2
    assert await failed_checks(forged) == {"request.checkpoint", "closing.checkpoint"}


async def test_invented_signature_of_validators_is_refused(proof, failed_checks):
    forged = proof.as_json()
    invented = {"epoch": 0, "signature": b64encode(bytes(48)).decode(), "bitmap": ""}
    forged["checkpoints"][0]["signature"] = invented
    assert await failed_checks(forged) == {"checkpoints.node"}


async def test_transactions_that_the_chain_no_longer_has_are_refused(
    chain, invocations, closing, priced_tool, active_leader, prove, failed_checks
):
    """The same happens with transactions of another chain."""
    snapshot = chain.net.snapshot()
    _, place = await invocations.request(priced_tool, INPUTS)
    await closing.close(active_leader, {place: ANSWER})
    proof = await prove(place)
    chain.net.revert(snapshot)
    assert await failed_checks(proof.as_json()) == {
        "request.node",
        "closing.node",
        "checkpoints.node",
    }


async def test_another_chain_id_is_refused(proof, failed_checks):
    forged = proof.as_json() | {"chain_id": "4btiuiMPvEENsttpZC7CZ53DruC3MAgfznDbASZ7DR6S"}
    assert await failed_checks(forged) == {"chain"}


async def test_call_of_another_deployment_is_refused(user, verify, chain, define):
    """The forger publishes its own copy of the package, in which it plays all parts."""
    other = (await Publisher(user).publish()).deployment
    _, leader = await LeaderRegistry(user, other).register("forger", activate=True)
    tools, calls = ToolRegistry(user, other), Invocations(user, other)
    await tools.register(Registration(define(), price_mist=PRICE, leaders=(leader,)))
    _, place = await calls.request(await tools.get("xyz.example.math.add@1"), {"a": 1, "b": 2})
    await calls.close(leader, {place: Answer("ok", {"result": 3})})
    document = (await make_proof(user, other, place)).as_json()
    assert (await verify(document, other)).is_valid
    assert {check.name for check in (await verify(document)).failed} == {
        "package",
        "call",
        "call.signature",
    }
    document["package"] = str(chain.deployment.original_id)
    assert {check.name for check in (await verify(document)).failed} == {"call", "call.signature"}
