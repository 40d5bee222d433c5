"""A verb is carried out: simulated, asked about, sent."""

import asyncio
from contextlib import nullcontext
from types import SimpleNamespace

import click
import pytest

from nexus_tools.cli.framework import Output, confirm_and_execute

pytestmark = pytest.mark.anyio


async def output_of_interrupted(verb, *, sent):
    """Return the output of a verb that is interrupted before or after sending a transaction."""
    begun = asyncio.Event()
    session = SimpleNamespace(
        output=Output(), dry_run=False, yes=True, last_sent=None, sending_turn=nullcontext
    )

    async def send(_):
        session.last_sent = SimpleNamespace(digest="D1G") if sent else None
        begun.set()
        await asyncio.Event().wait()

    with click.Context(click.Command(verb), info_name=f"nexus-tools {verb}"):
        sending = asyncio.create_task(
            confirm_and_execute(session, object(), send, question=lambda _: "")
        )
        await begun.wait()
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending


async def test_interruption_before_sending_reports_nothing_sent(capsys):
    await output_of_interrupted("schedule create", sent=False)
    assert "interrupted before the transaction was sent" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("verb", "lookup"),
    [
        ("schedule create", "nexus-tools schedule list"),
        ("workflow run", "nexus-tools workflow executions"),
        ("workflow publish", "nexus-tools workflow list"),
        ("package upgrade execute", "nexus-tools package upgrade show"),
        ("package publish", "run the same command again"),
        ("tool register", "nexus-tools status"),
        ("bridge register", "nexus-tools status"),
    ],
)
async def test_interruption_names_digest_and_lookup_command(capsys, verb, lookup):
    await output_of_interrupted(verb, sent=True)
    told = capsys.readouterr().err
    assert "after sending transaction D1G" in told
    assert lookup.lower() in told.lower()
