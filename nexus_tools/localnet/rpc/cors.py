"""What pages of other origins may ask of the server: everything.

Source: the Fetch standard, "CORS protocol"; a node answers every OPTIONS request as a preflight and
lets any origin send any header (`sui-node/src/lib.rs`). Responses are shown with all of their
headers, since that is where the status of a call without any message is.
"""

Headers = list[tuple[str, str]]

_VARY = ("vary", "origin, access-control-request-method, access-control-request-headers")


def cors_headers() -> Headers:
    """The headers of every response."""
    return [
        ("access-control-allow-origin", "*"),
        ("access-control-expose-headers", "*"),
        _VARY,
    ]


def preflight_headers() -> Headers:
    """The headers with which a browser's question is answered, whatever it asks for."""
    return [
        ("access-control-allow-origin", "*"),
        ("access-control-allow-methods", "GET,POST"),
        ("access-control-allow-headers", "*"),
        _VARY,
    ]
