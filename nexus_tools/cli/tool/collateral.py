"""The commands for a tool's collateral: unregister, cancel, claim, re-register, and top up."""

from typing import TYPE_CHECKING

import click

from nexus_tools.cli.framework import (
    AMOUNT,
    Session,
    complete_fqns,
    confirm_and_execute,
    confirmation_prompt,
    report,
    transaction_command,
)
from nexus_tools.cli.shared.collateral import (
    claim_hints,
    describe_cancellation,
    describe_claim,
    describe_collateral_terms,
    describe_re_registration,
    describe_top_up,
    describe_unregistration,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from nexus_tools.cli.shared.collateral import DescribeResult
    from nexus_tools.contracts import Sent
    from nexus_tools.registry import ToolRegistry
    from nexus_tools.tool import ToolFqn

    Verb = Callable[[ToolRegistry, ToolFqn], Awaitable[Sent]]


@click.command()
@click.argument("fqn", shell_complete=complete_fqns)
@transaction_command
async def unregister(session: Session, fqn: str) -> None:
    """Unregister the tool FQN. The tool stops accepting invocations.

    The collateral can be claimed after the unregister delay. The FQN stays reserved for the
    owner.
    """
    await _act(session, fqn, lambda tools, name: tools.unregister(name), describe_unregistration)
    if not (session.dry_run or session.output.as_json):
        claim = f"nexus-tools tool claim {fqn}"
        session.output.note(f"after the delay, claim the collateral with `{claim}`")


@click.command("cancel-unregister")
@click.argument("fqn", shell_complete=complete_fqns)
@transaction_command
async def cancel_unregister(session: Session, fqn: str) -> None:
    """Cancel the unregistration of the tool FQN and reactivate it."""
    await _act(
        session, fqn, lambda tools, name: tools.cancel_unregister(name), describe_cancellation
    )


@click.command()
@click.argument("fqn", shell_complete=complete_fqns)
@transaction_command
async def claim(session: Session, fqn: str) -> None:
    """Claim the collateral of the unregistered tool FQN after the unregister delay."""
    with claim_hints(f"nexus-tools tool unregister {fqn}", f"nexus-tools tool show {fqn}"):
        await _act(session, fqn, lambda tools, name: tools.claim(name), describe_claim)


@click.command("re-register")
@click.argument("fqn", shell_complete=complete_fqns)
@click.option(
    "--collateral",
    type=AMOUNT,
    help="Collateral to lock, in SUI. Default: the registry's minimum, or twice the price if that"
    " is more.",
)
@transaction_command
async def re_register(session: Session, fqn: str, collateral: int | None) -> None:
    """Register the claimed tool FQN again with new collateral."""
    from nexus_tools.registry import required_collateral_mist
    from nexus_tools.tool import ToolFqn

    name = ToolFqn.parse(fqn)
    async with session.nexus() as nexus:
        tool, settings = await nexus.tools.get(name), await nexus.tools.settings()
        least_mist = required_collateral_mist(settings, tool.price_mist)
        locked_mist = least_mist if collateral is None else collateral
        sent = await confirm_and_execute(
            session,
            nexus.tools,
            lambda service: service.re_register(
                name, collateral_mist=locked_mist, max_delay_ms=settings.unregister_delay_ms
            ),
            question=lambda _: (
                f"Re-register {fqn}: {describe_collateral_terms(locked_mist, settings)}?"
            ),
        )
        done, facts = describe_re_registration(nexus.tools, sent, fqn)
    report(session.output, sent, done, {"fqn": fqn, **facts})


@click.command("top-up")
@click.argument("fqn", shell_complete=complete_fqns)
@transaction_command
async def top_up(session: Session, fqn: str) -> None:
    """Restore the suspended tool FQN's collateral to the required amount."""
    await _act(session, fqn, lambda tools, name: tools.top_up(name), describe_top_up)


async def _act(session: Session, fqn: str, verb: "Verb", describe: "DescribeResult") -> None:
    """Confirm and execute `verb` on the tool FQN, and report the result of `describe`."""
    from nexus_tools.tool import ToolFqn

    name = ToolFqn.parse(fqn)
    async with session.nexus() as nexus:
        tools = nexus.tools
        sent = await confirm_and_execute(
            session,
            tools,
            lambda service: verb(service, name),
            question=lambda simulated: confirmation_prompt(
                describe(tools, simulated, fqn)[0], simulated
            ),
        )
        done, facts = describe(tools, sent, fqn)
    report(session.output, sent, done, {"fqn": fqn, **facts})
