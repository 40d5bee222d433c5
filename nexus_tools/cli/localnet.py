"""`nexus-tools localnet`: a Sui network in one process."""

from pathlib import Path
from typing import Any

import click

from nexus_tools.cli import units
from nexus_tools.cli.command import local, reads
from nexus_tools.cli.running import RunningLocalnet, require_localnet
from nexus_tools.cli.session import Session

DEFAULT_PORT = 9000


@click.group()
def command() -> None:
    """A Sui network in one process, for development and tests.

    One localnet runs for each user; commands on the network `localnet` find it by themselves.
    """


@command.command()
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=DEFAULT_PORT,
    show_default=True,
    envvar="NEXUS_TOOLS_LOCALNET_PORT",
    help="The port on 127.0.0.1; 0 takes a free one.",
)
@click.option(
    "--state",
    type=click.Path(file_okay=False, path_type=Path),
    help="Keep everything in this folder through restarts.",
)
@click.option(
    "--randomness-seed",
    metavar="TEXT",
    help="What random bytes follow from, from now on; by default, a secret of the network.",
)
@click.option("--detach", is_flag=True, help="Run in the background.")
@click.option("--background", is_flag=True, hidden=True)
@local
def start(
    session: Session,
    port: int,
    state: Path | None,
    randomness_seed: str | None,
    *,
    detach: bool,
    background: bool,
) -> Any:
    """Start a localnet, and run it until Ctrl-C; with --detach, in the background."""
    from nexus_tools.cli.localnet_process import run_localnet, start_detached  # noqa: PLC0415

    if not detach:
        return run_localnet(session, port, state, randomness_seed, detached=background)
    with session.output.progress("starting the localnet"):
        running = start_detached(session.settings, port, state, randomness_seed)
    _report_start(session, running)
    return None


@command.command()
@local
async def status(session: Session) -> None:
    """Show where the localnet answers, its chain and its time."""
    running = require_localnet(session.settings)
    session.network_name = "localnet"
    async with session.client() as client:
        record = _record(session, running) | {
            "chain_id": await client.chain_id(),
            "time_ms": await client.now_ms(),
        }
    session.output.record(record if session.output.as_json else units.in_words(record))


@command.command()
@local
def stop(session: Session) -> None:
    """Stop the localnet, and wait until it has ended."""
    from nexus_tools.cli.localnet_process import stop_localnet  # noqa: PLC0415

    running = require_localnet(session.settings)
    with session.output.progress("stopping the localnet"):
        stop_localnet(session.settings, running)
    session.output.done(f"stopped the localnet at {running.url}")
    if session.output.as_json:
        session.output.document(_record(session, running))


@command.command()
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@local
def reset(session: Session, *, yes: bool) -> None:
    """Stop the localnet, remove its state, and start it again as it was started.

    It has a new chain then: the package has to be published again.
    """
    from nexus_tools.cli.localnet_process import reset_localnet  # noqa: PLC0415

    running = require_localnet(session.settings)
    what = f" and delete {running.state}" if running.state else ""
    session.output.confirm(f"Forget everything on {running.url}{what}?", yes=yes)
    with session.output.progress("starting the localnet anew"):
        running = reset_localnet(session.settings, running)
    session.settings.deployments.pop("localnet", None)
    session.settings.save()
    _report_start(session, running)


@command.command()
@click.argument("address", required=False)
@click.option("--amount", type=units.AMOUNT, help="In SUI; what the faucet gives by default.")
@reads
async def faucet(session: Session, address: str | None, amount: int | None) -> None:
    """Send SUI to ADDRESS; without it, to the key that signs.

    A localnet gives exactly the amount. The faucets of devnet and testnet give whole portions: as
    many are sent as it takes to have the amount at least.
    """
    from nexus_tools.client import request_sui  # noqa: PLC0415
    from nexus_tools.sui.address import Address  # noqa: PLC0415

    recipient = Address.parse(address) if address else session.signer().address
    given, digests = 0, dict[str, None]()
    with session.output.progress("asking the faucet"):
        while not digests or (amount is not None and given < amount):
            missing = None if amount is None else amount - given
            for gift in await request_sui(session.network(), recipient, missing):
                given += gift.amount
                digests[str(gift.transaction)] = None
    session.output.done(f"{units.sui(given)} sent to {recipient.short()}")
    record = {"address": str(recipient), "amount_mist": given, "digests": list(digests)}
    if session.output.as_json:
        session.output.document(record)


