"""The reasons of suspensions, which commands find in the newest slashes."""

from nexus_tools.cli.shared import collateral
from nexus_tools.cli.shared.collateral import find_suspensions

DAY_MS = 86_400_000
FIRST, SECOND = "xyz.example.many.t000@1", "xyz.example.many.t001@1"


async def slash(chain, admins, fqn, reason):
    await admins.propose_slash(fqn, 1_000, reason, bytes(32))
    chain.net.advance_clock(3 * DAY_MS)
    await admins.execute_slash(fqn)


async def reasons(registry):
    suspended = [tool async for tool in registry.iterate()]
    return [suspension.reason for suspension in await find_suspensions(registry, suspended)]


async def test_suspensions_have_the_reason_of_the_last_slash(
    chain, registry, admins, register_many, monkeypatch
):
    monkeypatch.setattr(collateral, "_SLASHES_AT_ONCE", 1)
    await register_many(registry, 2)
    await slash(chain, admins, FIRST, "an early reason")
    await slash(chain, admins, FIRST, "the last reason")
    await slash(chain, admins, SECOND, "another tool")
    assert await reasons(registry) == ["the last reason", "another tool"]


async def test_suspension_has_no_reason_if_its_slash_is_too_old(
    chain, registry, admins, register_many, monkeypatch
):
    monkeypatch.setattr(collateral, "_SLASHES_AT_ONCE", 1)
    monkeypatch.setattr(collateral, "_MAX_SLASHES", 1)
    await register_many(registry, 2)
    await slash(chain, admins, FIRST, "an early reason")
    await slash(chain, admins, SECOND, "another tool")
    assert await reasons(registry) == [None, "another tool"]
