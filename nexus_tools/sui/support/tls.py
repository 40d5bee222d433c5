"""Certificates of public authorities, which the HTTP clients of a process share."""

import ssl
from functools import cache


def shared_tls() -> ssl.SSLContext:
    """Return httpx's default settings of TLS. The caller must not change the returned object.

    httpx reads all certificates again for each client, which takes 50 ms.
    """
    # These paths depend on SSL_CERT_FILE and SSL_CERT_DIR, which httpx reads too.
    return _httpx_default(ssl.get_default_verify_paths())


@cache
def _httpx_default(_paths: ssl.DefaultVerifyPaths) -> ssl.SSLContext:
    import httpx  # noqa: PLC0415 - not needed to start the command line

    return httpx.create_ssl_context()
