"""Multisigs: signatures of several keys for one address.

The rules and the error messages are from `sui-types/src/multisig.rs`.
"""

from base64 import b64encode
from collections.abc import Iterable

from msgspec import Struct

from nexus_tools.sui.bcs import (
    BcsError,
    Codec,
    byte_vector,
    fixed,
    read_uleb128,
    struct,
    u16,
    vector,
)
from nexus_tools.sui.errors import NotAllowedError, ValidationError
from nexus_tools.sui.signature.key_signature import (
    DOES_NOT_VERIFY,
    SIGNATURE_LENGTH,
    KeySignature,
    is_public_key,
    verifies,
)
from nexus_tools.sui.signature.multisig_legacy import read_legacy
from nexus_tools.sui.signature.multisig_public_key import (
    MAX_MEMBERS,
    MEMBER_SCHEMES,
    MULTISIG_PUBLIC_KEY,
    MultiSigMember,
    MultiSigPublicKey,
)
from nexus_tools.sui.signature.passkey import Passkey
from nexus_tools.sui.signature.scheme import SignatureScheme, malformed, rejection_error
from nexus_tools.sui.signature.zklogin import zklogin_unsupported_error
from nexus_tools.sui.support.uleb128 import write_uleb128
from nexus_tools.sui.types.address import Address

_CURVE_NAMES = {
    SignatureScheme.ED25519: "ed25519",
    SignatureScheme.SECP256K1: "k1",
    SignatureScheme.SECP256R1: "r1",
}


class MemberSignature(Struct, frozen=True):
    """The signature of one member. If the member is a key, the signature is r || s or R || s."""

    scheme: SignatureScheme
    signature: bytes


class MultiSig(Struct, frozen=True):
    """A multisig signature. Bit i of `bitmap` is set if member i signed.

    `signatures` are in the order of the members.
    """

    signatures: tuple[MemberSignature, ...]
    bitmap: int
    public_key: MultiSigPublicKey

    @classmethod
    def parse(cls, data: bytes) -> "MultiSig":
        """Parse a serialized multisig: a flag byte, and BCS bytes in the current or legacy format.

        Raises `signature_malformed`.
        """
        if data[:1] != bytes([SignatureScheme.MULTISIG]):
            raise malformed("a serialized multisig must start with the flag byte 3")
        try:
            return MULTISIG.decode(data[1:])
        except BcsError as error:
            legacy = read_legacy(_SIGNATURES, data[1:])
            if legacy is None:
                raise malformed(f"invalid multisig: {error.message}") from None
            return cls(*legacy)

    @classmethod
    def combine(cls, public_key: MultiSigPublicKey, signatures: Iterable[bytes]) -> "MultiSig":
        """Combine the members' serialized signatures of one message, given in any order.

        Raises:
            NexusError: `multisig_invalid`; `multisig_not_enough` if the weight of the signatures is
                below the threshold; `signature_malformed`.
        """
        public_key = MultiSigPublicKey.of(public_key.members, public_key.threshold)
        keys = [(member.scheme, member.public_key) for member in public_key.members]
        found: dict[int, MemberSignature] = {}
        for data in signatures:
            key, signature = _part(data)
            if key not in keys or keys.index(key) in found:
                raise ValidationError(
                    "multisig_invalid", "a signer is not a member, or a member has signed twice"
                )
            found[keys.index(key)] = signature
        weight = sum(public_key.members[index].weight for index in found)
        if weight < public_key.threshold:
            raise ValidationError(
                "multisig_not_enough",
                f"the total weight is {weight}, expected at least {public_key.threshold}",
                hint="Add the signatures of more members.",
            )
        parts = tuple(signature for _, signature in sorted(found.items(), key=lambda item: item[0]))
        return cls(parts, sum(1 << index for index in found), public_key)

    def encode(self) -> bytes:
        """Return the serialized multisig."""
        return bytes([SignatureScheme.MULTISIG]) + MULTISIG.encode(self)

    def address(self) -> Address:
        """Return the multisig address of the committee."""
        return self.public_key.address()

    def verify(self, digest: bytes) -> None:
        """Check the members' signatures against a message's digest, and check their total weight.

        Raises `signature_invalid`.
        """
        if self.public_key.problem():
            raise rejection_error("Invalid multisig pubkey")
        if not 1 <= len(self.signatures) <= len(self.public_key.members):
            raise rejection_error("Invalid number of signatures")
        if any(signature.scheme is SignatureScheme.ZK_LOGIN for signature in self.signatures):
            raise zklogin_unsupported_error()
        weight = 0
        for signature, member in zip(self.signatures, self._signers(), strict=False):
            _verify_member(member, signature, digest)
            weight += member.weight
        if weight < self.public_key.threshold:
            raise rejection_error(
                f"Insufficient weight={weight} threshold={self.public_key.threshold}"
            )

    def _signers(self) -> Iterable[MultiSigMember]:
        """Yield the members whose bits are set in the bitmap. Raises `signature_invalid`."""
        if self.bitmap >= 1 << MAX_MEMBERS:
            raise rejection_error("Invalid bitmap")
        for index in range(MAX_MEMBERS):
            if self.bitmap >> index & 1:
                if index >= len(self.public_key.members):
                    raise rejection_error("Invalid public keys index")
                yield self.public_key.members[index]


