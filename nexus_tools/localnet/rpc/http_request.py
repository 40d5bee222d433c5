"""The head of an HTTP request, whichever version it came in."""

from collections.abc import Iterable, Mapping

from nexus_tools.dataclass import dataclass
from nexus_tools.localnet.rpc.grpc_web import WebFormat, request_format
from nexus_tools.localnet.rpc.limits import Limits


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """What is asked for. Names of headers are in lower case."""

    method: str
    target: str
    headers: Mapping[str, str]

    @classmethod
    def of(
        cls, method: bytes, target: bytes, headers: Iterable[tuple[bytes, bytes]]
    ) -> "HttpRequest":
        """Read bytes as they came."""
        found = {name.decode("latin-1"): value.decode("latin-1") for name, value in headers}
        return cls(method.decode("latin-1"), target.decode("latin-1"), found)

    @property
    def path(self) -> str:
        """The target without its query."""
        return self.target.partition("?")[0]

    @property
    def web_format(self) -> WebFormat | None:
        """The form of a call in gRPC-web; None if the request is no call."""
        return request_format(self.headers) if self.method == "POST" else None

    def largest_body(self, limits: Limits) -> int:
        """How many bytes are read of its body."""
        form = self.web_format
        if form is None:
            return limits.http_body_bytes
        return form.largest_body(limits.request_bytes)
