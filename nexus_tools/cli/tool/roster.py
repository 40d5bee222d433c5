"""Changes of a tool's lists: its leaders, operators and keys."""

from typing import TYPE_CHECKING, Any

from nexus_tools.cli.framework import Session, confirm_and_execute, confirmation_prompt, report

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from nexus_tools.contracts import Sent
    from nexus_tools.registry import ToolRegistry


async def change_list(
    session: Session,
    fqn: str,
    verb: "Callable[[ToolRegistry], Awaitable[Sent]]",
    done: str,
    facts: dict[str, Any],
) -> None:
    """Confirm and execute `verb` on the tool FQN, and report the result with the text `done`."""
    async with session.nexus() as nexus:
        sent = await confirm_and_execute(
            session,
            nexus.tools,
            verb,
            question=lambda simulated: confirmation_prompt(done, simulated),
        )
    report(session.output, sent, done, {"fqn": fqn, **facts})
