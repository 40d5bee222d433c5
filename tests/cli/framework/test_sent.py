"""A verb is carried out: simulated, asked about, sent."""

import asyncio
from types import SimpleNamespace

import pytest

from nexus_tools.cli.framework import Output, carry_out

pytestmark = pytest.mark.anyio


async def test_whoever_stops_while_it_is_sent_is_told_that_it_may_have_been(capsys):
    begun = asyncio.Event()

    async def send(_):
        begun.set()
        await asyncio.Event().wait()

    session = SimpleNamespace(output=Output(), dry_run=False, yes=True)
    sending = asyncio.create_task(carry_out(session, object(), send, question=lambda _: ""))
    await begun.wait()
    sending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await sending
    assert "the transaction may have been sent" in capsys.readouterr().err
