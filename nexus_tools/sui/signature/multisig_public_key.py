"""The public keys of multisigs: members with weights, and a threshold.

Sources: `MultiSigPublicKey` in `sui-types/src/multisig.rs`, and `base_types.rs` for the address.
"""

from msgspec import Struct

from nexus_tools.sui.bcs import (
    BcsError,
    Codec,
    byte_vector,
    fixed,
    read_uleb128,
    struct,
    u8,
    u16,
    vector,
)
from nexus_tools.sui.errors import ValidationError
from nexus_tools.sui.signature.scheme import PUBLIC_KEY_LENGTHS, SignatureScheme, key_address
from nexus_tools.sui.support.uleb128 import write_uleb128
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import blake2b256

MAX_MEMBERS = 10

# The schemes are in the order of the variants of `PublicKey` and `CompressedSignature`.
MEMBER_SCHEMES = (
    SignatureScheme.ED25519,
    SignatureScheme.SECP256K1,
    SignatureScheme.SECP256R1,
    SignatureScheme.ZK_LOGIN,
    SignatureScheme.PASSKEY,
)


class MultiSigMember(Struct, frozen=True):
    """A member: a public key and a weight from 1 to 255.

    For zkLogin, the public key consists of an issuer and an address seed.
    """

    scheme: SignatureScheme
    public_key: bytes
    weight: int = 1

    def address(self) -> Address:
        """Return the address of the member's own key."""
        return key_address(self.scheme, self.public_key)


class MultiSigPublicKey(Struct, frozen=True):
    """The public key of a multisig: up to ten members, and a threshold of at least 1.

    The order of the members affects the address.
    """

    members: tuple[MultiSigMember, ...]
    threshold: int

    @classmethod
    def of(cls, members: tuple[MultiSigMember, ...], threshold: int) -> "MultiSigPublicKey":
        """Create the public key of a multisig. Raises `multisig_invalid`."""
        public_key = cls(tuple(members), threshold)
        problem = public_key.problem()
        if problem:
            raise ValidationError("multisig_invalid", f"invalid multisig: {problem}")
        return public_key

    def address(self) -> Address:
        """Return the address for which the members sign together."""
        parts = [bytes([SignatureScheme.MULTISIG]), self.threshold.to_bytes(2, "little")]
        for member in self.members:
            parts += [bytes([member.scheme]), member.public_key, bytes([member.weight])]
        return Address(blake2b256(*parts))

    def problem(self) -> str | None:
        """Return the reason why the public key is invalid, or None."""
        keys = {(member.scheme, member.public_key) for member in self.members}
        if not 1 <= len(self.members) <= MAX_MEMBERS:
            return f"expected 1 to {MAX_MEMBERS} members, got {len(self.members)}"
        if len(keys) < len(self.members):
            return "duplicate key"
        if not all(_is_well_formed(member) for member in self.members):
            return "expected weights between 1 and 255, and keys of the length for their scheme"
        if not 1 <= self.threshold <= sum(member.weight for member in self.members):
            return "expected a threshold between 1 and the total weight of the members"
        return None


def _is_well_formed(member: MultiSigMember) -> bool:
    length = PUBLIC_KEY_LENGTHS.get(member.scheme, len(member.public_key))
    return (
        1 <= member.weight <= 255
        and len(member.public_key) == length
        and member.scheme in MEMBER_SCHEMES
    )


# --- Binary form

_KEY_CODECS: tuple[Codec[bytes], ...] = tuple(
    fixed(PUBLIC_KEY_LENGTHS[scheme], bytes) if scheme in PUBLIC_KEY_LENGTHS else byte_vector
    for scheme in MEMBER_SCHEMES
)


def _read_member(data: bytes, position: int) -> tuple[MultiSigMember, int]:
    variant, position = read_uleb128(data, position)
    if variant >= len(MEMBER_SCHEMES):
        raise BcsError(f"a public key has no variant {variant}")
    public_key, position = _KEY_CODECS[variant].read(data, position)
    weight, position = u8.read(data, position)
    return MultiSigMember(MEMBER_SCHEMES[variant], public_key, weight), position


def _write_member(member: MultiSigMember, out: bytearray) -> None:
    variant = MEMBER_SCHEMES.index(member.scheme)
    write_uleb128(variant, out)
    _KEY_CODECS[variant].write(member.public_key, out)
    u8.write(member.weight, out)


MULTISIG_PUBLIC_KEY: Codec[MultiSigPublicKey] = struct(
    MultiSigPublicKey, vector(Codec(_read_member, _write_member)), u16
)
