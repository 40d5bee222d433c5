"""Published digests; Keccak-256 from the Keccak team's and Ethereum's test suites."""

import hashlib

import pytest

from nexus_tools.sui.localnet.crypto.keccak import sponge

SHA3_PADDING = 0x06  # FIPS 202, section B.2
FOX = b"The quick brown fox jumps over the lazy dog"


@pytest.mark.parametrize(
    ("data", "digest"),
    [
        (b"", "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"),
        (b"abc", "4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45"),
        (FOX, "4d741b6f1eb29cb2a9b9911c82f56fa8d73b04959d3d9d222895df6c0b28aa15"),
    ],
)
def test_keccak256_matches_ethereum(call, ref, data, digest):
    assert call("hash", "keccak256", ref(data)).hex() == digest


@pytest.mark.parametrize("size", [0, 1, 134, 135, 136, 137, 271, 272, 1_000])
def test_sponge_with_sha3_padding_matches_sha3(size):
    message = bytes(range(256)) * 4
    expected = hashlib.sha3_256(message[:size]).digest()
    assert sponge(message[:size], SHA3_PADDING) == expected


def test_blake2b256(call, ref):
    expected = "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319"
    assert call("hash", "blake2b256", ref(b"abc")).hex() == expected


def test_sha2_and_sha3_match_fips_180_and_202(call):
    abc = bytearray(b"abc")
    assert call("hash", "sha2_256", abc, package=1).hex() == (
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    )
    assert call("hash", "sha3_256", abc, package=1).hex() == (
        "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532"
    )


def test_hmac_sha3_256_matches_nist(call, ref):
    # NIST's example values for HMAC_SHA3-256, with a key shorter than a block.
    key, message = bytes(range(32)), b"Sample message for keylen<blocklen"
    assert call("hmac", "hmac_sha3_256", ref(key), ref(message)).hex() == (
        "4fe8e202c4f058e8dddc23d8c34e467343e23555e24fc2f025d598f558f67205"
    )


def test_hmac_sha3_256_matches_framework_test(call, ref):
    assert call("hmac", "hmac_sha3_256", ref(b"my key!"), ref(b"hello world!")).hex() == (
        "f6d6ae02f426eb9664e89e3c6d86c60e6103ce22b916819219c26e34e8d236dc"
    )
