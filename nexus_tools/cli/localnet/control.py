"""Steering the running localnet: its clock, its epochs, its snapshots."""

from typing import Any

import click

from nexus_tools.cli.framework import DURATION, Session, local, reads
from nexus_tools.cli.localnet.which import ONE_OF_YOURS, named_localnet
from nexus_tools.errors import NotNowError, UnreachableError, UsageError
from nexus_tools.settings.running_localnet import RunningLocalnet
from nexus_tools.sui.support import units

_ADVANCE_CLOCK = "/sui.forking.v1alpha.ForkingService/AdvanceClock"
_SEPARATOR = "-"
_GONE = "snapshot_gone"


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
@reads
async def advance_clock(session: Session, duration: int) -> None:
    """Let DURATION pass on the chain: `7d`, `6 d 23 h`, `500ms`."""
    async with session.client() as client:
        response = await client.connection.call(_ADVANCE_CLOCK, duration_ms=duration)
    now_ms = int(response.timestamp_ms)
    session.output.done(f"it is {units.utc(now_ms)} on the localnet")
    if session.output.as_json:
        session.output.document({"time_ms": now_ms, "advanced_ms": duration})


@click.command("advance-epoch")
@ONE_OF_YOURS
@local
async def advance_epoch(session: Session, network_name: str | None) -> None:
    """End the epoch, and begin the next one.

    Fees go to those who have staked; after epochs of a day or more, so does the subsidy of the
    network. `advance-clock` lets a day pass.
    """
    running = named_localnet(session, network_name)
    response = await _post(running, "/advance-epoch", {}, refusal="epoch_change_failed")
    session.output.done(f"epoch {response['epoch']} has begun on the localnet")
    if session.output.as_json:
        session.output.document(response)


@click.command("snapshot")
@ONE_OF_YOURS
@local
async def snapshot(session: Session, network_name: str | None) -> None:
    """Name the present of the localnet, to come back to it with `revert`."""
    running = named_localnet(session, network_name)
    response = await _post(running, "/snapshot", {}, refusal=_GONE)
    session.output.record({"snapshot": f"{response['checkpoint']}{_SEPARATOR}{response['digest']}"})


@click.command()
@click.argument("name", metavar="SNAPSHOT")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@ONE_OF_YOURS
@local
async def revert(session: Session, name: str, network_name: str | None, *, yes: bool) -> None:
    """Go back to SNAPSHOT: whatever happened since did not happen.

    The clock goes back, too. Programs that follow the chain have to connect anew.
    """
    place = _parse_snapshot(name)
    running = named_localnet(session, network_name)
    session.output.confirm(f"Forget all that happened since {name}?", yes=yes)
    await _post(running, "/revert", place, refusal=_GONE)
    session.output.done(f"the localnet is back at {name}")
    if session.output.as_json:
        session.output.document({"snapshot": name})


# --- Through the localnet's port


def _parse_snapshot(name: str) -> dict[str, Any]:
    """Read a name that `snapshot` gave. Raises `snapshot_invalid`."""
    number, separator, digest = name.partition(_SEPARATOR)
    if not (separator and number.isascii() and number.isdigit() and digest):
        raise UsageError(
            "snapshot_invalid",
            f"{name[:80]!r} is not the name of a snapshot",
            hint="`nexus-tools localnet snapshot` gives one",
        )
    return {"checkpoint": int(number), "digest": digest}


async def _post(
    running: RunningLocalnet, path: str, document: dict[str, Any], *, refusal: str
) -> dict[str, Any]:
    """Send a JSON object, and give the one that comes back.

    Raises `localnet_unreachable`, and an error with the code `refusal` if it is not accepted.
    """
    import httpx

    url = running.url + path
    try:
        async with httpx.AsyncClient() as http:
            response = await http.post(url, json=document)
    except httpx.HTTPError as error:
        raise UnreachableError("localnet_unreachable", f"{url} does not respond: {error}") from None
    result: dict[str, Any] = response.json()
    if response.status_code != httpx.codes.OK:
        raise NotNowError(refusal, str(result.get("error")))
    return result
