"""Confines the process that is about to become a stranger's program, in four layers."""

from nexus_tools.bridges.sandbox.watch import (
    capabilities,
    landlock,
    linux,
    mounts,
    readable_paths,
    seccomp,
)

_NO_NEW_PRIVILEGES = 38


def is_there() -> bool:
    """Whether the kernel has what confining needs at least: Landlock, and our filter of calls."""
    return landlock.version() > 0 and seccomp.is_there()


def view(writes: "list[str]", scratch: str) -> bool:
    """The first layer, where the kernel opens it: mounts of its own, read-only but for `writes`."""
    return mounts.close(writes, f"{scratch}/shm")


def confine(*, reads: "list[str]", writes: "list[str]", ports: "list[int]", has_view: bool) -> None:
    """The other layers: for good, and for all that this process starts.

    Raises `OSError`. `has_view` says that `/dev/shm` is one's own.
    """
    ruleset = landlock.Ruleset()
    ruleset.allow((*readable_paths.READABLE, *reads), landlock.READ)
    ruleset.allow(readable_paths.DEVICES, landlock.DEVICE)
    ruleset.allow((*writes, *([mounts.SHARED_MEMORY] if has_view else [])), landlock.WRITE)
    ruleset.allow_ports(ports)
    capabilities.drop()
    linux.set_process(_NO_NEW_PRIVILEGES, 1)
    ruleset.enforce()
    seccomp.enforce(with_tcp=bool(ports))
