"""Ed25519 by RFC 8032, section 7.1; ECDSA by the vectors of `fastcrypto` and of MetaMask."""

import pytest

HELLO = b"Hello, world!"
KECCAK, SHA256 = 0, 1

K1_KEY = "02337cca2171fdbfcfd657fa59881f46269f1e590b5ffab6023686c7ad2ecc2c1c"
K1 = {
    KECCAK: "7e4237ebfbc36613e166bfc5f6229360a9c1949242da97ca04867e4de57b2df3"
    "0c8340bcb320328cf46d71bda51fcb519e3ce53b348eec62de852e350edbd886",
    SHA256: "e5847245b38548547f613aaea3421ad47f5b95a222366fb9f9b8c57568feb19c"
    "7077fc31e7d83e00acc1347d08c3e1ad50a4eeb6ab044f25c861ddc7be5b8f9f",
}
K1_RECOVERY = {KECCAK: "00", SHA256: "01"}

R1_KEY = "0227322b3a891a0a280d6bc1fb2cbb23d28f54906fd6407f5f741f6def5762609a"
R1 = {
    KECCAK: "209841acabd0fdf6d25fa0948b2f5c6c74f930eede89c6fce59502218a3134a1"
    "47535921bf0cdf5d1990f6f0b3dadb8c05069ddc531db057d325857ce198a529",
    SHA256: "26d84720652d8bc4ddd1986434a10b3b7b69f0e35a17c6a5987e6d1cba69652f"
    "4384a342487642df5e44592d304bea0ceb0fae2e347fa3cec5ce1a8144cfbbb2",
}

CURVES = {
    "k1": ("ecdsa_k1", "secp256k1", K1_KEY, K1, K1_RECOVERY),
    "r1": ("ecdsa_r1", "secp256r1", R1_KEY, R1, {KECCAK: "00", SHA256: "00"}),
}
K1_ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141

ED25519 = [
    (
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
    ),
    (
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    ),
    (
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
    ),
]


def verify(call, ref, curve, signature, key, message, hashing):
    module, name, *_ = CURVES[curve]
    arguments = (ref(bytes.fromhex(signature)), ref(bytes.fromhex(key)), ref(message), hashing)
    return call(module, f"{name}_verify", *arguments)


@pytest.mark.parametrize(("key", "message", "signature"), ED25519)
def test_ed25519_signatures_of_the_rfc_verify(call, ref, key, message, signature):
    signature, key, message = map(bytes.fromhex, (signature, key, message))
    verified = [
        call("ed25519", "ed25519_verify", ref(signature), ref(key), ref(said))
        for said in (message, message + b"!")
    ]
    assert verified == [True, False]


def test_ed25519_follows_zip_215(call, ref):
    # Case 4 of "Taming the many EdDSAs" (eprint.iacr.org/2020/1244), table 6c: it is valid with
    # the cofactor alone.
    key = "cdb267ce40c5cd45306fa5d2f29731459387dbf9eb933b7bd5aed9a765b88d4d"
    message = "e47d62c63f830dc7a6851a0b1f33ae4bb2f507fb6cffec4011eaccd55b53f56c"
    signature = (
        "160a1cb0dc9c0258cd0a7d23e94d8fa878bcb1925f2c64246b2dee1796bed512"
        "5ec6bc982a269b723e0668e540911a9a6a58921d6925e434ab10aa7940551a09"
    )
    arguments = [ref(bytes.fromhex(encoded)) for encoded in (signature, key, message)]
    assert call("ed25519", "ed25519_verify", *arguments) is True


@pytest.mark.parametrize(
    ("signature", "key"), [(b"", bytes(32)), (bytes(64), b""), (bytes(63), bytes(32))]
)
def test_malformed_ed25519_signature_does_not_verify(call, ref, signature, key):
    assert call("ed25519", "ed25519_verify", ref(signature), ref(key), ref(b"")) is False


