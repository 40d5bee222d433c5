import json

import pytest

from nexus_tools.contracts import leader_id
from nexus_tools.contracts.move_bindings import leader as leader_calls
from nexus_tools.contracts.move_bindings.workflows import dag as dag_calls
from nexus_tools.registry import (
    Invocations,
    LeaderRegistry,
    ProofDocument,
    Registration,
    ToolRegistry,
    Workflows,
    make_proof,
    verify_proof,
)
from nexus_tools.registry.workflows.publication import Progress, batches
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.tool import Answer
from tests.node_requests import count_requests


@pytest.fixture
def requests(monkeypatch):
    """Count the requests to the node by procedure."""
    return count_requests(monkeypatch)


@pytest.fixture
def register_many(define):
    """Return a function that registers many tools with few transactions."""

    async def register_many(registry, count, *, prefix="xyz.example.many.t"):
        definitions = [define(f"{prefix}{number:03}@1") for number in range(count)]
        async for _ in registry.register_all(*definitions):
            pass

    return register_many


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
    """Register the tool `ADD` without a price, so that it accepts any leader."""
    return await registry.register(Registration(define()))


@pytest.fixture
def leaders(leader, chain):
    """Return the registry of leaders with the wallet of the owner of `active_leader`."""
    return LeaderRegistry(leader, chain.deployment)


@pytest.fixture
def leader_admins(admin, chain):
    return LeaderRegistry(admin, chain.deployment)


@pytest.fixture
def register_leaders(chain):
    """Return a function that registers many leaders with few transactions, and returns their IDs.

    The leaders are active, have the worker `worker`, and are in the order of their registration.
    """

    async def register_leaders(client, count, *, active=True, worker=None):
        registry, package = chain.deployment.leader_registry, chain.deployment.package
        service = LeaderRegistry(client, chain.deployment)
        state = await service.state()
        collateral_mist, delay_ms = state.settings.collateral_mist, 10**12
        chain.net.fund(client.address, count * (collateral_mist + 100_000_000))
        for start in range(0, count, 50):
            builder = TransactionBuilder()
            for number in range(start, min(start + 50, count)):
                coin = builder.split_coins(builder.gas, [collateral_mist])[0]
                terms = coin, delay_ms, f"many{number}", (worker or client.address,)
                leader = leader_calls.register(builder, package, registry, *terms)
                if active:
                    leader_calls.activate(builder, package, leader, registry)
                leader_calls.share(builder, package, leader)
            await service.send(builder)
        return [leader_id(registry, state.length + number) for number in range(count)]

    return register_leaders


@pytest.fixture
def invocations(user, chain):
    """Return the invocations with the wallet of the requester."""
    return Invocations(user, chain.deployment)


@pytest.fixture
def closing(leader, chain):
    """Return the invocations with the wallet of the worker of `active_leader`."""
    return Invocations(leader, chain.deployment)


@pytest.fixture
def workflows(owner, chain):
    return Workflows(owner, chain.deployment)


@pytest.fixture
def publish_plan(workflows):
    """Return a function that publishes a plan unchanged, without checking its tools."""

    async def publish_plan(publication):
        deployment = workflows.deployment
        [steps] = batches(publication.steps(Progress()), deployment)
        builder = TransactionBuilder()
        dag = publication.draft(builder, deployment, has_name=False)
        for step in steps:
            step(builder, deployment, dag)
        dag_calls.publish(builder, deployment.workflows, dag)
        return await workflows.send(builder)

    return publish_plan


# --- Proofs of paid calls

CALL_INPUTS = {"a": 2, "b": [40, 1]}
CALL_ANSWER = Answer("ok", {"result": [42, 1]})


@pytest.fixture
def prove(user, chain):
    async def prove(invocation):
        return await make_proof(user, chain.deployment, invocation)

    return prove


@pytest.fixture
async def settled(invocations, closing, priced_tool, active_leader):
    """Return an invocation with a price that the leader settled."""
    _, place = await invocations.request(priced_tool, CALL_INPUTS)
    await closing.close(active_leader, {place: CALL_ANSWER})
    return place


@pytest.fixture
async def proof(prove, settled):
    return await prove(settled)


@pytest.fixture
def verify(owner, chain):
    """Return a function that verifies JSON as an account that took no part in the call."""

    async def verify(document, deployment=None):
        parsed = ProofDocument.parse(json.dumps(document).encode())
        return await verify_proof(owner, deployment or chain.deployment, parsed)

    return verify


@pytest.fixture
def failed_checks(verify):
    async def failed_checks(document):
        return {check.name for check in (await verify(document)).failed}

    return failed_checks
