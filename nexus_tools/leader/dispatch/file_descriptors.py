"""How many tool calls at a time the file descriptors of this process allow."""

from contextlib import suppress

try:
    import resource
except ImportError:  # Windows, where sockets are no file descriptors
    resource = None  # type: ignore[assignment]  # each use asks for it first

# A call has a connection and may ask for `/meta`; besides, as many connections are kept alive.
_EACH = 3
# The journal, the node, the health server and who asks it, the libraries.
_OTHERS = 256


def calls_within(limit: int) -> int:
    """For how many calls at a time `limit` file descriptors are enough."""
    return max(1, (limit - _OTHERS) // _EACH)


def allowed_calls(wanted: int) -> int:
    """How many calls at a time this process may make of those that are `wanted`."""
    if resource is None:
        return wanted
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return wanted if soft == resource.RLIM_INFINITY else min(wanted, calls_within(soft))


def make_room(calls: int) -> None:
    """Raise the limit of this process, as far as it may, to what so many calls need."""
    if resource is None:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = calls * _EACH + _OTHERS
    if hard != resource.RLIM_INFINITY:
        needed = min(needed, hard)
    if soft != resource.RLIM_INFINITY and soft < needed:
        with suppress(OSError, ValueError):  # a sandbox may forbid it
            resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
