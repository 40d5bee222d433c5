"""Certificates of public authorities, which the HTTP clients of a process share."""

import os
import ssl
from functools import cache


def shared_tls() -> ssl.SSLContext:
    """Return httpx's default settings of TLS. The caller must not change the returned object.

    httpx reads all certificates again for each client, which takes 50 ms.
    """
    return _httpx_default(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))


@cache
def _httpx_default(_file: str | None, _folder: str | None) -> ssl.SSLContext:
    import httpx  # noqa: PLC0415 - not needed to start the command line

    return httpx.create_ssl_context()
