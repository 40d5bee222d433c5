"""The validators of a new network. As in Sui's own tools, a local network has one validator.

The validator is the same on every localnet, because its fixed proof of possession is a signature of
its address with the private protocol key. The private key of its account is public: the Ed25519
seed is in this file so that tests can act as the validator.
"""

from msgspec import Struct

from nexus_tools.sui.types.address import Address

STAKE_MIST = 20_000_000 * 1_000_000_000
"""The stake of each validator with itself: 20 million SUI."""

GAS_PRICE = 1_000
"""The gas price in MIST that each validator proposes, which becomes the reference gas price."""

COMMISSION_RATE = 200
"""The validators' share of their stakers' rewards, in basis points."""

_MULTIADDR = "/ip4/127.0.0.1/{}/{}"


class GenesisValidator(Struct, frozen=True):
    """A validator: the seed and the address of its account, its keys, and its nominal port.

    The protocol key is a G2 point of BLS12-381 (96 bytes), and the proof of possession is a G1
    point (48 bytes). The other keys are Ed25519 keys.
    """

    name: str
    account_seed: bytes
    address: Address
    protocol_public_key: bytes
    proof_of_possession: bytes
    network_public_key: bytes
    worker_public_key: bytes
    port: int

    def network_addresses(self) -> tuple[str, str, str, str]:
        """Return the nominal network addresses for clients, peers, the primary and the worker."""
        p2p, primary, worker = (
            _MULTIADDR.format("udp", self.port + offset) for offset in (1, 2, 3)
        )
        return _MULTIADDR.format("tcp", self.port) + "/http", p2p, primary, worker


def _validator(name: str, port: int, **keys: str) -> GenesisValidator:
    values = {role: bytes.fromhex(key) for role, key in keys.items()}
    address = Address(values.pop("address"))
    return GenesisValidator(name=name, port=port, address=address, **values)


VALIDATORS = (
    _validator(
        "validator-0",
        8080,
        account_seed="1ef7d2a1e98b49086fff0375fcab0bd4ab1954a03ce1a7de8510390c4628dc73",
        address="61dadbe6b6ca63aea820b48d3d07af0e157f83ff1c8de5ef5e90d7b6f634cd32",
        protocol_public_key="a5951ed407e40f08c1069f46c06c405ab7e0950c07d8d6c6feb77f7ee4804425"
        "85228fc0589a7da743c2f82ddfc8a36b0745d7ff371481a78711534ab77dc577"
        "be4c395ffcec6574d44c6971953d0f8b863f06b3f30eaad526278c5a870c97de",
        proof_of_possession="8cd5d19a6afb742f7c969a0610a8fb1c00610112279650c07b612174a8a869bf"
        "db26f70b62403859fad93a530712fd33",
        network_public_key="f6014a411bb8a5240462bf9d2c49e80804f85cd209bb0722cb5583be1688cffc",
        worker_public_key="3132a80554e8a1e326781329ecba2b8113d46c6fa82e5238a1cf3c901292c911",
    ),
)
"""The validators in the order of the system state."""
