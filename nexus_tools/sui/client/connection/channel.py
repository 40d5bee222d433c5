"""The gRPC channel of a client: its size limits, keepalive settings and trusted certificates.

A channel connects at its first call. If the connection is lost, the channel reconnects at the next
call.
"""

import ssl
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

from nexus_tools.sui.network import Endpoint

_UNLIMITED = -1

_OPTIONS: dict[str, int] = {
    # Each client has its own connection, so a failed connection does not affect other clients.
    "grpc.use_local_subchannel_pool": 1,
    # `Connection` retries calls because it knows their time limit.
    "grpc.enable_retries": 0,
    # A package or a page of objects may exceed gRPC's default limit of 4 MiB. An error message may
    # exceed the default metadata limit of 8 KiB.
    "grpc.max_receive_message_length": _UNLIMITED,
    "grpc.max_send_message_length": _UNLIMITED,
    "grpc.max_metadata_size": 256 * 1024,
    "grpc.absolute_max_metadata_size": 512 * 1024,
    # Pings detect that a node has disappeared, even while a subscription is silent. The client
    # sends no pings unless a call is pending. Nodes, which use the library hyper, answer any number
    # of pings. If a gateway receives too many pings, it closes the connection. gRPC then halves the
    # ping rate for the next connection.
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
    """Open a channel of the module `kind`, which is `grpc` or `grpc.aio`.

    `first_pause_s` and `longest_pause_s` limit the pauses between attempts to connect. After
    `keepalive_s` without data, the channel sends a ping. If no reply arrives within another
    `keepalive_s`, the channel closes the connection. One attempt to connect takes at most
    `connect_s`. gRPC's default is 20 s, which is too long if one packet is lost.
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
        # A node without TLS is on this machine or a private network, so do not use an HTTP proxy.
        "grpc.enable_http_proxy": int(endpoint.tls),
    }
    host = f"[{endpoint.host}]" if ":" in endpoint.host else endpoint.host
    target = f"{host}:{endpoint.port}"
    if endpoint.tls:
        return kind.secure_channel(target, _credentials(), options=list(options.items()))
    return kind.insecure_channel(target, options=list(options.items()))


def _credentials() -> Any:
    import grpc  # noqa: PLC0415 - not needed to start the command line

    return grpc.ssl_channel_credentials(root_certificates=_root_certificates())


def _root_certificates() -> bytes:
    """Return the root certificates of the system, SSL_CERT_FILE, SSL_CERT_DIR and certifi as PEM.

    By default, gRPC trusts only its own list, which does not contain a company's own authorities.
    """
    import certifi  # noqa: PLC0415 - only needed with TLS

    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    paths = ssl.get_default_verify_paths()
    # OpenSSL's default folder has the same certificates as the default file, so skip that folder.
    if paths.capath and (paths.cafile is None or paths.capath != paths.openssl_capath):
        for path in Path(paths.capath).glob("*.[0-9]"):  # OpenSSL uses hashes as names.
            with suppress(OSError):  # Like OpenSSL, skip invalid certificates.
                context.load_verify_locations(path)
    certificates = context.get_ca_certs(binary_form=True)
    return "".join(map(ssl.DER_cert_to_PEM_cert, certificates)).encode()
