"""Proofs of paid calls, changes of their readable part, and malformed documents."""

import json
import random
from base64 import b64decode, b64encode
from copy import deepcopy
from hashlib import blake2b

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from nexus_tools.contracts import ports_of
from nexus_tools.errors import ValidationError, WrongStateError
from nexus_tools.registry import (
    MAX_PROOF_BYTES,
    CheckState,
    ProofDocument,
    Registration,
    verify_proof,
)
from nexus_tools.registry.proofs import verification
from nexus_tools.registry.proofs.evidence import decode_transaction, read_call
from nexus_tools.sui.keystore import KeyPair
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.transaction import InputArgument, Pure
from nexus_tools.tool import Answer, Failure, FailureReason, OutcomeSignature
from tests.registry.conftest import CALL_ANSWER as ANSWER
from tests.registry.conftest import CALL_INPUTS as INPUTS

PRICE = 500
FORGER = KeyPair.from_bytes(b"\0" + bytes([77] * 32))


async def test_proof_contains_the_call_and_verifies(
    proof, verify, settled, user, owner, active_leader, priced_tool
):
    verification = await verify(proof.as_json())
    assert verification.is_valid, verification.failed
    states = {check.name: check.state for check in verification.checks}
    assert states.pop("call.signature") is CheckState.NOT_APPLICABLE
    assert set(states.values()) == {CheckState.PASSED}
    call = proof.call
    assert (proof.invocation, call.tool, call.fqn) == (settled, priced_tool.id, priced_tool.fqn)
    assert (call.requester, call.payout, call.leader) == (
        user.address,
        owner.address,
        active_leader,
    )
    assert (call.inputs, call.variant, call.ports) == (INPUTS, "ok", {"result": [42, 1]})
    assert (call.price_mist, call.settlement, call.signature) == (PRICE, "leader", None)
    assert call.price_mist + call.fee_mist + call.refund_mist == call.payment_mist
    assert any("invented" in limit for limit in proof.statements.does_not_prove)


async def test_deleted_invocation_can_be_proved(invocations, prove, proof, settled):
    await invocations.delete(settled)
    assert await prove(settled) == proof


@pytest.mark.parametrize("ending", ["open", "failed", "expired"])
async def test_unpaid_call_has_no_proof(
    invocations, closing, priced_tool, active_leader, prove, chain, ending
):
    _, place = await invocations.request(priced_tool, INPUTS)
    if ending == "failed":
        await closing.close(active_leader, {place: Failure(FailureReason.TIMED_OUT, "")})
    if ending == "expired":
        chain.net.advance_clock(60_000)
        await invocations.expire(place)
    with pytest.raises(WrongStateError) as caught:
        await prove(place)
    assert caught.value.code == "not_settled"
    assert ("not closed yet" if ending == "open" else ending) in caught.value.message


# --- Signed answers


@pytest.fixture
async def signed_proof(registry, define, invocations, closing, active_leader, prove):
    """Return the proof of a call whose answer the tool signed."""
    key = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
    public = key.public_key().public_bytes_raw()
    terms = {"leaders": (active_leader,), "keys": (public,), "requires_signed_outcome": True}
    await registry.register(Registration(define("xyz.example.math.signed@1"), **terms))
    tool = await registry.get("xyz.example.math.signed@1")
    _, place = await invocations.request(tool, INPUTS)

    def digest(values):
        return blake2b(type(ports_of(values)).bcs.encode(ports_of(values)), digest_size=32).digest()

    message = b"nexus_tools::outcome" + place + digest(INPUTS) + b"\2ok" + digest(ANSWER.ports)
    signature = OutcomeSignature(public, key.sign(message))
    await closing.close(active_leader, {place: Answer("ok", ANSWER.ports, signature)})
    return await prove(place)


async def test_proof_contains_the_signature_of_the_tool(signed_proof, verify):
    verification = await verify(signed_proof.as_json())
    assert verification.is_valid, verification.failed
    states = {check.name: check.state for check in verification.checks}
    assert states["call.signature"] is CheckState.PASSED
    assert signed_proof.call.settlement == "signature"
    assert signed_proof.call.signature.key.startswith("ed25519:")
    assert not any("invented" in limit for limit in signed_proof.statements.does_not_prove)


async def test_proof_with_another_signature_of_the_answer_is_refused(signed_proof, failed_checks):
    forged = signed_proof.as_json()
    forged["call"]["signature"]["signature"] = b64encode(bytes(64)).decode()
    assert await failed_checks(forged) == {"call"}
    forged["call"]["signature"] = None
    assert await failed_checks(forged) == {"call"}


async def test_other_calls_in_the_settlement_do_not_hide_the_signature(signed_proof, chain):
    """A leader may add calls of its own package that look like the settlement."""
    request, closing = map(decode_transaction, (signed_proof.request, signed_proof.closing))
    kind = closing.data.kind
    [settle] = [one for one in kind.commands if getattr(one, "module", "") == "signed_outcome"]
    first = len(kind.inputs)
    arguments = list(settle.arguments)
    arguments[4:6] = [InputArgument(first), InputArgument(first + 1)]
    decoys = [
        replace(settle, package=Address.of(7), arguments=tuple(arguments)),
        replace(settle, arguments=(settle.arguments[0],) * 7),
    ]
    junk = (Pure(b"\x20" + bytes(32)), Pure(b"\xff"))
    forged = replace(kind, inputs=(*kind.inputs, *junk), commands=(*decoys, *kind.commands))
    closing = replace(closing, data=replace(closing.data, kind=forged))
    call = read_call(chain.deployment, signed_proof.invocation, request, closing)
    assert call.signature == signed_proof.call.signature


