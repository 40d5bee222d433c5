"""The native functions of `sui_system::validator`, which check validators' keys and addresses.

Source: `ValidatorMetadataV1::verify` and `verify_proof_of_possession` in `sui-types`.
"""

import re
from collections.abc import Callable
from ipaddress import AddressValueError, IPv4Address, IPv6Address

from nexus_tools.sui.bcs import BcsError, byte_vector
from nexus_tools.sui.localnet.crypto.curves.bls12381 import (
    G1,
    G2,
    PointGroup,
    compressed,
    verify_min_sig,
)
from nexus_tools.sui.localnet.crypto.curves.weierstrass import InvalidElement
from nexus_tools.sui.localnet.natives.errors import MalformedArgument
from nexus_tools.sui.localnet.natives.gas import charge
from nexus_tools.sui.localnet.natives.table import natives_of
from nexus_tools.sui.localnet.vm import Context, NativeAbort
from nexus_tools.sui.support.ed25519 import is_ed25519_key
from nexus_tools.sui.types.address import SUI_SYSTEM, Address
from nexus_tools.sui.types.system_state import VALIDATOR_METADATA, ValidatorMetadata
from nexus_tools.sui.types.type_tag import TypeTag

_COST_BASE, _COST_PER_BYTE = 20_000, 2

(
    _INVALID_PROOF,
    _INVALID_PROTOCOL_KEY,
    _INVALID_NETWORK_KEY,
    _INVALID_WORKER_KEY,
    _INVALID_NETWORK_ADDRESS,
    _INVALID_P2P_ADDRESS,
    _INVALID_PRIMARY_ADDRESS,
    _INVALID_WORKER_ADDRESS,
) = range(8)

# A proof of possession is a signature over an intent of scope 5, a vector with the key and the
# account's address, and epoch 0.
_INTENT, _EPOCH = bytes([5, 0, 0]), bytes(8)


def validate_metadata_bcs(
    context: Context, _types: tuple[TypeTag, ...], encoded: bytearray
) -> None:
    """Abort with the error code of the first invalid field. Raises `MalformedArgument`."""
    charge(context, _COST_BASE, _COST_PER_BYTE, len(encoded))
    try:
        metadata = VALIDATOR_METADATA.decode(bytes(encoded))
    except BcsError as error:
        raise MalformedArgument(f"invalid validator metadata: {error}") from None
    _check_keys(metadata)
    _check_addresses(metadata)
    _check_next_keys(metadata)
    _check_next_addresses(metadata)


def _check(code: int, *, valid: bool) -> None:
    if not valid:
        raise NativeAbort(code)


def _is_point(group: PointGroup, data: bytes) -> bool:
    """Return whether the bytes are a compressed point on the curve of the group."""
    try:
        compressed(group, data)
    except InvalidElement:
        return False
    return True


def _is_possessed(key: bytes, proof: bytes, account: Address) -> bool:
    """Return whether a proof of possession is valid for a key and an account."""
    message = byte_vector.encode(compressed(G2, key) + account)
    return verify_min_sig(key, proof, _INTENT + message + _EPOCH)


def _check_keys(metadata: ValidatorMetadata) -> None:
    key, proof = metadata.protocol_public_key, metadata.proof_of_possession
    _check(_INVALID_PROTOCOL_KEY, valid=_is_point(G2, key))
    _check(_INVALID_PROOF, valid=_is_possessed(key, proof, metadata.address))
    network, worker = metadata.network_public_key, metadata.worker_public_key
    _check(_INVALID_NETWORK_KEY, valid=is_ed25519_key(network))
    _check(_INVALID_WORKER_KEY, valid=is_ed25519_key(worker) and worker != network)


