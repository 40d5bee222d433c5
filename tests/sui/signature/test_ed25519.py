"""ZIP 215 by "Taming the many EdDSAs" (eprint.iacr.org/2020/1244).

Tables 6b and 6c, and table 5 for the verdicts of a ZIP 215 verifier; also RFC 8032, section 7.1.
"""

import pytest

from nexus_tools.sui.signature import verify_ed25519

# Every encoding of the eight points of small order, the non-canonical ones too.
SMALL_ORDER = [
    "0100000000000000000000000000000000000000000000000000000000000000",
    "0100000000000000000000000000000000000000000000000000000000000080",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0000000000000000000000000000000000000000000000000000000000000080",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
]
MIXED_KEY = "f7badec5b8abeaf699583992219b7b223f1df3fbbea919844e3f7c554a43dd43"
COFACTORED_KEY = "cdb267ce40c5cd45306fa5d2f29731459387dbf9eb933b7bd5aed9a765b88d4d"
LARGE_S_KEY = "442aad9f089ad9e14647b1ef9099a1ff4798d78589e66f28eca69c11f582a623"
LARGE_S_MESSAGE = "85e241a07d148b41e47d62c63f830dc7a6851a0b1f33ae4bb2f507fb6cffec40"
NON_CANONICAL_R_MESSAGE = "9bedc267423725d473888631ebf45988bad3db83851ee85c85e241a07d148b41"
NON_CANONICAL_R = "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
LAST = (
    "a9d55260f765261eb9b84e106f665e00b867287a761990d7135963ee0a7d59dc"
    "a5bb704786be79fc476f91d3f3f89b03984d8068dcf1bb7dfc6637b45450ac04"
)

# Message, key, signature, whether it is valid.
EDGE_CASES = [
    (
        "8c93255d71dcab10e8f379c26200f3c7bd5f09d9bc3068d3ef4edeb4853022b6",
        SMALL_ORDER[7],
        SMALL_ORDER[6] + "00" * 32,
        True,
    ),
    (
        "9bd9f44f4dcc75bd531b56b2cd280b0bb38fc1cd6d1230e14861d861de092e79",
        SMALL_ORDER[7],
        MIXED_KEY + "a5bb704786be79fc476f91d3f3f89b03984d8068dcf1bb7dfc6637b45450ac04",
        True,
    ),
    (
        "aebf3f2601a0c8c5d39cc7d8911642f740b78168218da8471772b35f9d35b9ab",
        MIXED_KEY,
        SMALL_ORDER[7] + "8c4bd45aecaca5b24fb97bc10ac27ac8751a7dfe1baff8b953ec9f5833ca260e",
        True,
    ),
    (
        "9bd9f44f4dcc75bd531b56b2cd280b0bb38fc1cd6d1230e14861d861de092e79",
        COFACTORED_KEY,
        (
            "9046a64750444938de19f227bb80485e92b83fdb4b6506c160484c016cc1852f"
            "87909e14428a7a1d62e9f22f3d3ad7802db02eb2e688b6c52fcd6648a98bd009"
        ),
        True,
    ),
    (
        "e47d62c63f830dc7a6851a0b1f33ae4bb2f507fb6cffec4011eaccd55b53f56c",
        COFACTORED_KEY,
        (
            "160a1cb0dc9c0258cd0a7d23e94d8fa878bcb1925f2c64246b2dee1796bed512"
            "5ec6bc982a269b723e0668e540911a9a6a58921d6925e434ab10aa7940551a09"
        ),
        True,
    ),
    (
        "e47d62c63f830dc7a6851a0b1f33ae4bb2f507fb6cffec4011eaccd55b53f56c",
        COFACTORED_KEY,
        (
            "21122a84e0b5fca4052f5b1235c80a537878b38f3142356b2c2384ebad4668b7"
            "e40bc836dac0f71076f9abe3a53f9c03c1ceeeddb658d0030494ace586687405"
        ),
        True,
    ),
    (
        LARGE_S_MESSAGE,
        LARGE_S_KEY,
        (
            "e96f66be976d82e60150baecff9906684aebb1ef181f67a7189ac78ea23b6c0e"
            "547f7690a0e2ddcd04d87dbc3490dc19b3b3052f7ff0538cb68afb369ba3a514"
        ),
        False,
    ),
    (
        LARGE_S_MESSAGE,
        LARGE_S_KEY,
        (
            "8ce5b96c8f26d0ab6c47958c9e68b937104cd36e13c33566acd2fe8d38aa1942"
            "7e71f98a473474f2f13f06f97c20d58cc3f54b8bd0d272f42b695dd7e89a8c22"
        ),
        False,
    ),
    (
        NON_CANONICAL_R_MESSAGE,
        MIXED_KEY,
        NON_CANONICAL_R + "03be9678ac102edcd92b0210bb34d7428d12ffc5df5f37e359941266a4e35f0f",
        False,
    ),
    (
        NON_CANONICAL_R_MESSAGE,
        MIXED_KEY,
        NON_CANONICAL_R + "ca8c5b64cd208982aa38d4936621a4775aa233aa0505711d8fdcfdaa943d4908",
        True,
    ),
    (
        "e96b7021eb39c1a163b6da4e3093dcd3f21387da4cc4572be588fafae23c155b",
        NON_CANONICAL_R,
        LAST,
        True,
    ),
    (
        "39a591f5321bbe07fd5a23dc2f39d025d74526615746727ceefd6e82ae65c06f",
        NON_CANONICAL_R,
        LAST,
        True,
    ),
]

RFC_KEY = "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025"
RFC_SIGNATURE = (
    "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
    "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"
)


def verifies(key, signature, message):
    return verify_ed25519(*map(bytes.fromhex, (key, signature, message)))


@pytest.mark.parametrize(
    ("message", "key", "signature", "valid"), EDGE_CASES, ids=map(str, range(len(EDGE_CASES)))
)
def test_edge_cases_follow_zip_215(message, key, signature, valid):
    assert verifies(key, signature, message) is valid


@pytest.mark.parametrize("key", SMALL_ORDER)
def test_small_order_key_and_nonce_with_zero_s_sign_every_message(key):
    for nonce in SMALL_ORDER:
        assert verifies(key, nonce + "00" * 32, "5a63617368")


def test_third_rfc_vector_verifies_and_its_changes_do_not():
    assert verifies(RFC_KEY, RFC_SIGNATURE, "af82")
    assert not verifies(RFC_KEY, RFC_SIGNATURE, "af83")
    assert not verifies(COFACTORED_KEY, RFC_SIGNATURE, "af82")
    assert not verifies(RFC_KEY, RFC_SIGNATURE[:-2] + "0b", "af82")


def test_y_without_a_point_is_neither_key_nor_nonce():
    # 2 is not the y of a point: (4 - 1) / (4 d + 1) is not a square.
    nowhere = "02" + "00" * 31
    assert not verifies(nowhere, RFC_SIGNATURE, "af82")
    assert not verifies(SMALL_ORDER[0], nowhere + "00" * 32, "af82")


@pytest.mark.parametrize(("key", "signature"), [("", "00" * 64), ("00" * 32, "00" * 63)])
def test_wrong_lengths_do_not_verify(key, signature):
    assert not verifies(key, signature, "")
