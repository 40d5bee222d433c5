import pytest

from nexus_tools.contracts import dag_id, name_id, parse_event, tool_id
from nexus_tools.contracts.move_bindings.workflows.dag import DagPublished
from nexus_tools.errors import NexusError, NotAllowedError, NotFoundError, ValidationError
from nexus_tools.registry import Workflows
from nexus_tools.sui.client import Simulated
from nexus_tools.sui.types.object import Immutable, Shared
from nexus_tools.tool import ToolFqn
from nexus_tools.workflow import DIALECT, plan_of
from tests.registry.sums import ADD, TWICE, sums

SUM = ToolFqn.parse("xyz.example.sum@1")
SUM_2 = ToolFqn.parse("xyz.example.sum@2")


def ladder(rungs):
    """Each vertex adds the results of the two before it."""
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


async def test_a_published_workflow_is_read_back_with_everything(
    workflows, published, twice, chain
):
    found = await workflows.get(str(SUM))
    registry = chain.deployment.tool_registry
    assert found.document == twice
    assert found.plan == plan_of(twice)
    assert (found.id, found.fqn, found.description) == (
        published.workflow,
        SUM,
        "Adds three numbers.",
    )
    assert found.id == dag_id(chain.deployment.dag_registry, SUM)
    assert found.name == name_id(registry, SUM.unversioned)
    assert found.tools == (tool_id(registry, ToolFqn.parse(ADD)),)
    assert found.fqns == (ADD,)


async def test_a_published_workflow_never_changes_and_its_name_is_shared(published, owner, chain):
    name = name_id(chain.deployment.tool_registry, SUM.unversioned)
    dag, shared = await owner.objects([published.workflow, name])
    assert isinstance(dag.owner, Immutable)
    assert isinstance(shared.owner, Shared)


async def test_publishing_is_told_to_those_who_watch(published, workflows, twice, chain, owner):
    [sent] = published.sent
    [event] = [parse_event(chain.deployment, each) for each in sent.events]
    assert event == DagPublished(
        published.workflow,
        str(SUM),
        name_id(chain.deployment.tool_registry, SUM.unversioned),
        owner.address,
        "Adds three numbers.",
        twice.digest(),
        2,
    )
    assert await workflows.list() == (event,)
    assert await workflows.list(owner.address) == (event,)
    assert await workflows.list(event.dag) == ()


@pytest.mark.usefixtures("published")
async def test_what_is_published_alike_is_left_as_it_is(workflows, twice):
    again = await workflows.publish(twice, SUM, "Adds three numbers.")
    assert again.sent == ()
    assert again.cost_mist == 0


@pytest.mark.usefixtures("published")
async def test_another_document_is_another_version(workflows, twice):
    other = sums(*TWICE[:-1])
    with pytest.raises(ValidationError) as refused:
        await workflows.publish(other, SUM, "Adds three numbers.")
    assert refused.value.code == "workflow_differs"
    assert "xyz.example.sum@2" in refused.value.hint
    with pytest.raises(ValidationError, match="another document or description"):
        await workflows.publish(twice, SUM, "Adds more numbers.")
    await workflows.publish(other, SUM_2)
    assert (await workflows.get(SUM_2)).document == other
    assert (await workflows.get(SUM)).document == twice


@pytest.mark.usefixtures("published")
async def test_a_name_belongs_to_who_published_its_first_version(user, chain, twice):
    with pytest.raises(NotAllowedError) as refused:
        await Workflows(user, chain.deployment).publish(twice, SUM_2)
    assert refused.value.code == "name_taken"


@pytest.mark.usefixtures("added")
async def test_an_fqn_is_that_of_a_tool_or_of_a_workflow(workflows, twice):
    with pytest.raises(NotAllowedError) as refused:
        await workflows.publish(twice, ADD)
    assert refused.value.code == "fqn_taken"
    assert await workflows.find(ADD) is None


async def test_tools_have_to_be_registered(workflows, chain, twice):
    with pytest.raises(ValidationError) as refused:
        await workflows.publish(twice, SUM)
    assert refused.value.code == "workflow_invalid"
    rules = {each["rule"] for each in refused.value.details["violations"]}
    assert rules == {"unregistered"}
    assert await workflows.list() == ()


@pytest.mark.usefixtures("added")
async def test_rules_are_kept_before_money_moves(workflows, owner):
    before = await owner.balance(owner.address)
    with pytest.raises(ValidationError) as refused:
        await workflows.publish(sums("> one.a", "> one.c", "one.b = 1"), SUM)
    assert refused.value.code == "workflow_invalid"
    assert await owner.balance(owner.address) == before


async def test_a_workflow_that_is_not_there_is_said_to_be(workflows, published):
    with pytest.raises(NotFoundError) as unknown:
        await workflows.get("xyz.example.sun@1")
    assert unknown.value.code == "workflow_unknown"
    assert str(SUM) in unknown.value.hint


@pytest.mark.usefixtures("added")
async def test_a_dry_run_publishes_nothing(owner, chain, twice):
    dry = Workflows(owner, chain.deployment, dry_run=True)
    simulated = await dry.publish(twice, SUM)
    assert isinstance(simulated.sent[0], Simulated)
    assert simulated.cost_mist > 0
    assert simulated.left == 0
    assert await dry.find(SUM) is None


# --- Several transactions


@pytest.mark.usefixtures("added")
async def test_the_largest_workflow_takes_four_transactions_at_most(workflows):
    largest = ladder(2_048)
    result = await workflows.publish(largest, SUM)
    assert len(result.sent) <= 4
    assert (await workflows.get(SUM)).document == largest


class InterruptedHereError(Exception):
    pass


def interrupt(_done, _total):
    raise InterruptedHereError


@pytest.mark.usefixtures("added")
async def test_who_is_interrupted_goes_on(workflows, owner, chain, user):
    large = ladder(1_200)
    told = []
    with pytest.raises(InterruptedHereError):
        await workflows.publish(large, SUM, on_sent=interrupt)
    assert await workflows.find(SUM) is None
    with pytest.raises(NexusError):
        await Workflows(user, chain.deployment).publish(large, SUM)
    await workflows.publish(large, SUM, on_sent=lambda done, total: told.append((done, total)))
    assert told == [(1, 1)]
    assert (await workflows.get(SUM)).document == large