@pytest.mark.parametrize("curve", ["k1", "r1"])
@pytest.mark.parametrize("hashing", [KECCAK, SHA256])
def test_ecdsa_signature_verifies(call, ref, curve, hashing):
    _, _, key, signatures, _ = CURVES[curve]
    signature = signatures[hashing]
    assert verify(call, ref, curve, signature, key, HELLO, hashing) is True
    assert verify(call, ref, curve, signature, key, b"Farewell!", hashing) is False
    assert verify(call, ref, curve, signature, key, HELLO, 1 - hashing) is False


@pytest.mark.parametrize("curve", ["k1", "r1"])
def test_malformed_input_does_not_verify(call, ref, curve):
    _, _, key, signatures, _ = CURVES[curve]
    signature = signatures[SHA256]
    assert verify(call, ref, curve, signature + "00", key, HELLO, SHA256) is False
    assert verify(call, ref, curve, signature, key[:-4], HELLO, SHA256) is False
    assert verify(call, ref, curve, signature, key, HELLO, 2) is False
    assert verify(call, ref, curve, "00" * 64, key, HELLO, SHA256) is False


def test_signature_with_high_s_does_not_verify(call, ref):
    signature = bytes.fromhex(K1[SHA256])
    s = K1_ORDER - int.from_bytes(signature[32:], "big")
    upper = (signature[:32] + s.to_bytes(32, "big")).hex()
    assert verify(call, ref, "k1", upper, K1_KEY, HELLO, SHA256) is False


@pytest.mark.parametrize("curve", ["k1", "r1"])
@pytest.mark.parametrize("hashing", [KECCAK, SHA256])
def test_public_key_is_recovered(call, ref, curve, hashing):
    module, name, key, signatures, recovery = CURVES[curve]
    signature = ref(bytes.fromhex(signatures[hashing] + recovery[hashing]))
    assert call(module, f"{name}_ecrecover", signature, ref(HELLO), hashing).hex() == key


@pytest.mark.parametrize("curve", ["k1", "r1"])
@pytest.mark.parametrize(
    ("signature", "hashing", "code"),
    [
        ("00" * 65, SHA256, 0),  # nothing to recover
        ("11" * 64, SHA256, 1),  # too short
        ("11" * 64 + "04", SHA256, 1),  # unknown recovery id
        ("ff" * 64 + "00", SHA256, 1),  # beyond the order
        ("11" * 65, 2, 0),  # unknown hash function
    ],
)
def test_recovery_aborts_with_framework_codes(call, ref, curve, signature, hashing, code):
    module, name, *_ = CURVES[curve]
    arguments = (ref(bytes.fromhex(signature)), ref(HELLO), hashing)
    assert call.aborts(module, f"{name}_ecrecover", *arguments) == code


def test_ethereum_address_is_recovered_from_metamask_signature(call, ref):
    signature = bytes.fromhex(
        "382a3e04daf88f322730f6a2972475fc5646ea8c4a7f3b5e83a90b10ba08a736"
        "4cd2f55348f2b6d210fbed7fc485abf19ecb2f3967e410d6349dd7dd1d448775"
        "00"
    )
    message = bytes.fromhex(
        "19457468657265756d205369676e6564204d6573736167653a0a3533"
        "3078363366396139326438643631623438613966666638643538303830343235"
        "61333031326430356338696777796b3472316f376f"
    )
    key = call("ecdsa_k1", "secp256k1_ecrecover", ref(signature), ref(message), KECCAK)
    point = call("ecdsa_k1", "decompress_pubkey", ref(key))
    address = call("hash", "keccak256", ref(point[1:]))[12:]
    assert address.hex() == "63f9a92d8d61b48a9fff8d58080425a3012d05c8"


@pytest.mark.parametrize("key", ["02" + "00" * 31, "05" + "11" * 32, "02" + "ff" * 32])
def test_invalid_point_is_not_decompressed(call, ref, key):
    assert call.aborts("ecdsa_k1", "decompress_pubkey", ref(bytes.fromhex(key))) == 2
