import pytest

from nexus_tools.contracts import dag_id, name_id, parse_event, tool_id
from nexus_tools.contracts.move_bindings.workflows.dag import DagPublished
from nexus_tools.errors import NexusError, NotAllowedError, NotFoundError, ValidationError
from nexus_tools.registry import Workflows
from nexus_tools.sui.client import SimulatedTransaction
from nexus_tools.sui.types.object import Immutable, Shared
from nexus_tools.tool import ToolFqn
from nexus_tools.workflow import DIALECT, create_plan
from tests.registry.sums import ADD, TWICE, sums

SUM = ToolFqn.parse("xyz.example.sum@1")
SUM_2 = ToolFqn.parse("xyz.example.sum@2")


def ladder(rungs):
    """Return a document in which each vertex adds the results of the two before it."""
    first = ("> v0.a", "> v0.b", "v0.ok.result -> v1.a", "v1.b = 1")
    a = (f"v{i - 1}.ok.result -> v{i}.a" for i in range(2, rungs))
    b = (f"v{i - 2}.ok.result -> v{i}.b" for i in range(2, rungs))
    return sums(*first, *a, *b, dialect=DIALECT)


@pytest.fixture
def twice():
    return sums(*TWICE)


@pytest.fixture
async def published(workflows, added, twice):
    return await workflows.publish(twice, SUM, "Adds three numbers.")


async def test_published_workflow_is_read_back_completely(workflows, published, twice, chain):
    workflow = await workflows.get(str(SUM))
    registry = chain.deployment.tool_registry
    assert workflow.document == twice
    assert workflow.plan == create_plan(twice)
    assert (workflow.id, workflow.fqn, workflow.description) == (
        published.workflow,
        SUM,
        "Adds three numbers.",
    )
    assert workflow.id == dag_id(chain.deployment.dag_registry, SUM)
    assert workflow.name == name_id(registry, SUM.unversioned)
    assert workflow.tools == (tool_id(registry, ToolFqn.parse(ADD)),)
    assert workflow.fqns == (ADD,)


async def test_published_workflow_is_immutable_and_name_is_shared(published, owner, chain):
    name = name_id(chain.deployment.tool_registry, SUM.unversioned)
    dag, shared = await owner.objects([published.workflow, name])
    assert isinstance(dag.owner, Immutable)
    assert isinstance(shared.owner, Shared)


async def test_publish_emits_event(published, workflows, twice, chain, owner):
    [sent] = published.sent
    [event] = [parse_event(chain.deployment, record) for record in sent.events]
    assert event == DagPublished(
        published.workflow,
        str(SUM),
        name_id(chain.deployment.tool_registry, SUM.unversioned),
        owner.address,
        "Adds three numbers.",
        twice.digest(),
        2,
    )
    assert (await workflows.list()).items == (event,)
    assert (await workflows.list(owner.address)).items == (event,)
    assert (await workflows.list(event.dag)).items == ()


@pytest.mark.usefixtures("published")
async def test_list_returns_pages_of_the_newest_workflows(workflows):
    await workflows.publish(sums(*TWICE[:-1]), SUM_2)
    newest = await workflows.list(limit=1)
    assert [event.fqn for event in newest.items] == [str(SUM_2)]
    older = await workflows.list(limit=1, before=newest.next)
    assert ([event.fqn for event in older.items], older.next) == ([str(SUM)], None)


@pytest.mark.usefixtures("published")
async def test_publish_again_keeps_identical_workflow(workflows, twice):
    again = await workflows.publish(twice, SUM, "Adds three numbers.")
    assert again.sent == ()
    assert again.cost_mist == 0


@pytest.mark.usefixtures("published")
async def test_publish_fails_for_different_document(workflows, twice):
    other = sums(*TWICE[:-1])
    with pytest.raises(ValidationError) as refused:
        await workflows.publish(other, SUM, "Adds three numbers.")
    assert refused.value.code == "workflow_differs"
    assert "xyz.example.sum@2" in refused.value.hint
    with pytest.raises(ValidationError, match="a different document or description"):
        await workflows.publish(twice, SUM, "Adds more numbers.")
    await workflows.publish(other, SUM_2)
    assert (await workflows.get(SUM_2)).document == other
    assert (await workflows.get(SUM)).document == twice


@pytest.mark.usefixtures("published")
async def test_publish_fails_for_name_of_another_account(user, chain, twice):
    with pytest.raises(NotAllowedError) as refused:
        await Workflows(user, chain.deployment).publish(twice, SUM_2)
    assert refused.value.code == "name_taken"


@pytest.mark.usefixtures("added")
async def test_tool_and_workflow_cannot_share_an_fqn(workflows, twice):
    with pytest.raises(NotAllowedError) as refused:
        await workflows.publish(twice, ADD)
    assert refused.value.code == "fqn_taken"
    assert await workflows.find(ADD) is None


async def test_publish_fails_for_unregistered_tools(workflows, chain, twice):
    with pytest.raises(ValidationError) as refused:
        await workflows.publish(twice, SUM)
    assert refused.value.code == "workflow_invalid"
    rules = {violation["rule"] for violation in refused.value.details["violations"]}
    assert rules == {"unregistered"}
    assert (await workflows.list()).items == ()


@pytest.mark.usefixtures("added")
async def test_publish_rejects_invalid_document_before_payment(workflows, owner):
    before = await owner.balance(owner.address)
    with pytest.raises(ValidationError) as refused:
        await workflows.publish(sums("> one.a", "> one.c", "one.b = 1"), SUM)
    assert refused.value.code == "workflow_invalid"
    assert await owner.balance(owner.address) == before


async def test_get_fails_for_unknown_workflow(workflows, published):
    with pytest.raises(NotFoundError) as unknown:
        await workflows.get("xyz.example.sun@1")
    assert unknown.value.code == "workflow_unknown"
    assert str(SUM) in unknown.value.hint


@pytest.mark.usefixtures("added")
async def test_dry_run_publishes_nothing(owner, chain, twice):
    dry = Workflows(owner, chain.deployment, dry_run=True)
    simulated = await dry.publish(twice, SUM)
    assert isinstance(simulated.sent[0], SimulatedTransaction)
    assert simulated.cost_mist > 0
    assert simulated.remaining == 0
    assert await dry.find(SUM) is None


# --- Several transactions


@pytest.mark.long
@pytest.mark.usefixtures("added")
async def test_largest_workflow_needs_at_most_four_transactions(workflows):
    largest = ladder(2_048)
    result = await workflows.publish(largest, SUM)
    assert len(result.sent) <= 4
    assert (await workflows.get(SUM)).document == largest


class InterruptedHereError(Exception):
    pass


def interrupt(_done, _total):
    raise InterruptedHereError


@pytest.mark.long
@pytest.mark.usefixtures("added")
async def test_publish_resumes_after_interruption(workflows, owner, chain, user):
    large = ladder(1_200)
    progress = []
    with pytest.raises(InterruptedHereError):
        await workflows.publish(large, SUM, on_sent=interrupt)
    assert await workflows.find(SUM) is None
    with pytest.raises(NexusError):
        await Workflows(user, chain.deployment).publish(large, SUM)
    await workflows.publish(large, SUM, on_sent=lambda done, total: progress.append((done, total)))
    assert progress == [(1, 1)]
    assert (await workflows.get(SUM)).document == large
