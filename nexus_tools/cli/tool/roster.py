"""Changes of a tool's lists: its leaders, operators and keys."""

from typing import TYPE_CHECKING, Any

from nexus_tools.cli.framework import (
    Output,
    Session,
    confirm_and_execute,
    confirmation_prompt,
    plain,
    report,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from nexus_tools.contracts import Sent
    from nexus_tools.contracts.move_bindings.leader import Leader
    from nexus_tools.nexus import Nexus
    from nexus_tools.registry import ToolRegistry


async def change_list(
    session: Session,
    fqn: str,
    verb: "Callable[[ToolRegistry], Awaitable[Sent]]",
    done: str,
    facts: dict[str, Any],
    *,
    before: "Callable[[Nexus], Awaitable[None]] | None" = None,
) -> None:
    """Confirm and execute `verb` on the tool FQN, and report the result with the text `done`.

    `before` runs before the prompt, for example to print warnings.
    """
    async with session.nexus() as nexus:
        if before is not None:
            await before(nexus)
        sent = await confirm_and_execute(
            session,
            nexus.tools,
            verb,
            question=lambda simulated: confirmation_prompt(done, simulated),
        )
    report(session.output, sent, done, {"fqn": fqn, **facts})


def warn_of_unsigned_leaders(output: Output, fqn: str, leaders: "Iterable[Leader | None]") -> bool:
    """Warn of leaders without a key, which cannot call a tool with keys. Return whether any is."""
    without_key = [leader for leader in leaders if leader and not leader.keys.keys]
    if without_key:
        names = ", ".join(f"{plain(leader.name)} ({leader.id})" for leader in without_key)
        output.warn(
            f"{fqn} accepts leaders without a key on chain, and their calls will fail: {names}."
            " Each operator must run `nexus-tools leader key new FILE` and"
            " `nexus-tools leader key add FILE`, and restart the Leader with"
            " NEXUS_TOOLS_LEADER_SIGNING_KEY=FILE"
        )
    return bool(without_key)
