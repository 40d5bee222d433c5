"""Connections that violate HTTP: bytes of HTTP/1.1 requests, and sequences of HTTP/2 frames."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from hpack import Encoder
from hypothesis import strategies as st

from fuzzing.mutation import apply, edits, weighted

T = TypeVar("T", str, bytes)

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_PATHS = (
    "/health",
    "/v2/gas",
    "/snapshot",
    "/revert",
    "/sui.rpc.v2.LedgerService/GetServiceInfo",
    "/sui.rpc.v2.SubscriptionService/SubscribeCheckpoints",
    "/sui.rpc.v2.LedgerService/Nothing",
    "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    "*",
    "",
    "/" + "x" * 9000,
)
_TYPES = (
    "application/grpc",
    "application/grpc+proto",
    "application/grpc-web+proto",
    "application/grpc-web-text",
    "application/grpc+json",
    "application/json",
    "text/plain; charset=\x7f",
    "",
)
_BODIES = st.one_of(
    st.sampled_from([b"", b"{}", b"\0\0\0\0\0", b"\0\0\0\0\5abc", b"AAAAAAA=", b"[" * 5_000]),
    st.sampled_from(
        [b"\1\0\0\0\0", b"\0\xff\xff\xff\xff", b"\x80\0\0\0\0", b"\0\0\0\0\0" * 300, b"{" * 70_000]
    ),
    st.sampled_from(
        [
            b'{"FixedAmountRequest":{"recipient":"0x7"}}',
            b'{"recipient":"0x7","amount_mist":1e400}',
            b'{"FixedAmountRequest":{"recipient":7}}',
            b'{"snapshot":1}',
            b'{"snapshot":"' + b"9" * 5_000 + b'"}',
        ]
    ),
    st.binary(max_size=60),
)
_REPEATS = st.sampled_from([1, 1, 1, 1, 2, 3, 100, 2_000])
_LONGEST = 400_000


def _repeated(part: T, count: int) -> list[T]:
    """Return `count` copies of `part`, but not more bytes than a server has to support."""
    return [part] * max(1, min(count, _LONGEST // max(1, len(part))))


# --- HTTP/1.1


def http1() -> st.SearchStrategy[bytes]:
    """Return one or more consecutive requests, most of them slightly wrong."""
    requests = st.lists(_request(), min_size=1, max_size=3).map(b"".join)
    changed = st.builds(apply, requests, st.lists(edits(), min_size=1, max_size=3))
    return weighted((2, requests), (1, changed))


def _request() -> st.SearchStrategy[bytes]:
    lengths = st.sampled_from(["5", "0", "-1", "99999999999999999999", "1e3", "+5", "5, 5", "5, 6"])
    headers = st.one_of(
        st.sampled_from(_TYPES).map(lambda value: f"content-type: {value}"),
        lengths.map(lambda value: f"content-length: {value}"),
        st.sampled_from(
            [
                "transfer-encoding: chunked",
                "transfer-encoding: gzip, chunked",
                "expect: 100-continue",
                "connection: upgrade",
                "upgrade: h2c",
                "grpc-timeout: 20m",
                "grpc-timeout: 999999999H",
                "grpc-timeout: x",
                "origin: null",
                " folded",
                "no colon",
                "te\0xt: x",
                "cookie: " + "c" * 20_000,
            ]
        ),
    )
    many = st.builds(_repeated, headers, _REPEATS)
    return st.builds(
        _write_request,
        st.sampled_from(["GET", "POST", "HEAD", "OPTIONS", "PUT", "CONNECT", "G\0T", "P" * 5_000]),
        st.sampled_from(_PATHS),
        st.sampled_from(
            ["HTTP/1.1", "HTTP/1.1", "HTTP/1.0", "HTTP/0.9", "HTTP/2.0", "", "HTTP/1.1 x"]
        ),
        st.lists(many, max_size=4).map(lambda lists: [line for lines in lists for line in lines]),
        st.one_of(_BODIES, _chunks()),
    )


def _write_request(
    method: str, path: str, version: str, lines: Sequence[str], body: bytes
) -> bytes:
    head = [f"{method} {path} {version}".strip(), "host: localhost", *lines]
    return "\r\n".join(head).encode("latin-1") + b"\r\n\r\n" + body


def _chunks() -> st.SearchStrategy[bytes]:
    sizes = st.sampled_from(
        [b"5", b"0", b"ffffffffffffffffffff", b"-1", b"5;x=" + b"y" * 9_000, b""]
    )
    chunk = st.builds(lambda size, data: size + b"\r\n" + data + b"\r\n", sizes, _BODIES)
    return st.lists(chunk, max_size=3).map(b"".join)


# --- HTTP/2


def http2() -> st.SearchStrategy[bytes]:
    """Return the preface of a connection and frames. Some frames are repeated many times."""
    frames = st.one_of(
        _headers(),
        _headers(),
        _data(),
        _settings(),
        _window(),
        _control(),
        _continuation(),
        _noise(),
    )
    many = st.builds(_repeated, frames, _REPEATS).map(b"".join) | _flood()
    sequence = st.lists(many, min_size=1, max_size=8).map(b"".join)
    opened = sequence.map(lambda data: PREFACE + frame(4, 0, 0, b"") + data)
    changed = st.builds(apply, opened, st.lists(edits(), min_size=1, max_size=3))
    return weighted((4, opened), (1, changed))


def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    """Return a frame (RFC 9113, section 4.1)."""
    size = len(payload).to_bytes(3, "big")
    return size + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


def _flood() -> st.SearchStrategy[bytes]:
    """Return many streams that are opened, and then abandoned or left open."""
    ends = st.sampled_from(
        [
            lambda _: b"",
            lambda stream: frame(3, 0, stream, b"\0\0\0\x08"),
            lambda stream: frame(0, 1, stream, b"\0\0\0\0\0"),
            lambda stream: frame(0, 0, stream, b"\0\0\0\0\0") + frame(3, 0, stream, bytes(4)),
            lambda stream: frame(1, 5, stream, b""),
            lambda stream: frame(9, 4, stream, b"") + frame(8, 0, stream, b"\x7f\xff\xff\xff"),
        ]
    )
    return st.builds(_streams, ends, _blocks(), st.sampled_from([2, 20, 150, 1_000]))


def _streams(ending: Callable[[int], bytes], block: bytes, count: int) -> bytes:
    count = min(count, _LONGEST // (len(block) + 60))
    return b"".join(
        frame(1, 4, stream, block) + ending(stream) for stream in range(1, 2 * count, 2)
    )


_STREAMS = st.sampled_from([1, 1, 1, 3, 3, 5, 0, 2, 7, 2**31 - 1])
_FLAGS = st.sampled_from([0x4, 0x5, 0x0, 0x1, 0x8, 0x20, 0x2D, 0xFF])


def _block(method: str, path: str, content_type: str, more: Sequence[tuple[str, str]]) -> bytes:
    headers = [
        (":method", method),
        (":scheme", "http"),
        (":path", path),
        (":authority", "localhost"),
        ("content-type", content_type),
        ("te", "trailers"),
        *more,
    ]
    return bytes(Encoder().encode(headers))


def _blocks() -> st.SearchStrategy[bytes]:
    more = st.sampled_from(
        [
            ("grpc-timeout", "20m"),
            ("grpc-timeout", "1n"),
            ("grpc-encoding", "gzip"),
            ("x", "y" * 8_000),
            ("Upper", "case"),
            (":status", "200"),
            ("connection", "close"),
            ("content-length", "7"),
            ("n\xe4me", "\xff"),
        ]
    )
    return st.one_of(
        st.builds(
            _block,
            st.sampled_from(["POST", "POST", "GET", "OPTIONS", "CONNECT", ""]),
            st.sampled_from(_PATHS),
            st.sampled_from(_TYPES),
            st.lists(more, max_size=3),
        ),
        st.binary(max_size=40),
        st.just(b"\x3f\xff\xff\xff\x7f"),  # a dynamic table of gigabytes
        st.just(b"\x82" * 4_000),  # four thousand methods in four thousand bytes
    )


def _headers() -> st.SearchStrategy[bytes]:
    return st.builds(frame, st.just(1), _FLAGS, _STREAMS, _blocks())


def _continuation() -> st.SearchStrategy[bytes]:
    return st.builds(frame, st.just(9), st.sampled_from([0, 0, 4]), _STREAMS, _blocks())


def _data() -> st.SearchStrategy[bytes]:
    return st.builds(frame, st.just(0), _FLAGS, _STREAMS, _BODIES.map(lambda body: body[:16_384]))


def _settings() -> st.SearchStrategy[bytes]:
    setting = st.builds(
        lambda name, value: name.to_bytes(2, "big") + value.to_bytes(4, "big"),
        st.integers(0, 9),
        st.sampled_from([0, 1, 100, 16_384, 2**24 - 1, 2**31 - 1, 2**32 - 1]),
    )
    values = st.lists(setting, max_size=4).map(b"".join)
    return st.builds(frame, st.just(4), st.sampled_from([0, 0, 1]), st.sampled_from([0, 1]), values)


def _window() -> st.SearchStrategy[bytes]:
    increments = st.sampled_from([0, 1, 65_535, 2**31 - 1, 2**32 - 1])
    return st.builds(
        frame, st.just(8), st.just(0), _STREAMS, increments.map(lambda n: n.to_bytes(4, "big"))
    )


def _control() -> st.SearchStrategy[bytes]:
    """Return RST_STREAM, PING, GOAWAY, PRIORITY and PUSH_PROMISE frames."""
    payloads = st.sampled_from([b"", bytes(4), bytes(5), bytes(8), b"\xff" * 8, bytes(300)])
    kinds = st.sampled_from([3, 3, 6, 7, 2, 5])
    return st.builds(frame, kinds, st.sampled_from([0, 1, 4]), _STREAMS, payloads)


def _noise() -> st.SearchStrategy[bytes]:
    return st.builds(
        frame, st.integers(0, 255), st.integers(0, 255), _STREAMS, st.binary(max_size=50)
    )
