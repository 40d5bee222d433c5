"""Snapshots of the running localnet, through the HTTP side of its port."""

from typing import Any

from nexus_tools.cli.localnet_control import post
from nexus_tools.cli.running import RunningLocalnet
from nexus_tools.errors import UsageError

_SEPARATOR = "-"
_GONE = "snapshot_gone"


async def take_snapshot(running: RunningLocalnet) -> str:
    """The name of the present: a checkpoint's number and digest."""
    answer = await post(running, "/snapshot", {}, refusal=_GONE)
    return f"{answer['checkpoint']}{_SEPARATOR}{answer['digest']}"


def parse_snapshot(name: str) -> dict[str, Any]:
    """Read a name that `take_snapshot` gave. Raises `snapshot_invalid`."""
    number, separator, digest = name.partition(_SEPARATOR)
    if not (separator and number.isascii() and number.isdigit() and digest):
        raise UsageError(
            "snapshot_invalid",
            f"{name[:80]!r} is not the name of a snapshot",
            hint="`nexus-tools localnet snapshot` gives one",
        )
    return {"checkpoint": int(number), "digest": digest}


async def revert_to(running: RunningLocalnet, snapshot: dict[str, Any]) -> None:
    """Go back to a snapshot. Raises `snapshot_gone` if the chain never was there."""
    await post(running, "/revert", snapshot, refusal=_GONE)
