"""`0x3::validator::validate_metadata_bcs`: the codes of `ValidatorMetadataV1::verify`."""

import pytest
from msgspec.structs import replace

from nexus_tools.sui.localnet.genesis import VALIDATORS
from nexus_tools.sui.localnet.natives import MalformedArgument
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.system_state import VALIDATOR_METADATA, MoveTable, ValidatorMetadata

# Account, keys and proof of a validator in the framework's own tests (`validator_builder.move`).
ACCOUNT = Address.parse("0xaf76afe6f866d8426d2be85d6ef0b11f871a251d043b2f11e15563bf418f5a5a")
PROTOCOL_KEY = bytes.fromhex(
    "99f25ef61f8032b914636460982c5cc6f134ef1ddae76657f2cbfec1ebfc8d097374080df6fcf0dcb8bc4b0d8e0af5"
    "d80ebbff2b4c599f54f42d6312dfc314276078c1cc347ebbbec5198be258513f386b930d02c2749a803e2330955ebd"
    "1a10"
)
PROOF = bytes.fromhex(
    "b01cc86f421beca7ab4cfca87c0799c4d038c199dd399fbec1924d4d4367866dba9e84d514710b91feb65316e4ceef"
    "43"
)
# Another key of the same account, and its proof (`validator_metadata_tests.move`).
NEXT_KEY = bytes.fromhex(
    "96d19c53f1bee2158c3fcfb5bb2f06d3a8237667529d2d8f0fbb22fe5c3b3e64748420b4103674490476d98530d063"
    "271222d2a59b0f7932909cc455a30f00c69380e6885375e94243f7468e9563aad29330aca7ab431927540e9508888f"
    "0e1c"
)
NEXT_PROOF = bytes.fromhex(
    "a8a0bcaf04e13565914eb22fa9f27a76f297db04446860ee2b923d10224cedb130b30783fb60b12556e7fc50e5b57a"
    "86"
)
# Points of the curves outside of the groups, by the tests of Ethereum's consensus.
OUTSIDE_G1 = bytes.fromhex("8" + "123456789abcdef0" * 5 + "123456789abcdef")
OUTSIDE_G2 = OUTSIDE_G1 + bytes.fromhex("0123456789abcdef" * 6)
NETWORK_KEY = bytes.fromhex("ab0227038b69a6ab999766c597ba8c74725ad5e114a73c45cb0cb4c609d97526")
WORKER_KEY = bytes.fromhex("ab0327038b69a6ab999766c597ba8c74725ad5e114a73c45cb0cb4c609d97526")
NO_ED25519_KEY = bytes([2, *[0] * 31])  # by RFC 8032, no point has y = 2
UDP = "/ip4/127.0.0.1/udp/8081"

VALID = ValidatorMetadata(
    address=ACCOUNT,
    protocol_public_key=PROTOCOL_KEY,
    network_public_key=NETWORK_KEY,
    worker_public_key=WORKER_KEY,
    proof_of_possession=PROOF,
    name="name",
    description="",
    image_url="",
    project_url="",
    network_address="/ip4/127.0.0.1/tcp/8080/http",
    p2p_address=UDP,
    primary_address="/dns/validator.example/udp/8082",
    worker_address="/ip6/::1/udp/8083",
    next_epoch_protocol_public_key=None,
    next_epoch_proof_of_possession=None,
    next_epoch_network_public_key=None,
    next_epoch_worker_public_key=None,
    next_epoch_network_address=None,
    next_epoch_p2p_address=None,
    next_epoch_primary_address=None,
    next_epoch_worker_address=None,
    extra_fields=MoveTable(Address.of(8), 0),
)


def arguments(metadata):
    encoded = bytearray(VALIDATOR_METADATA.encode(metadata))
    return "validator", "validate_metadata_bcs", encoded


def test_metadata_of_framework_tests_is_accepted(call):
    call(*arguments(VALID), package=3)


