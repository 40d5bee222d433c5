"""`0x3::validator::validate_metadata_bcs`: the codes of `ValidatorMetadataV1::verify`."""

from dataclasses import replace

import pytest

from nexus_tools.localnet.natives import MalformedArgument
from nexus_tools.sui.address import Address
from nexus_tools.sui.system_state import VALIDATOR_METADATA, MoveTable, ValidatorMetadata

# Keys and proof of a validator in the framework's own tests (`validator_builder.move`).
PROTOCOL_KEY = bytes.fromhex(
    "99f25ef61f8032b914636460982c5cc6f134ef1ddae76657f2cbfec1ebfc8d097374080df6fcf0dcb8bc4b0d8e0af5"
    "d80ebbff2b4c599f54f42d6312dfc314276078c1cc347ebbbec5198be258513f386b930d02c2749a803e2330955ebd"
    "1a10"
)
PROOF = bytes.fromhex(
    "b01cc86f421beca7ab4cfca87c0799c4d038c199dd399fbec1924d4d4367866dba9e84d514710b91feb65316e4ceef"
    "43"
)
NETWORK_KEY = bytes.fromhex("ab0227038b69a6ab999766c597ba8c74725ad5e114a73c45cb0cb4c609d97526")
WORKER_KEY = bytes.fromhex("ab0327038b69a6ab999766c597ba8c74725ad5e114a73c45cb0cb4c609d97526")
UDP = "/ip4/127.0.0.1/udp/8081"

VALID = ValidatorMetadata(
    address=Address.of(7),
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


def test_the_metadata_of_the_frameworks_own_tests_is_accepted(call):
    call(*arguments(VALID), package=3)


@pytest.mark.parametrize("address", ["", "/dns4/a.example/tcp/443/https", "/unix/socket"])
def test_a_network_address_may_be_any_multiaddr(call, address):
    call(*arguments(replace(VALID, network_address=address)), package=3)


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        ("proof_of_possession", PROOF[:-1], 0),
        ("proof_of_possession", bytes(48), 0),
        ("protocol_public_key", PROTOCOL_KEY + b"\0", 1),
        ("protocol_public_key", b"\xc0" + bytes(95), 1),
        ("network_public_key", NETWORK_KEY[:-1], 2),
        ("worker_public_key", b"", 3),
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
        ("next_epoch_network_public_key", b"", 2),
        ("next_epoch_worker_public_key", b"", 3),
        ("next_epoch_network_address", "nowhere", 4),
        ("next_epoch_p2p_address", "/tcp/80", 5),
        ("next_epoch_primary_address", "/unix/socket", 6),
        ("next_epoch_worker_address", "/ip4/127.0.0.1", 7),
    ],
)
def test_the_code_says_what_is_wrong(call, field, value, code):
    metadata = replace(VALID, **{field: value})
    assert call.aborts(*arguments(metadata), package=3) == code


@pytest.mark.parametrize("data", [b"", b"\0" * 40, VALIDATOR_METADATA.encode(VALID) + b"\0"])
def test_bytes_that_are_no_metadata_are_malformed(call, data):
    with pytest.raises(MalformedArgument):
        call("validator", "validate_metadata_bcs", bytearray(data), package=3)


def test_the_next_keys_have_to_differ_too(call):
    metadata = replace(
        VALID,
        next_epoch_network_public_key=NETWORK_KEY,
        next_epoch_worker_public_key=NETWORK_KEY,
    )
    assert call.aborts(*arguments(metadata), package=3) == 3