def _part(data: bytes) -> tuple[tuple[SignatureScheme, bytes], MemberSignature]:
    """Return a signature's scheme and public key, and its representation in a multisig."""
    if data[:1] == bytes([SignatureScheme.PASSKEY]):
        passkey = Passkey.parse(data)
        part = MemberSignature(SignatureScheme.PASSKEY, data)
        return (SignatureScheme.PASSKEY, passkey.public_key), part
    signature = KeySignature.parse(data)
    part = MemberSignature(signature.scheme, signature.signature)
    return (signature.scheme, signature.public_key), part


# --- Members


def _verify_member(member: MultiSigMember, signature: MemberSignature, digest: bytes) -> None:
    problem = _problem_of_member(member, signature, digest)
    if problem is None:
        return
    key = b64encode(bytes([member.scheme]) + member.public_key).decode()
    raise rejection_error(f'Invalid sig for pk={key} address={member.address()} error="{problem}"')


def _problem_of_member(
    member: MultiSigMember, signature: MemberSignature, digest: bytes
) -> str | None:
    """Return the reason why a member's signature is invalid, or None.

    The member's key is parsed by the scheme of the signature, not by the scheme of the member.
    """
    if signature.scheme is SignatureScheme.PASSKEY:
        return _problem_of_passkey(member, signature.signature, digest)
    if verifies(signature.scheme, member.public_key, signature.signature, digest):
        return None
    if not is_public_key(signature.scheme, member.public_key):
        raise rejection_error(f"Invalid {_CURVE_NAMES[signature.scheme]} pk bytes")
    return DOES_NOT_VERIFY


def _problem_of_passkey(member: MultiSigMember, data: bytes, digest: bytes) -> str | None:
    try:
        passkey = Passkey.parse(data)
    except NotAllowedError:
        raise rejection_error("Invalid passkey authenticator bytes") from None
    try:
        passkey.verify(digest)
        if passkey.address() != member.address():
            raise rejection_error("Invalid author")
    except NotAllowedError as error:
        return f"General cryptographic error: {error.message}"
    return None


# --- Binary form

_SIGNATURE_CODECS: tuple[Codec[bytes], ...] = tuple(
    fixed(SIGNATURE_LENGTH, bytes) if scheme in _CURVE_NAMES else byte_vector
    for scheme in MEMBER_SCHEMES
)


def _read_signature(data: bytes, position: int) -> tuple[MemberSignature, int]:
    variant, position = read_uleb128(data, position)
    if variant >= len(MEMBER_SCHEMES):
        raise BcsError(f"a member's signature has no variant {variant}")
    signature, position = _SIGNATURE_CODECS[variant].read(data, position)
    return MemberSignature(MEMBER_SCHEMES[variant], signature), position


def _write_signature(signature: MemberSignature, out: bytearray) -> None:
    variant = MEMBER_SCHEMES.index(signature.scheme)
    write_uleb128(variant, out)
    _SIGNATURE_CODECS[variant].write(signature.signature, out)


_SIGNATURES = vector(Codec(_read_signature, _write_signature))
MULTISIG: Codec[MultiSig] = struct(MultiSig, _SIGNATURES, u16, MULTISIG_PUBLIC_KEY)
