"""Signatures of transactions: the order of checks and the texts of `signature_verification.rs`."""

import pytest

from nexus_tools.errors import NotAllowedError
from nexus_tools.sui.signature import MultiSig, MultiSigMember, MultiSigPublicKey, SignatureScheme
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.execution_status import Success
from nexus_tools.sui.types.expiration import NoExpiration
from nexus_tools.sui.types.transaction import GasData, TransactionData
from nexus_tools.sui.types.type_tag import GAS_COIN, SUI

MIST = 1_000_000_000


def refusal_message(node, encoded, signatures):
    latest = node.ledger.latest
    with pytest.raises(NotAllowedError) as caught:
        node.execute(encoded, signatures)
    assert node.ledger.latest == latest
    return caught.value.message


def member(account):
    signed = account.sign(b"")
    return MultiSigMember(SignatureScheme(signed[0]), signed[65:])


def names(*accounts):
    return (
        "["
        + ", ".join(f'"{address}"' for address in sorted(account.address for account in accounts))
        + "]"
    )


@pytest.fixture
def mallory(accounts):
    return accounts(seed=66)


def test_admission_requires_one_signature_per_signer(node, alice, bob, mallory):
    encoded = alice.payment(node, bob, 1).encode()
    own, other = alice.sign(encoded), mallory.sign(encoded)
    for signatures in ([], [own, other], [own, own]):
        assert refusal_message(node, encoded, signatures) == (
            f"Expect 1 signer signatures but got {len(signatures)}"
        )


def test_error_names_the_missing_signer_and_the_present_ones(node, alice, bob, mallory):
    encoded = alice.payment(node, bob, 1).encode()
    assert refusal_message(node, encoded, [mallory.sign(encoded)]) == (
        f"Required Signature from {alice.address} is absent {names(mallory)}"
    )


def test_sponsored_transaction_needs_sender_and_sponsor(node, alice, bob, mallory):
    encoded = mallory.payment(node, bob, 1, sponsor=alice).encode()
    assert refusal_message(node, encoded, [alice.sign(encoded)]) == (
        "Expect 2 signer signatures but got 1"
    )
    assert refusal_message(node, encoded, [alice.sign(encoded)] * 2) == (
        f"Required Signature from {mallory.address} is absent {names(alice)}"
    )
    forged = bytearray(mallory.sign(encoded))
    forged[1] ^= 1
    assert refusal_message(node, encoded, [bytes(forged), alice.sign(encoded)]) == (
        "Signature is not valid: Fail to verify user sig"
        " Invalid signature was given to the function"
    )


def test_sender_who_pays_signs_once(node, alice, bob):
    encoded = alice.payment(node, bob, 1, sponsor=alice).encode()
    assert node.execute(encoded, [alice.sign(encoded)]).effects.status == Success()


def test_personal_message_signature_is_refused_for_a_transaction(node, alice, bob):
    encoded = alice.payment(node, bob, 1).encode()
    as_message = alice.sign(encoded, intent=b"\3\0\0")
    assert "Fail to verify user sig" in refusal_message(node, encoded, [as_message])


@pytest.mark.parametrize("cut", [0, 1, 96])
def test_malformed_signature_is_refused(node, alice, bob, cut):
    encoded = alice.payment(node, bob, 1).encode()
    with pytest.raises(NotAllowedError) as caught:
        node.execute(encoded, [alice.sign(encoded)[:cut]])
    assert caught.value.code == "signature_malformed"


def shared_account(node, accounts):
    """Return a funded multisig of three members, two of which must sign."""
    members = [accounts(scheme, 20) for scheme in ("ed25519", "secp256k1", "secp256r1")]
    public_key = MultiSigPublicKey.of(tuple(map(member, members)), 2)
    node.fund(public_key.address(), MIST)
    return members, public_key


def payment_by(node, address, recipient, amount):
    builder = TransactionBuilder()
    builder.transfer_objects([builder.split_coins(builder.gas, [amount])[0]], recipient)
    coin = node.ledger.owned_by(address, GAS_COIN)[0]
    gas = GasData((coin.reference(),), address, 1000, 100_000_000)
    return TransactionData(builder.finish(), address, gas, NoExpiration()).encode()


def test_multisig_pays_when_the_threshold_is_reached(node, accounts, bob):
    members, public_key = shared_account(node, accounts)
    encoded = payment_by(node, public_key.address(), bob, 5)
    signatures = [entry.sign(encoded) for entry in members]
    together = MultiSig.combine(public_key, signatures[1:])
    assert node.execute(encoded, [together.encode()]).effects.status == Success()
    assert node.ledger.balance(bob, SUI).amount == 5


def test_multisig_is_refused_below_the_threshold(node, accounts, bob):
    members, public_key = shared_account(node, accounts)
    encoded = payment_by(node, public_key.address(), bob, 5)
    whole = MultiSig.combine(public_key, [entry.sign(encoded) for entry in members])
    alone = MultiSig(whole.signatures[:1], 1, public_key)
    assert refusal_message(node, encoded, [alone.encode()]) == (
        "Signature is not valid: Insufficient weight=1 threshold=2"
    )


def test_multisig_can_sponsor(node, accounts, bob):
    members, public_key = shared_account(node, accounts)
    sender = accounts(seed=40)
    builder = TransactionBuilder()
    coin = builder.move_call(Address.of(2), "coin", "zero", type_arguments=[SUI])
    builder.transfer_objects([coin], bob)
    paying = node.ledger.owned_by(public_key.address(), GAS_COIN)[0]
    gas = GasData((paying.reference(),), public_key.address(), 1000, 100_000_000)
    data = TransactionData(builder.finish(), sender.address, gas, NoExpiration())
    encoded = data.encode()
    together = MultiSig.combine(public_key, [entry.sign(encoded) for entry in members])
    executed = node.execute(encoded, [together.encode(), sender.sign(encoded)])
    assert executed.effects.status == Success()
