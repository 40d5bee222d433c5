"""The values of a request's signed components on a server (RFC 9421, sections 2.1 and 2.2).

All URL components come from the server's own public URL, regardless of `Host` or a proxy.
"""

from collections.abc import Mapping
from functools import lru_cache
from urllib.parse import urlsplit

from nexus_tools.tool.signing.http_signatures import Component, MalformedError


@lru_cache(maxsize=1_024)
def target_uri(url: str) -> str:
    """Return the signed form of a URL: scheme and host in lower case, without a default port."""
    parts = urlsplit(url)
    host = (parts.hostname or "").lower()
    host = f"[{host}]" if ":" in host else host
    if parts.port not in (None, {"http": 80, "https": 443}.get(parts.scheme)):
        host = f"{host}:{parts.port}"
    query = f"?{parts.query}" if parts.query else ""
    return f"{parts.scheme}://{host}{parts.path or '/'}{query}"


def request_value(component: Component, url: str, method: str, headers: Mapping[str, str]) -> str:
    """Return the value of a component in a request to `url`. Raises `MalformedError`."""
    if component.parameters:
        message = f"{component.identifier[:80]} is covered, but its parameters are not supported"
        raise MalformedError(message)
    if component.name == "@method":
        return method
    if component.name == "@target-uri":
        return target_uri(url)
    value = headers.get(component.name)
    if value is None:
        value = _of_url(url).get(component.name)
    if value is None:
        message = f"{component.identifier[:80]} is covered, but is missing from the request"
        raise MalformedError(f"{message} or not supported")
    return value


@lru_cache(maxsize=1_024)
def _of_url(url: str) -> dict[str, str]:
    """Return the URL components with their values (RFC 9421, sections 2.2.3 to 2.2.7)."""
    parts = urlsplit(target_uri(url))
    query = f"?{parts.query}" if parts.query else ""
    return {
        "@authority": parts.netloc,
        "@scheme": parts.scheme,
        "@request-target": parts.path + query,
        "@path": parts.path,
        "@query": query or "?",
    }
