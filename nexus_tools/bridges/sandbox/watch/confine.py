"""The confinement of the process that will become the untrusted program, in four layers."""

from nexus_tools.bridges.sandbox.watch import (
    capabilities,
    landlock,
    linux,
    mounts,
    readable_paths,
    seccomp,
)

_NO_NEW_PRIVILEGES = 38


def is_supported() -> bool:
    """Return whether the kernel has Landlock and the system call numbers are known."""
    return landlock.version() > 0 and seccomp.is_supported()


def view(writes: "list[str]", scratch: str) -> bool:
    """Apply the first layer of confinement, and return whether the kernel allows the layer.

    The layer is a private set of mounts that is read-only except for `writes`.
    """
    return mounts.close(writes, f"{scratch}/shm")


def confine(*, reads: "list[str]", writes: "list[str]", ports: "list[int]", has_view: bool) -> None:
    """Apply the other layers of confinement, permanently and for all children of this process.

    `has_view` says that `/dev/shm` is private to this run.

    Raises:
        OSError: if the kernel rejects a layer.
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