def _check_addresses(metadata: ValidatorMetadata) -> None:
    _check(_INVALID_NETWORK_ADDRESS, valid=_is_multiaddr(metadata.network_address))
    _check(_INVALID_P2P_ADDRESS, valid=_is_peer_address(metadata.p2p_address))
    _check(_INVALID_PRIMARY_ADDRESS, valid=_is_peer_address(metadata.primary_address))
    _check(_INVALID_WORKER_ADDRESS, valid=_is_peer_address(metadata.worker_address))


def _check_next_keys(metadata: ValidatorMetadata) -> None:
    key, proof = metadata.next_epoch_protocol_public_key, metadata.next_epoch_proof_of_possession
    _check(_INVALID_PROTOCOL_KEY, valid=key is None or _is_point(G2, key))
    _check(_INVALID_PROOF, valid=proof is None or _is_point(G1, proof))
    if key is not None:
        is_possessed = proof is not None and _is_possessed(key, proof, metadata.address)
        _check(_INVALID_PROOF, valid=is_possessed)
    network, worker = metadata.next_epoch_network_public_key, metadata.next_epoch_worker_public_key
    _check(_INVALID_NETWORK_KEY, valid=network is None or is_ed25519_key(network))
    _check(_INVALID_WORKER_KEY, valid=worker is None or is_ed25519_key(worker))
    _check(_INVALID_WORKER_KEY, valid=network is None or network != worker)


def _check_next_addresses(metadata: ValidatorMetadata) -> None:
    checks: tuple[tuple[int, str | None, Callable[[str], bool]], ...] = (
        (_INVALID_NETWORK_ADDRESS, metadata.next_epoch_network_address, _is_multiaddr),
        (_INVALID_P2P_ADDRESS, metadata.next_epoch_p2p_address, _is_peer_address),
        (_INVALID_PRIMARY_ADDRESS, metadata.next_epoch_primary_address, _is_peer_address),
        (_INVALID_WORKER_ADDRESS, metadata.next_epoch_worker_address, _is_peer_address),
    )
    for code, address, is_valid in checks:
        _check(code, valid=address is None or is_valid(address))


# --- Multiaddrs: https://github.com/multiformats/multiaddr


def _is_address(parse: Callable[[str], object], text: str) -> bool:
    try:
        parse(text)
    except AddressValueError:
        return False
    return True


def _is_port(text: str) -> bool:
    return re.fullmatch("[0-9]{1,5}", text, re.ASCII) is not None and int(text) < 1 << 16


_PROTOCOLS_WITH_VALUE: dict[str, Callable[[str], bool]] = {
    "ip4": lambda text: _is_address(IPv4Address, text),
    "ip6": lambda text: _is_address(IPv6Address, text),
    "dns": bool,
    "dns4": bool,
    "dns6": bool,
    "tcp": _is_port,
    "udp": _is_port,
    "unix": bool,
}
_PROTOCOLS_WITHOUT_VALUE = frozenset({"http", "https", "quic", "ws", "wss", "tls"})
_HOSTS = frozenset({"ip4", "ip6", "dns"})


def _is_multiaddr(text: str) -> bool:
    """Return whether a text is a multiaddr, which may be empty."""
    if not text:
        return True
    empty, *parts = text.split("/")
    index = 0
    while index < len(parts):
        is_valid_value = _PROTOCOLS_WITH_VALUE.get(parts[index])
        if is_valid_value is None:
            if parts[index] not in _PROTOCOLS_WITHOUT_VALUE:
                return False
            index += 1
        elif index + 1 == len(parts) or not is_valid_value(parts[index + 1]):
            return False
        else:
            index += 2
    return not empty


def _is_peer_address(text: str) -> bool:
    """Return whether a text is a multiaddr that starts with a host and a UDP port.

    An example is `/ip4/127.0.0.1/udp/8084`.
    """
    _, host, _, protocol, *_ = (*text.split("/"), *[""] * 4)
    return _is_multiaddr(text) and host in _HOSTS and protocol == "udp"


NATIVES = natives_of(SUI_SYSTEM, "validator", validate_metadata_bcs=validate_metadata_bcs)
