"""Snapshots of the running localnet, through the HTTP side of its port."""

from typing import Any

from nexus_tools.cli.running import RunningLocalnet
from nexus_tools.errors import NotNowError, UnreachableError, UsageError

_SEPARATOR = "-"


async def take_snapshot(running: RunningLocalnet) -> str:
    """The name of the present: a checkpoint's number and digest."""
    answer = await _post(f"{running.url}/snapshot", {})
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
    await _post(f"{running.url}/revert", snapshot)


async def _post(url: str, document: dict[str, Any]) -> dict[str, Any]:
    import httpx  # noqa: PLC0415 - 60 ms, for these two commands

    try:
        async with httpx.AsyncClient() as http:
            answer = await http.post(url, json=document)
    except httpx.HTTPError as error:
        raise UnreachableError("localnet_unreachable", f"{url} does not answer: {error}") from None
    result: dict[str, Any] = answer.json()
    if answer.status_code != httpx.codes.OK:
        raise NotNowError("snapshot_gone", str(result.get("error")))
    return result
