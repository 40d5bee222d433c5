from nexus_tools.contracts import leader_id, name_id, tool_id
from nexus_tools.contracts.move_bindings import leader_registry, tool_registry
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import ToolFqn

# IDs of tools on Talus' test network, under a derived-object key of the type `0x1::ascii::String`.
REGISTRY = Address.parse("0x940f0dd81d4e4ae2cd476ff61ca5699e0d9356e1874d6c4ba3a5bdf28e67b9e9")
ADD = "0x63152163bf12d54f38742656cba5d37a05e89d3ef5df7e9d22062e7bff0aed35"
MUL = "0xc841b225a7e79c76942f3df05f1fcf17c2b259626ed51cb84e562cb3403604da"


def test_tool_id_equals_that_of_real_chain():
    assert str(tool_id(REGISTRY, ToolFqn.parse("xyz.taluslabs.math.i64.add@1"))) == ADD
    assert str(tool_id(REGISTRY, ToolFqn.parse("xyz.taluslabs.math.i64.mul@1"))) == MUL


async def test_name_and_leader_ids_equal_those_of_the_chain(user, chain):
    builder, deployment = TransactionBuilder(), chain.deployment
    name = "xyz.example.math.add"
    tools, leaders = deployment.tool_registry, deployment.leader_registry
    tool_registry.tool_id(builder, deployment.package, tools, name)
    for index in (0, 1, 300):
        leader_registry.leader_id(builder, deployment.package, leaders, index)
    results = [values[0] for values in (await user.inspect(builder)).results]
    assert results == [name_id(tools, name), *(leader_id(leaders, index) for index in (0, 1, 300))]
