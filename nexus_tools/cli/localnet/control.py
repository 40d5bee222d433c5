"""The commands that control the clock, epochs and snapshots of a running localnet."""

from typing import Any

import click

from nexus_tools.cli.framework import DURATION, Session, offline_command, query_command
from nexus_tools.cli.localnet.which import LOCALNET_OPTION, find_localnet
from nexus_tools.errors import UnreachableError, UsageError, WrongStateError
from nexus_tools.settings.running_localnet import RunningLocalnet
from nexus_tools.sui.support import units
from nexus_tools.sui.support.tls import shared_tls

_ADVANCE_CLOCK = "/sui.forking.v1alpha.ForkingService/AdvanceClock"
_SEPARATOR = "-"
_GONE = "snapshot_not_found"


@click.command("advance-clock")
@click.argument(
    "duration",
    metavar="DURATION",
    nargs=-1,
    required=True,
    callback=lambda context, parameter, words: DURATION.convert(
        " ".join(words), parameter, context
    ),
)
@query_command
async def advance_clock(session: Session, duration: int) -> None:
    """Advance the clock of the chain by DURATION, for example `7d`, `6 d 23 h` or `500ms`."""
    async with session.client() as client:
        await session.check_own_node(client)
        response = await client.connection.call(_ADVANCE_CLOCK, duration_ms=duration)
    now_ms = int(response.timestamp_ms)
    session.output.done(f"the localnet's clock is now {units.utc(now_ms)}")
    if session.output.as_json:
        session.output.document({"time_ms": now_ms, "advanced_ms": duration})


@click.command("advance-epoch")
@LOCALNET_OPTION
@offline_command
async def advance_epoch(session: Session, network_name: str | None) -> None:
    """End the epoch and start the next one.

    Stakers receive the fees. After an epoch of at least a day, stakers also receive the network's
    subsidy. Use `advance-clock` to advance the time by a day.
    """
    running = find_localnet(session, network_name)
    response = await _post(running, "/advance-epoch", {}, refusal="epoch_change_failed")
    session.output.done(f"epoch {response['epoch']} has started on the localnet")
    if session.output.as_json:
        session.output.document(response)


@click.command("snapshot")
@LOCALNET_OPTION
@offline_command
async def snapshot(session: Session, network_name: str | None) -> None:
    """Take a snapshot of the localnet and print its name for `revert`."""
    running = find_localnet(session, network_name)
    response = await _post(running, "/snapshot", {}, refusal=_GONE)
    session.output.record({"snapshot": f"{response['checkpoint']}{_SEPARATOR}{response['digest']}"})


@click.command()
@click.argument("name", metavar="SNAPSHOT")
@click.option("-y", "--yes", is_flag=True, help="Skip the confirmation prompt.")
@LOCALNET_OPTION
@offline_command
async def revert(session: Session, name: str, network_name: str | None, *, yes: bool) -> None:
    """Revert the localnet to SNAPSHOT. All later transactions are lost.

    The clock is reset as well. Programs that follow the chain must reconnect.
    """
    place = _parse_snapshot(name)
    running = find_localnet(session, network_name)
    session.output.confirm(f"Discard everything since {name}?", yes=yes)
    await _post(running, "/revert", place, refusal=_GONE)
    session.output.done(f"reverted the localnet to {name}")
    if session.output.as_json:
        session.output.document({"snapshot": name})


# --- Requests to the localnet's port


def _parse_snapshot(name: str) -> dict[str, Any]:
    """Parse the name of a snapshot, which `snapshot` printed. Raises `snapshot_invalid`."""
    number, separator, digest = name.partition(_SEPARATOR)
    if not (separator and number.isascii() and number.isdigit() and digest):
        raise UsageError(
            "snapshot_invalid",
            f"{name[:80]!r} is not a valid snapshot name",
            hint="Run `nexus-tools localnet snapshot` to create a snapshot.",
        )
    return {"checkpoint": int(number), "digest": digest}


async def _post(
    running: RunningLocalnet, path: str, document: dict[str, Any], *, refusal: str
) -> dict[str, Any]:
    """Send a JSON object and return the JSON response.

    Raises `localnet_unreachable`, and an error with the code `refusal` if the request is refused.
    """
    import httpx

    url = running.url + path
    try:
        async with httpx.AsyncClient(verify=shared_tls()) as http:
            response = await http.post(url, json=document)
    except httpx.HTTPError as error:
        raise UnreachableError("localnet_unreachable", f"{url} does not respond: {error}") from None
    result: dict[str, Any] = response.json()
    if response.status_code != httpx.codes.OK:
        raise WrongStateError(refusal, str(result.get("error")))
    return result