@command.command("advance-clock")
@click.argument("duration", type=units.DURATION)
@reads
async def advance_clock(session: Session, duration: int) -> None:
    """Let DURATION pass on the chain: `7d`, `1h30m`, `500ms`."""
    from nexus_tools.cli.localnet_clock import move_clock  # noqa: PLC0415

    now_ms = await move_clock(session.network(), duration)
    session.output.done(f"it is {units.moment(now_ms)} on the localnet")
    if session.output.as_json:
        session.output.document({"time_ms": now_ms, "advanced_ms": duration})


@command.command("advance-epoch")
@local
async def advance_epoch(session: Session) -> None:
    """End the epoch, and begin the next one.

    Fees go to those who have staked; after epochs of a day or more, so does the subsidy of the
    network. Time does not pass by itself: see `advance-clock`.
    """
    from nexus_tools.cli.localnet_control import post  # noqa: PLC0415

    running = require_localnet(session.settings)
    answer = await post(running, "/advance-epoch", {}, refusal="epoch_change_failed")
    session.output.done(f"epoch {answer['epoch']} has begun on the localnet")
    if session.output.as_json:
        session.output.document(answer)


@command.command("snapshot")
@local
async def name_snapshot(session: Session) -> None:
    """Name the present of the localnet, to come back to it with `revert`."""
    from nexus_tools.cli.localnet_snapshot import take_snapshot  # noqa: PLC0415

    name = await take_snapshot(require_localnet(session.settings))
    session.output.record({"snapshot": name})


@command.command()
@click.argument("snapshot")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@local
async def revert(session: Session, snapshot: str, *, yes: bool) -> None:
    """Go back to SNAPSHOT: whatever happened since did not happen."""
    from nexus_tools.cli.localnet_snapshot import parse_snapshot, revert_to  # noqa: PLC0415

    place = parse_snapshot(snapshot)
    running = require_localnet(session.settings)
    session.output.confirm(f"Forget all that happened since {snapshot}?", yes=yes)
    await revert_to(running, place)
    session.output.done(f"the localnet is back at {snapshot}")
    if session.output.as_json:
        session.output.document({"snapshot": snapshot})


@command.command()
@click.argument("digest", required=False)
@click.option(
    "--simulate",
    metavar="FILE",
    help="Trace what the transaction in FILE (- for stdin) would do: its bytes in base64.",
)
@click.option(
    "--depth",
    type=click.IntRange(1),
    default=12,
    show_default=True,
    help="Levels of calls to show below a command.",
)
@click.option("--natives", is_flag=True, help="Show native functions, too.")
@click.option("--framework", is_flag=True, help="Show what functions of 0x1, 0x2 and 0x3 call.")
@click.option("--full", is_flag=True, help="Show values and addresses at full length.")
@reads
async def trace(
    session: Session,
    digest: str | None,
    simulate: str | None,
    *,
    depth: int,
    natives: bool,
    framework: bool,
    full: bool,
) -> None:
    """Show what the transaction DIGEST did, or what one that was not sent would do, call by call.

    With --json the whole trace is printed, whatever is to be shown.
    """
    from nexus_tools.cli.localnet_trace import View, fetch_trace, show_trace, subject  # noqa: PLC0415

    traced = subject(digest, simulate)
    if session.output.as_json:
        session.output.document(await fetch_trace(session.network(), traced, values="json"))
        return
    with session.output.progress("executing the transaction"):
        document = await fetch_trace(session.network(), traced, values="text")
    show_trace(session.output, document, View(depth, natives, framework, full))


def _report_start(session: Session, running: RunningLocalnet) -> None:
    session.output.done(f"a Sui network answers at {running.url}")
    session.output.record(_record(session, running))


def _record(session: Session, running: RunningLocalnet) -> dict[str, Any]:
    from nexus_tools.cli.localnet_process import log_file  # noqa: PLC0415

    log = str(log_file(session.settings)) if running.detached else None
    return {
        "url": running.url,
        "pid": running.pid,
        "state": running.state,
        "randomness_seed": running.randomness_seed,
        "log": log,
    }
