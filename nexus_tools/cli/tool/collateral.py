"""The verbs around a tool's collateral: unregister, cancel, claim, re-register, top up."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import click

from nexus_tools import units
from nexus_tools.cli.framework import Session, asked, carry_out, complete_fqns, report, writes
from nexus_tools.cli.pending_slash import claimed_in_words

if TYPE_CHECKING:
    from nexus_tools.package import Sent
    from nexus_tools.registry import ToolRegistry
    from nexus_tools.tool import ToolFqn

Verb = Callable[["ToolRegistry", "ToolFqn"], "Awaitable[Sent]"]
Tell = Callable[["ToolRegistry", "Sent"], tuple[str, dict[str, Any]]]


@click.command()
@click.argument("fqn", shell_complete=complete_fqns)
@writes
async def unregister(session: Session, fqn: str) -> None:
    """Take the tool FQN out of use: it takes no invocations any more.

    Its collateral can be claimed after the delay. Its FQN is never free again.
    """

    def tell(tools: "ToolRegistry", sent: "Sent") -> tuple[str, dict[str, Any]]:
        from nexus_tools.package.move.tool import ToolUnregistered

        event = tools.emitted(sent, ToolUnregistered)
        claimable = units.utc(event.claimable_at_ms)
        delay = units.duration(event.claimable_at_ms - event.unregistered_at_ms)
        return (
            f"unregistered {fqn}: its collateral is claimable at {claimable} (in {delay})",
            {"claimable_at_ms": event.claimable_at_ms},
        )

    await _act(session, fqn, lambda tools, name: tools.unregister(name), tell)


@click.command("cancel-unregister")
@click.argument("fqn", shell_complete=complete_fqns)
@writes
async def cancel_unregister(session: Session, fqn: str) -> None:
    """Put the unregistered tool FQN back into use; the timer is forgotten."""

    def tell(_: "ToolRegistry", __: "Sent") -> tuple[str, dict[str, Any]]:
        return f"the unregistration of {fqn} is taken back", {}

    await _act(session, fqn, lambda tools, name: tools.cancel_unregister(name), tell)


@click.command()
@click.argument("fqn", shell_complete=complete_fqns)
@writes
async def claim(session: Session, fqn: str) -> None:
    """Claim the collateral of the unregistered tool FQN, once the delay is over."""

    def tell(tools: "ToolRegistry", sent: "Sent") -> tuple[str, dict[str, Any]]:
        from nexus_tools.package.move.tool import ToolCollateralClaimed

        event = tools.emitted(sent, ToolCollateralClaimed)
        facts = {"amount_mist": event.amount_mist, "held_back_mist": event.held_back_mist}
        return claimed_in_words(event, fqn), facts

    await _act(session, fqn, lambda tools, name: tools.claim(name), tell)


@click.command("re-register")
@click.argument("fqn", shell_complete=complete_fqns)
@writes
async def re_register(session: Session, fqn: str) -> None:
    """Bring the claimed tool FQN back, with new collateral."""

    def tell(tools: "ToolRegistry", sent: "Sent") -> tuple[str, dict[str, Any]]:
        from nexus_tools.package.move.tool import ToolReRegistered

        amount = tools.emitted(sent, ToolReRegistered).collateral_mist
        return f"re-registered {fqn}: {units.sui(amount)} locked", {"amount_mist": amount}

    await _act(session, fqn, lambda tools, name: tools.re_register(name), tell)


@click.command("top-up")
@click.argument("fqn", shell_complete=complete_fqns)
@writes
async def top_up(session: Session, fqn: str) -> None:
    """Bring back what was slashed of the suspended tool FQN."""

    def tell(tools: "ToolRegistry", sent: "Sent") -> tuple[str, dict[str, Any]]:
        from nexus_tools.package.move.tool import ToolToppedUp

        amount = tools.emitted(sent, ToolToppedUp).amount_mist
        return f"topped {fqn} up: {units.sui(amount)} locked", {"amount_mist": amount}

    await _act(session, fqn, lambda tools, name: tools.top_up(name), tell)


async def _act(session: Session, fqn: str, verb: Verb, tell: Tell) -> None:
    """Do a verb as `carry_out` does, and report what `tell` says about it."""
    from nexus_tools.tool import ToolFqn

    name = ToolFqn.parse(fqn)
    async with session.nexus() as nexus:
        sent = await carry_out(
            session,
            nexus.tools,
            lambda service: verb(service, name),
            question=lambda rehearsed: asked(tell(nexus.tools, rehearsed)[0], rehearsed),
        )
        done, facts = tell(nexus.tools, sent)
    report(session.output, sent, done, {"fqn": str(name), **facts})
