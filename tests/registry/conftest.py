import pytest

from nexus_tools.registry import Registration, ToolRegistry


@pytest.fixture
def registry(owner, chain):
    return ToolRegistry(owner, chain.deployment)


@pytest.fixture
def strangers(user, chain):
    return ToolRegistry(user, chain.deployment)


@pytest.fixture
def admins(admin, chain):
    return ToolRegistry(admin, chain.deployment)


@pytest.fixture
async def added(registry, define):
    """The tool `ADD` is registered."""
    return await registry.register(Registration(define(), price_mist=500))