# --- Forgeries of the readable part


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("price_mist", 5_000_000),
        ("payment_mist", 1),
        ("payout", str(FORGER.address)),
        ("requester", str(FORGER.address)),
        ("tool", "0x" + "7" * 64),
        ("fqn", "xyz.example.math.subtract@1"),
        ("requested_at_ms", 1),
        ("settled_at_ms", 1_900_000_000_000),
        ("variant", "err"),
        ("ports", {"result": [43, 1]}),
        ("ports", {"result": [1, 42]}),
        ("ports", {"result": [42, True]}),
        ("ports", {"result": [42.0, 1]}),
        ("inputs", {"a": 2, "b": [1, 40]}),
        ("leader", str(FORGER.address)),
        ("execution", "0x" + "7" * 64),
    ],
)
async def test_call_that_differs_from_the_bytes_is_refused(proof, verify, field, value):
    forged = proof.as_json()
    forged["call"][field] = value
    [check, *others] = (await verify(forged)).failed
    assert check.name == "call"
    assert field in check.detail
    assert {other.name for other in others} <= {"statements"}


async def test_other_explanations_are_refused(proof, failed_checks):
    forged = proof.as_json()
    forged["statements"]["proves"]["call.variant"] = "The answer is correct."
    assert await failed_checks(forged) == {"statements"}
    forged = proof.as_json()
    forged["statements"]["does_not_prove"] = []
    assert await failed_checks(forged) == {"statements"}


# --- Documents of any content


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"version": True},
        {"format": "other"},
        {"note": "The answer is correct."},
        {"checkpoints": []},
        {"call": None},
        {"package": "0x2"},
        {"invocation": 7},
    ],
    ids=str,
)
async def test_document_of_another_form_is_malformed(proof, change):
    text = json.dumps(proof.as_json() | change).encode()
    with pytest.raises(ValidationError) as caught:
        ProofDocument.parse(text)
    assert caught.value.code == "proof_malformed"


async def test_repeated_field_is_malformed(proof):
    """Programs disagree about the value of a repeated field."""
    text = json.dumps(proof.as_json())
    repeated = text.replace('"call": {', '"call": {"price_mist": 5000000, ', 1)
    with pytest.raises(ValidationError) as caught:
        ProofDocument.parse(repeated.encode())
    assert caught.value.code == "proof_malformed"


def test_too_large_document_is_malformed():
    with pytest.raises(ValidationError) as caught:
        ProofDocument.parse(b" " * (MAX_PROOF_BYTES + 1))
    assert caught.value.code == "proof_malformed"


@pytest.mark.parametrize("part", ["request", "closing"])
@pytest.mark.parametrize("field", ["transaction", "effects", "invocation"])
async def test_bytes_beyond_the_limits_of_the_chain_are_malformed(proof, part, field):
    """The sender of a document could otherwise occupy its verifier for minutes."""
    forged = proof.as_json()
    limit = 128 * 1024 if field == "transaction" else 512 * 1024
    forged[part][field] = b64encode(bytes(limit)).decode()
    ProofDocument.parse(json.dumps(forged).encode())
    forged[part][field] = b64encode(bytes(limit + 1)).decode()
    with pytest.raises(ValidationError) as caught:
        ProofDocument.parse(json.dumps(forged).encode())
    assert caught.value.code == "proof_malformed"


@pytest.mark.parametrize("part", ["request", "closing"])
async def test_invalid_bytes_are_decoded_once(proof, failed_checks, monkeypatch, part):
    """The other parts of a document, such as events, may have several megabytes."""
    decoded = []

    def count(evidence):
        decoded.append(evidence)
        return decode_transaction(evidence)

    monkeypatch.setattr(verification, "decode_transaction", count)
    forged = proof.as_json()
    forged[part]["events"] = b64encode(b"\x01").decode()
    assert f"{part}.effects" in await failed_checks(forged)
    assert len(decoded) == 2


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda values: st.lists(values) | st.dictionaries(st.text(), values),
)


@settings(max_examples=40)
@given(st.binary() | json_values.map(lambda value: json.dumps(value).encode()))
def test_any_text_that_is_not_a_proof_is_malformed(text):
    with pytest.raises(ValidationError) as caught:
        ProofDocument.parse(text)
    assert caught.value.code == "proof_malformed"


async def test_randomly_changed_proofs_are_refused_without_a_crash(proof, owner, chain):
    chooser = random.Random(7)
    original = proof.as_json()
    refused = malformed = 0
    for _ in range(300):
        forged = deepcopy(original)
        change_anything(forged, chooser)
        if forged == original:
            continue
        try:
            parsed = ProofDocument.parse(json.dumps(forged).encode())
        except ValidationError:
            malformed += 1
            continue
        assert not (await verify_proof(owner, chain.deployment, parsed)).is_valid
        refused += 1
    assert refused > 30
    assert malformed > 30


def change_anything(document, chooser):
    """Change a random value: a bit or a byte of bytes, or another JSON value."""
    container, key = document, chooser.choice(list(document))
    while isinstance(container[key], dict | list) and container[key] and chooser.random() < 0.9:
        container = container[key]
        key = chooser.choice(
            list(container) if isinstance(container, dict) else range(len(container))
        )
    value = container[key]
    if isinstance(value, str) and len(value) > 60 and not value.startswith("0x"):
        data = bytearray(b64decode(value)) if " " not in value else bytearray(value.encode())
        data[chooser.randrange(len(data))] ^= 1 << chooser.randrange(8)
        container[key] = b64encode(bytes(data)).decode()
    else:
        container[key] = chooser.choice([None, 0, -1, 2**70, "", "x" * 50, [], {}, value])
