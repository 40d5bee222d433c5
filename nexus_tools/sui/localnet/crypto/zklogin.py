"""zkLogin addresses, which are derived from a user's OpenID claim and an application.

Source: `zk_login.rs` and `utils.rs` of `fastcrypto-zkp`.
"""

from nexus_tools.sui.localnet.crypto.poseidon import BN254_ORDER, poseidon, poseidon_tree
from nexus_tools.sui.signature import SignatureScheme
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import blake2b256

_NAME_LENGTH, _VALUE_LENGTH, _AUDIENCE_LENGTH = 32, 115, 145
_PACKED_BITS = 248
_SEED_LENGTH = 32


def zklogin_address(address_seed: int, issuer: str) -> Address:
    """Return the zkLogin address for an address seed and an issuer."""
    name = issuer.encode()
    # One byte encodes the length, so the length is reduced modulo 256.
    head = bytes((SignatureScheme.ZK_LOGIN, len(name) % 256))
    seed = (address_seed % BN254_ORDER).to_bytes(_SEED_LENGTH, "big")
    return Address(blake2b256(head + name + seed))


def zklogin_address_seed(name: str, value: str, audience: str, salt_hash: int) -> int:
    """Return the address seed for a claim (`name` and `value`), an application and a hashed salt.

    Raises:
        ValueError: A text is too long or cannot be encoded in ISO 8859-1.
    """
    return poseidon(
        (
            _hash_text(name, _NAME_LENGTH),
            _hash_text(value, _VALUE_LENGTH),
            _hash_text(audience, _AUDIENCE_LENGTH),
            salt_hash % BN254_ORDER,
        )
    )


def _hash_text(text: str, length: int) -> int:
    """Return the hash of a text, padded to `length` bytes and split into elements of 31 bytes."""
    if len(text) > length:
        raise ValueError("the text is too long")
    number = int.from_bytes(text.encode("latin-1").ljust(length, b"\0"), "big")
    elements = []
    for _ in range(-(-8 * length // _PACKED_BITS)):
        elements.append(number % (1 << _PACKED_BITS))
        number >>= _PACKED_BITS
    return poseidon_tree(elements[::-1])
