"""The legacy form by fixtures of MystenLabs/sui-rust-sdk, and by bytes after the RoaringFormatSpec.

The keys are the first three that `sui-types` makes of a seed of zeros.
"""

import base64
import struct

import pytest

from nexus_tools.errors import NotAllowedError
from nexus_tools.sui.signature import TRANSACTION_INTENT, MultiSig, SignatureScheme, UserSignature

MESSAGE = TRANSACTION_INTENT + b"a transaction"
TWO_SIGNED = (
    "AwIAJ8FEsqwCz/JtHhD2ROmj4IARC5O9p9bty1PouJ8eZKs4WocCAm7JBGMxya22q7xa/0UCE4AzKKK6qQ4TfHYLCgE8"
    "qzdwg/IN+w+tHWIhlurDgaiHH9xNZnTLCr19qWzmbGEL/FTS/tic975zF3MBGRd9j6ZSo3J5slBkYVddTO5+FDowAAAB"
    "AAAAAAABABAAAAAAAAEAAyxBQTE5cXpXTWphMnFUdm9BU2FkYkIwTmxWYkVLTm9JWnUyZ1BjRmNUU2RkMQEwQVFJT0Y4"
    "MVpPZVJyR1daQmxvelhXWkVMb2xkK0ovcHovZU9IYmJtK3hienJLdz09ATBBZ05IKzY4ajhEaXJ4TU1Jb25FUmVpcE0v"
    "NjdkdkYvNEhIVVh2R3gwcCsyME1BPT0BAgA="
)
ADDRESSES_OF_MEMBERS = [
    "0x73a6b3c33e2d63383de5c6786cbaca231ff789f4c853af6d54cb883d8780adc0",
    "0xd9607cd03428c904949572b51471e7a9f60019aeb9a3d7ee5e72921cab8e8be7",
]


def roaring(*numbers, cookie=12346, key=0):
    size = struct.pack("<IIHHI", cookie, 1, key, len(numbers) - 1, 16)
    return size + struct.pack(f"<{len(numbers)}H", *numbers)


def text(scheme, key):
    encoded = base64.b64encode(bytes([scheme]) + key)
    return bytes([len(encoded)]) + encoded


def legacy(keys, parts, bitmap, threshold, schemes=None):
    """Return a serialized signature; `parts` are the keys that signed."""
    schemes = schemes or [key.scheme for key in keys]
    signatures = b"".join(bytes([key.scheme]) + key.part(MESSAGE) for key in parts)
    members = b"".join(
        text(scheme, key.public) + b"\1" for scheme, key in zip(schemes, keys, strict=True)
    )
    whole = bytes([len(parts)]) + signatures + bytes([len(bitmap)]) + bitmap
    return b"\3" + whole + bytes([len(keys)]) + members + struct.pack("<H", threshold)


def test_genuine_legacy_multisig_is_parsed():
    signature = MultiSig.parse(base64.b64decode(TWO_SIGNED))
    assert (signature.bitmap, signature.public_key.threshold) == (0b11, 2)
    assert [part.scheme for part in signature.signatures] == [0, 1]
    found = [str(member.address()) for member in signature.public_key.members]
    assert found[:2] == ADDRESSES_OF_MEMBERS
    assert len(found) == 3


def test_legacy_multisig_verifies_for_its_current_address(keys):
    signature = UserSignature.parse(legacy(keys, [keys[0], keys[2]], roaring(0, 2), 2))
    signature.verify(MESSAGE)
    today = MultiSig.combine(
        signature.authenticator.public_key, [key.sign(MESSAGE) for key in keys]
    )
    assert UserSignature.parse(today.encode()).address() == signature.address()


def test_duplicate_number_names_one_member(keys):
    signature = UserSignature.parse(legacy(keys, [keys[0]], roaring(0, 0), 2))
    with pytest.raises(NotAllowedError, match="Insufficient weight=1 threshold=2"):
        signature.verify(MESSAGE)


@pytest.mark.parametrize(
    "bitmap",
    [
        roaring(10),
        roaring(0, key=1),
        roaring(0, cookie=12345),
        roaring(*range(11)),
        roaring(0)[:-1],
        b"",
    ],
    ids=["eleventh", "high", "cookie", "many", "short", "empty"],
)
def test_bitmap_without_a_valid_member_is_malformed(keys, bitmap):
    malformed(legacy(keys, [keys[0]], bitmap, 1))


def test_zklogin_key_or_invalid_point_is_malformed(keys):
    malformed(legacy(keys[:1], keys[:1], roaring(0), 1, [SignatureScheme.ZK_LOGIN]))
    malformed(legacy(keys[:1], keys[:1], roaring(0), 1, [SignatureScheme.SECP256K1]))


def malformed(data):
    with pytest.raises(NotAllowedError) as caught:
        UserSignature.parse(data)
    assert caught.value.code == "signature_malformed"
