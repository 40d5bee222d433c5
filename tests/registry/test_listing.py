import pytest

from nexus_tools.contracts import ToolState, name_id
from nexus_tools.contracts import move_bindings as calls
from nexus_tools.contracts.move_bindings import fqn
from nexus_tools.errors import NotFoundError
from nexus_tools.registry import Registration, ToolFilter
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.tool import ToolFqn

ADD = ToolFqn.parse("xyz.example.math.add@1")


async def test_find_returns_none_for_unregistered_tool(registry):
    assert await registry.find(ADD) is None
    with pytest.raises(NotFoundError) as caught:
        await registry.get(ADD)
    assert caught.value.code == "tool_unknown"


@pytest.fixture
async def four(registry, strangers, define):
    names = ["xyz.example.math.add@1", "xyz.example.math.mul@1", "xyz.example.text.join@1"]
    await registry.register(*(Registration(define(name)) for name in names))
    theirs = define("org.example.maths.add@1", description="Adds, too")
    await strangers.register(Registration(theirs))


@pytest.mark.usefixtures("four")
@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        (ToolFilter(), ["math.add@1", "math.mul@1", "text.join@1", "maths.add@1"]),
        (ToolFilter(domains=("xyz.example.math",)), ["math.add@1", "math.mul@1"]),
        (ToolFilter(domains=("xyz",)), ["math.add@1", "math.mul@1", "text.join@1"]),
        (ToolFilter(search="TOO"), ["maths.add@1"]),
        (ToolFilter(search="join"), ["text.join@1"]),
        (ToolFilter(state=ToolState.CLAIMED), []),
    ],
)
async def test_list_applies_the_filter(registry, wanted, names):
    fqns = [
        tool.fqn.removeprefix("xyz.example.").removeprefix("org.example.")
        for tool in (await registry.list(wanted)).items
    ]
    assert fqns == names[::-1]


@pytest.mark.usefixtures("four")
async def test_list_filters_by_owner(registry, user, owner):
    theirs = await registry.list(ToolFilter(owner=user.address))
    assert [tool.fqn for tool in theirs.items] == ["org.example.maths.add@1"]
    assert len((await registry.list(ToolFilter(owner=owner.address))).items) == 3


@pytest.mark.usefixtures("four")
@pytest.mark.parametrize(
    ("wanted", "sizes"),
    [
        (ToolFilter(), [1, 1, 1, 1]),
        (ToolFilter(), [3, 1]),
        (ToolFilter(), [4]),
        (ToolFilter(domains=("xyz",)), [2, 1]),
        (ToolFilter(search="join"), [1]),
        (ToolFilter(state=ToolState.CLAIMED), [0]),
    ],
)
async def test_pages_together_equal_the_iterated_tools(registry, wanted, sizes):
    pages = [await registry.page(wanted, size=max(1, sizes[0]))]
    while pages[-1].next is not None:
        pages.append(await registry.page(wanted, start=pages[-1].next, size=max(1, sizes[0])))
    assert [len(page.items) for page in pages] == sizes
    fqns = [tool.fqn for page in pages for tool in page.items]
    assert fqns == [tool.fqn async for tool in registry.iterate(wanted)]


@pytest.mark.usefixtures("four")
async def test_fqns_reads_a_range(registry, owner):
    state = await registry.state()
    assert [fqn.name for fqn in await registry.fqns(state, 1, 3)] == [
        "mul",
        "join",
    ]
    assert [fqn.name for fqn in await registry.fqns(state, 3, 99)] == ["add"]


@pytest.mark.usefixtures("four")
async def test_owners_reads_many_names_at_once(registry, user, owner):
    names = ["xyz.example.math.add", "org.example.maths.add", "xyz.example.math.div"]
    assert await registry.owners(names) == {names[0]: owner.address, names[1]: user.address}


@pytest.mark.usefixtures("four")
async def test_versions_lists_all_of_a_name(registry, define):
    await registry.register(define("xyz.example.math.add@2"))
    versions = await registry.versions("xyz.example.math.add")
    assert [tool.fqn for tool in versions] == ["xyz.example.math.add@1", "xyz.example.math.add@2"]


async def test_python_and_move_agree_on_ids_and_names(added, owner, chain):
    builder = TransactionBuilder()
    where = chain.deployment.package, chain.deployment.tool_registry
    calls.tool_registry.tool_id(builder, *where, str(ADD))
    calls.tool_registry.tool_id(builder, *where, ADD.unversioned)
    calls.tool_registry.contains(builder, *where, ADD.unversioned)
    calls.tool_registry.contains(builder, *where, "xyz.example.math.mul")
    calls.tool_registry.length(builder, *where)
    calls.tool_registry.fqn(builder, *where, 0)
    fqn.unversioned(builder, chain.deployment.package, str(ADD))
    results = [values[0] for values in (await owner.inspect(builder)).results]
    name = ADD.unversioned.encode()
    assert results == [
        added.tools[0].tool,
        name_id(chain.deployment.tool_registry, ADD.unversioned),
        b"\x01",
        b"\x00",
        (1).to_bytes(8, "little"),
        bytes([len(str(ADD))]) + str(ADD).encode(),
        bytes([len(name)]) + name,
    ]


@pytest.mark.usefixtures("priced_tool")
async def test_tool_views_equal_decoded_fields(registry, owner, chain):
    await registry.update(ADD, min_outcome_bytes=7)
    tool = await registry.get(ADD)
    builder = TransactionBuilder()
    views = ("is_active", "fqn", "timeout_ms", "price_mist", "payout", "revision")
    for view in (*views, "min_outcome_bytes", "requires_signed_outcome"):
        getattr(calls.tool, view)(builder, chain.deployment.package, tool.id)
    results = [values[0] for values in (await owner.inspect(builder)).results]
    assert results == [
        b"\x01",
        bytes([len(tool.fqn)]) + tool.fqn.encode(),
        tool.definition.timeout_ms.to_bytes(8, "little"),
        (500).to_bytes(8, "little"),
        tool.payout,
        (1).to_bytes(8, "little"),
        (7).to_bytes(8, "little"),
        b"\x00",
    ]
