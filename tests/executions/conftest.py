import pytest

from nexus_tools.registry import Executions, LeaderRegistry, Registration, ToolRegistry, Workflows
from tests.executions.carrying import Carried, Client

ANY = "xyz.example.any@1"


class AnyDocuments(Workflows):
    """Publishes documents whose ports are none of their tool's: the chain knows no schemas."""

    async def _valid(self, document):
        return document


@pytest.fixture
async def any_tool(owner, chain, define, active_leader):
    """The one tool of random documents; it costs 500 MIST."""
    tools = ToolRegistry(owner, chain.deployment)
    await tools.register(Registration(define(ANY), price_mist=500, leaders=(active_leader,)))
    return await tools.get(ANY)


@pytest.fixture
def publishing(user, chain):
    return AnyDocuments(user, chain.deployment)


@pytest.fixture
def executions(user, chain):
    return Executions(user, chain.deployment)


@pytest.fixture
async def carried(user, leader, chain, any_tool, active_leader, publishing):
    """Publishes a document and makes it ready to be carried."""
    settings = await LeaderRegistry(user, chain.deployment).settings()

    async def carried(document, outcome, name):
        await publishing.publish(document, f"xyz.example.{name}@1")
        return Carried(
            await publishing.get(f"xyz.example.{name}@1"),
            outcome,
            name,
            owner=Client(user, chain.deployment),
            worker=Client(leader, chain.deployment),
            leader=active_leader,
            settings=settings,
        )

    return carried