@pytest.mark.parametrize("address", ["", "/dns4/a.example/tcp/443/https", "/unix/socket"])
def test_network_address_may_be_any_multiaddr(call, address):
    call(*arguments(replace(VALID, network_address=address)), package=3)


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        ("proof_of_possession", PROOF[:-1], 0),
        ("proof_of_possession", bytes(48), 0),
        ("proof_of_possession", OUTSIDE_G1, 0),
        ("proof_of_possession", NEXT_PROOF, 0),
        ("address", Address.of(7), 0),  # another account's proof
        ("protocol_public_key", PROTOCOL_KEY + b"\0", 1),
        ("protocol_public_key", bytes([PROTOCOL_KEY[0] ^ 1]) + PROTOCOL_KEY[1:], 1),
        ("protocol_public_key", b"\xc0" + bytes(95), 0),  # the group is checked with the proof
        ("protocol_public_key", OUTSIDE_G2, 0),
        ("protocol_public_key", NEXT_KEY, 0),
        ("network_public_key", NETWORK_KEY[:-1], 2),
        ("network_public_key", NO_ED25519_KEY, 2),
        ("worker_public_key", b"", 3),
        ("worker_public_key", NO_ED25519_KEY, 3),
        ("worker_public_key", NETWORK_KEY, 3),
        ("network_address", "127.0.0.1:80", 4),
        ("network_address", "/ip4/127.0.0.1/tcp", 4),
        ("network_address", "/ip4/256.0.0.1/tcp/80", 4),
        ("network_address", "/ip4/127.0.0.1/tcp/65536", 4),
        ("p2p_address", "/ip4/127.0.0.1/tcp/80", 5),
        ("primary_address", "", 6),
        ("worker_address", "/dns4/a.example/udp/80", 7),
        ("next_epoch_protocol_public_key", PROTOCOL_KEY, 0),  # without a proof
        ("next_epoch_protocol_public_key", b"", 1),
        ("next_epoch_proof_of_possession", b"", 0),
        ("next_epoch_network_public_key", b"", 2),
        ("next_epoch_worker_public_key", b"", 3),
        ("next_epoch_network_address", "nowhere", 4),
        ("next_epoch_p2p_address", "/tcp/80", 5),
        ("next_epoch_primary_address", "/unix/socket", 6),
        ("next_epoch_worker_address", "/ip4/127.0.0.1", 7),
    ],
)
def test_abort_code_identifies_invalid_field(call, field, value, code):
    metadata = replace(VALID, **{field: value})
    assert call.aborts(*arguments(metadata), package=3) == code


@pytest.mark.parametrize("data", [b"", b"\0" * 40, VALIDATOR_METADATA.encode(VALID) + b"\0"])
def test_invalid_metadata_bytes_are_malformed(call, data):
    with pytest.raises(MalformedArgument):
        call("validator", "validate_metadata_bcs", bytearray(data), package=3)


def test_next_keys_must_differ(call):
    metadata = replace(
        VALID,
        next_epoch_network_public_key=NETWORK_KEY,
        next_epoch_worker_public_key=NETWORK_KEY,
    )
    assert call.aborts(*arguments(metadata), package=3) == 3


def with_next_key(proof):
    return replace(
        VALID, next_epoch_protocol_public_key=NEXT_KEY, next_epoch_proof_of_possession=proof
    )


def test_next_key_with_proof_is_accepted(call):
    call(*arguments(with_next_key(NEXT_PROOF)), package=3)


@pytest.mark.parametrize("proof", [PROOF, OUTSIDE_G1, None])
def test_next_key_without_proof_is_rejected(call, proof):
    assert call.aborts(*arguments(with_next_key(proof)), package=3) == 0


def test_localnet_validator_has_proved_its_key(call):
    validator = VALIDATORS[0]
    metadata = replace(
        VALID,
        address=validator.address,
        protocol_public_key=validator.protocol_public_key,
        proof_of_possession=validator.proof_of_possession,
    )
    call(*arguments(metadata), package=3)
