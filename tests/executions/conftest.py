import pytest

from nexus_tools.registry import LeaderRegistry, Registration, ToolRegistry
from tests.executions.carrying import Dispatcher

ANY = "xyz.example.any@1"
DEAR = "xyz.example.dear@1"
"""A tool that costs more than any execution consents to."""


@pytest.fixture
async def tools(owner, chain, define, active_leader):
    """Register two tools, of which one is too expensive."""
    registry = ToolRegistry(owner, chain.deployment)
    await registry.register(Registration(define(ANY)))
    await registry.register(Registration(define(DEAR), price_mist=500, leaders=(active_leader,)))
    return registry


@pytest.fixture
async def settings(user, chain):
    """Return the settings of leader fees."""
    return await LeaderRegistry(user, chain.deployment).settings()


@pytest.fixture
async def carrier(chain, user, leader, active_leader, tools, settings):
    return Dispatcher(chain, user, leader, active_leader, settings)
