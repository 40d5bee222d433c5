"""`sui::poseidon`, with the values of the framework's own tests."""

from nexus_tools.sui.localnet.crypto.poseidon import BN254_ORDER


def elements(*numbers):
    """Return the native's argument: a reference to a vector of bytes, little-endian."""
    return [bytearray(number.to_bytes(32, "little")) for number in numbers]


def test_framework_hashes_numbers(call, at):
    largest = BN254_ORDER - 1
    assert call("poseidon", "poseidon_bn254", at([1, 2])) == (
        0x115CC0F5E7D690413DF64C6B9662E9CF2A3617F2743245519E19607A4417189A
    )
    assert call("poseidon", "poseidon_bn254", at([largest])) == (
        3366645945435192953002076803303112651887535928162668198103357554665518664470
    )


def test_hash_bytes_are_little_endian(call, at):
    found = call("poseidon", "poseidon_bn254_internal", at(elements(1)))
    assert found.hex() == "33018202c57d898b84338b16d1a4960e133c6a4d656cfec1bd62a9ea00611729"


def test_native_aborts_for_invalid_elements(call, at):
    for given in (
        elements(BN254_ORDER),
        elements(2**256 - 1),
        [bytearray(31)],
        [bytearray(33)],
        [],
        elements(*range(17)),
    ):
        assert call.aborts("poseidon", "poseidon_bn254_internal", at(given)) == 0


def test_costs_match_the_protocol(call, at):
    call("poseidon", "poseidon_bn254_internal", at(elements(1, 2, 3)))
    assert call.runtime.gas.used == 260 + 3 * 388
