"""How a call ended, as trailers.

Source: the gRPC protocol over HTTP/2 (github.com/grpc/grpc, PROTOCOL-HTTP2.md), "Responses", and
`sui-rpc-api/src/error.rs`: errors come with a `google.rpc.Status`, which names the field to blame.
"""

from base64 import b64encode
from itertools import accumulate
from urllib.parse import quote

from nexus_tools.localnet.rpc.messages import Messages
from nexus_tools.localnet.rpc.rendering.status import render_status
from nexus_tools.localnet.rpc.status import RpcError

_PRINTABLE = " !#$&'()*+,/:;=?@[]^`{|}~\"<>"
_LONGEST = 3000  # clients take 8 KiB of headers

Trailers = list[tuple[str, str]]


def status_trailers(messages: Messages, error: RpcError | None) -> Trailers:
    """The trailers of a call that ended with an error, or well."""
    if error is None:
        return [("grpc-status", "0")]
    trailers = [("grpc-status", str(int(error.code)))]
    if error.message:
        trailers.append(("grpc-message", _quoted(error.message)))
    status = messages.message("google.rpc.Status")()
    render_status(status, error, messages)
    details = b64encode(status.SerializeToString()).rstrip(b"=").decode("ascii")
    if len(details) <= _LONGEST:
        trailers.append(("grpc-status-details-bin", details))
    return trailers


def _quoted(message: str) -> str:
    """As much of a message as fits, in the characters of headers, which no space begins or ends."""
    quoted = [quote(character, safe=_PRINTABLE) for character in message[:_LONGEST]]
    ends = accumulate(map(len, quoted))
    text = "".join(part for part, end in zip(quoted, ends, strict=True) if end <= _LONGEST)
    start, end = len(text) - len(text.lstrip(" ")), len(text.rstrip(" "))
    return "%20" * start + text[start:end] + "%20" * (len(text) - max(start, end))
