"""Signing together: one address of several keys.

committee = MultiSigPublicKey.of((MultiSigMember(key.scheme, key.public_key), ...), threshold)
committee.address()
MultiSig.combine(committee, signatures).encode()
"""

from dataclasses import dataclass

from nexus_tools.client.keys import Signer
from nexus_tools.sui.address import Address
from nexus_tools.sui.signature import MultiSig, MultiSigMember, MultiSigPublicKey

__all__ = ["MultiSig", "MultiSigMember", "MultiSigPublicKey", "MultiSigSigner"]


@dataclass(frozen=True, slots=True)
class MultiSigSigner:
    """Signs for a multisig's address with the members that are at hand."""

    public_key: MultiSigPublicKey
    members: tuple[Signer, ...]

    @property
    def address(self) -> Address:
        """The address of all members together."""
        return self.public_key.address()

    def sign(self, transaction: bytes) -> bytes:
        """The serialized signature of the BCS bytes of a `TransactionData`.

        Raises `multisig_not_enough` if the members at hand weigh less than the threshold.
        """
        signatures = [member.sign(transaction) for member in self.members]
        return MultiSig.combine(self.public_key, signatures).encode()
