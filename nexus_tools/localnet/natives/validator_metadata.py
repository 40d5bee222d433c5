"""`sui_system::validator`: whether a validator's keys and addresses can be used.

Source: `ValidatorMetadataV1::verify` in `sui-types`. Of the keys and signatures of BLS12-381 the
form is checked, and not that they are points of the curve, nor that the proof of possession is one.
"""

import re
from collections.abc import Callable
from ipaddress import AddressValueError, IPv4Address, IPv6Address

from nexus_tools.localnet.natives.errors import MalformedArgument
from nexus_tools.localnet.natives.table import charge, natives_of
from nexus_tools.localnet.vm import Context, NativeAbort
from nexus_tools.sui.address import SUI_SYSTEM
from nexus_tools.sui.bcs import BcsError
from nexus_tools.sui.system_state import VALIDATOR_METADATA, ValidatorMetadata
from nexus_tools.sui.type_tag import TypeTag

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

_G1_BYTES, _G2_BYTES, _ED25519_BYTES = 48, 96, 32
_COMPRESSED, _INFINITY = 0x80, 0x40  # the highest bits of a point


def validate_metadata_bcs(
    context: Context, _types: tuple[TypeTag, ...], encoded: bytearray
) -> None:
    """Abort with the number of the first thing that is wrong. Raises `MalformedArgument`."""
    charge(context, _COST_BASE, _COST_PER_BYTE, len(encoded))
    try:
        metadata = VALIDATOR_METADATA.decode(bytes(encoded))
    except BcsError as error:
        raise MalformedArgument(f"these are no validator's metadata: {error}") from None
    _check_keys(metadata)
    _check_addresses(metadata)
    _check_next_keys(metadata)
    _check_next_addresses(metadata)


def _check(code: int, *, valid: bool) -> None:
    if not valid:
        raise NativeAbort(code)


def _is_point(data: bytes, size: int) -> bool:
    """Whether this has the form of a compressed point, which is not the one at infinity."""
    return len(data) == size and data[0] & (_COMPRESSED | _INFINITY) == _COMPRESSED


def _check_keys(metadata: ValidatorMetadata) -> None:
    _check(_INVALID_PROTOCOL_KEY, valid=_is_point(metadata.protocol_public_key, _G2_BYTES))
    _check(_INVALID_PROOF, valid=_is_point(metadata.proof_of_possession, _G1_BYTES))
    network, worker = metadata.network_public_key, metadata.worker_public_key
    _check(_INVALID_NETWORK_KEY, valid=len(network) == _ED25519_BYTES)
    _check(_INVALID_WORKER_KEY, valid=len(worker) == _ED25519_BYTES and worker != network)


def _check_addresses(metadata: ValidatorMetadata) -> None:
    _check(_INVALID_NETWORK_ADDRESS, valid=_is_multiaddr(metadata.network_address))
    _check(_INVALID_P2P_ADDRESS, valid=_is_peer_address(metadata.p2p_address))
    _check(_INVALID_PRIMARY_ADDRESS, valid=_is_peer_address(metadata.primary_address))
    _check(_INVALID_WORKER_ADDRESS, valid=_is_peer_address(metadata.worker_address))


def _check_next_keys(metadata: ValidatorMetadata) -> None:
    key, proof = metadata.next_epoch_protocol_public_key, metadata.next_epoch_proof_of_possession
    _check(_INVALID_PROTOCOL_KEY, valid=key is None or _is_point(key, _G2_BYTES))
    _check(_INVALID_PROOF, valid=proof is None or _is_point(proof, _G1_BYTES))
    _check(_INVALID_PROOF, valid=key is None or proof is not None)
    network, worker = metadata.next_epoch_network_public_key, metadata.next_epoch_worker_public_key
    _check(_INVALID_NETWORK_KEY, valid=network is None or len(network) == _ED25519_BYTES)
    _check(_INVALID_WORKER_KEY, valid=worker is None or len(worker) == _ED25519_BYTES)
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


_WITH_VALUE: dict[str, Callable[[str], bool]] = {
    "ip4": lambda text: _is_address(IPv4Address, text),
    "ip6": lambda text: _is_address(IPv6Address, text),
    "dns": bool,
    "dns4": bool,
    "dns6": bool,
    "tcp": _is_port,
    "udp": _is_port,
    "unix": bool,
}
_ALONE = frozenset({"http", "https", "quic", "ws", "wss", "tls"})
_HOSTS = frozenset({"ip4", "ip6", "dns"})


def _is_multiaddr(text: str) -> bool:
    """Whether this is a list of protocols with their values; of none, too."""
    if not text:
        return True
    empty, *parts = text.split("/")
    place = 0
    while place < len(parts):
        has_valid = _WITH_VALUE.get(parts[place])
        if has_valid is None:
            if parts[place] not in _ALONE:
                return False
            place += 1
        elif place + 1 == len(parts) or not has_valid(parts[place + 1]):
            return False
        else:
            place += 2
    return not empty


def _is_peer_address(text: str) -> bool:
    """Whether this is a multiaddr that begins with a host and a port of UDP."""
    _, host, _, protocol, *_ = (*text.split("/"), *[""] * 4)
    return _is_multiaddr(text) and host in _HOSTS and protocol == "udp"


NATIVES = natives_of(SUI_SYSTEM, "validator", validate_metadata_bcs=validate_metadata_bcs)
