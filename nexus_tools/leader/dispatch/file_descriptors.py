"""The limit of open files, which bounds the number of concurrent tool calls."""

from contextlib import suppress

try:
    import resource
except ImportError:  # Windows, where sockets are not file descriptors
    resource = None  # type: ignore[assignment]  # each use checks it first

# A call has a connection, may need another one for `/meta`, and may leave one idle connection open.
_DESCRIPTORS_PER_CALL = 3
# Descriptors for the journal, the node, the health server with its clients, and the libraries.
_RESERVED_DESCRIPTORS = 256


def calls_for_limit(limit: int) -> int:
    """Return the number of concurrent calls for which `limit` file descriptors suffice."""
    return max(1, (limit - _RESERVED_DESCRIPTORS) // _DESCRIPTORS_PER_CALL)


def max_concurrent_calls(wanted: int) -> int:
    """Return the number of concurrent calls that this process may make, at most `wanted`."""
    if resource is None:
        return wanted
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return wanted if soft == resource.RLIM_INFINITY else min(wanted, calls_for_limit(soft))


def raise_file_limit(calls: int) -> None:
    """Raise this process's limit of open files for `calls` concurrent calls, if allowed."""
    if resource is None:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = calls * _DESCRIPTORS_PER_CALL + _RESERVED_DESCRIPTORS
    if hard != resource.RLIM_INFINITY:
        needed = min(needed, hard)
    if soft != resource.RLIM_INFINITY and soft < needed:
        with suppress(OSError, ValueError):  # a sandbox may forbid the change
            resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
