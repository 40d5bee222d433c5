"""What connects to a node: a channel of gRPC, with its limits, its keepalive and its trust.

A channel connects with the first call, and again with the next one after the connection is lost.
"""

import ssl
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

from nexus_tools.sui.network import Endpoint

_UNLIMITED = -1

_OPTIONS: dict[str, int] = {
    # Each client is a connection of its own, with a fate of its own.
    "grpc.use_local_subchannel_pool": 1,
    # Calls are tried again by the connection, which knows for how long.
    "grpc.enable_retries": 0,
    # A package or a page of objects may be larger than gRPC's 4 MiB, a reason than its 8 KiB.
    "grpc.max_receive_message_length": _UNLIMITED,
    "grpc.max_send_message_length": _UNLIMITED,
    "grpc.max_metadata_size": 256 * 1024,
    "grpc.absolute_max_metadata_size": 512 * 1024,
    # A peer that is gone without a word is found out, however silent a subscription is; while
    # nothing is under way, nobody is asked. Nodes (hyper) answer as many pings as come. A gateway
    # that finds them too many ends the connection, and gRPC halves their rate for the next one.
    "grpc.http2.max_pings_without_data": 0,
}


def open_channel(
    kind: ModuleType,
    endpoint: Endpoint,
    *,
    first_pause_s: float,
    longest_pause_s: float,
    keepalive_s: float,
    connect_s: float,
) -> Any:
    """A channel of `grpc` or of `grpc.aio`; the pauses are those before it connects again.

    After `keepalive_s` without a word it pings, and gives the connection up after as long again.
    One attempt to connect takes `connect_s` at most: by itself, gRPC waits 20 s for a lost packet.
    """
    keepalive_ms = round(keepalive_s * 1000)
    options = {
        **_OPTIONS,
        "grpc.keepalive_time_ms": keepalive_ms,
        "grpc.keepalive_timeout_ms": keepalive_ms,
        "grpc.http2.ping_timeout_ms": keepalive_ms,
        "grpc.min_reconnect_backoff_ms": round(connect_s * 1000),
        "grpc.initial_reconnect_backoff_ms": round(first_pause_s * 1000),
        "grpc.max_reconnect_backoff_ms": round(longest_pause_s * 1000),
        # Without TLS it is a node of this machine or a network of one's own.
        "grpc.enable_http_proxy": int(endpoint.tls),
    }
    host = f"[{endpoint.host}]" if ":" in endpoint.host else endpoint.host
    target = f"{host}:{endpoint.port}"
    if endpoint.tls:
        return kind.secure_channel(target, _credentials(), options=list(options.items()))
    return kind.insecure_channel(target, options=list(options.items()))


def _credentials() -> Any:
    import grpc  # noqa: PLC0415 - the command line starts without it

    return grpc.ssl_channel_credentials(root_certificates=_root_certificates())


def _root_certificates() -> bytes:
    """The system's certificates, SSL_CERT_FILE and SSL_CERT_DIR, and those of certifi beside them.

    gRPC by itself would trust a list of its own alone, and no authority of a company.
    """
    import certifi  # noqa: PLC0415 - only needed with TLS

    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    paths = ssl.get_default_verify_paths()
    # Beside a file, the folder of the system has the same certificates; another one was named.
    if paths.capath and (paths.cafile is None or paths.capath != paths.openssl_capath):
        for path in Path(paths.capath).glob("*.[0-9]"):  # named after hashes, for OpenSSL to find
            with suppress(OSError):  # what is no certificate is overlooked, as OpenSSL does
                context.load_verify_locations(path)
    certificates = context.get_ca_certs(binary_form=True)
    return "".join(map(ssl.DER_cert_to_PEM_cert, certificates)).encode()
