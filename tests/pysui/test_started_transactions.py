"""Methods of the registry add commands to a transaction that a program has started."""

import pytest
from pysui import ExecuteTransaction, ExecutorOptions, GasMode

from nexus_tools.contracts import ToolState
from nexus_tools.contracts.move_bindings.invocation import InvocationRequested
from nexus_tools.errors import NotFoundError, UsageError, WrongStateError
from nexus_tools.pysui import PysuiRegistry
from nexus_tools.sui.types.address import Address

ADD = "xyz.example.math.add@1"
SUI = 10**9


@pytest.fixture
async def transaction(client, owner):
    """Start a transaction that transfers 1 000 MIST to `owner`."""
    transaction = await client.transaction()
    coin = await transaction.split_coin(coin=transaction.gas, amounts=[1_000])
    await transaction.transfer_objects(transfers=[coin], recipient=str(owner.address))
    return transaction


async def test_two_methods_share_one_transaction(registry, transaction, added, owner):
    before = await owner.balance(owner.address)
    adding = registry.adding_to(transaction)
    await adding.invocations.request(added, {"a": 1, "b": 2})
    await adding.tools.update(ADD, description="Adds two numbers.")
    executed = await registry.execute(transaction)
    assert (await registry.tools.get(ADD)).definition.description == "Adds two numbers."
    requested = registry.invocations.emitted(executed, InvocationRequested)
    assert (await registry.invocations.get(requested.invocation)).tool == added.id
    assert await owner.balance(owner.address) == before + 1_000


async def test_method_that_an_earlier_one_contradicts_is_explained(registry, transaction, added):
    """Each method is simulated alone, so the conflict shows up when both are executed."""
    adding = registry.adding_to(transaction)
    await adding.tools.update(ADD, description="Adds two numbers.")
    await adding.invocations.request(added, {"a": 1, "b": 2})
    with pytest.raises(WrongStateError) as caught:
        await registry.execute(transaction)
    assert caught.value.code == "tool_changed"


async def test_pysui_executes_the_transaction_itself(registry, client, transaction, define):
    await registry.adding_to(transaction).tools.register(define())
    built = await transaction.build_and_sign()
    result = await client.execute(command=ExecuteTransaction(**built))
    executed = registry.result_of(result)
    assert str(executed.digest) == result.result_data.digest
    assert (await registry.tools.get(ADD)).state is ToolState.ACTIVE


async def test_nothing_is_executed_before_the_transaction(registry, transaction, define):
    added = await registry.adding_to(transaction).tools.register(define())
    assert added.tools[0].is_new
    assert await registry.tools.find(ADD) is None
    await registry.execute(transaction)
    assert (await registry.tools.get(ADD)).id == added.tools[0].tool


async def test_commands_may_follow_those_of_a_method(registry, client, define, owner):
    before = await owner.balance(owner.address)
    transaction = await client.transaction()
    await registry.adding_to(transaction).tools.register(define())
    coins = await transaction.split_coin(coin=transaction.gas, amounts=[1_000, 500])
    await transaction.transfer_objects(transfers=coins, recipient=str(owner.address))
    await registry.execute(transaction)
    assert await owner.balance(owner.address) == before + 1_500


async def test_object_of_the_program_becomes_mutable(registry, client, added, chain):
    """The program only reads the tool, and the method changes it."""
    transaction = await client.transaction()
    target = f"{chain.deployment.package_id}::tool::fqn"
    await transaction.move_call(target=target, arguments=[str(added.id)])
    await registry.adding_to(transaction).tools.update(ADD, description="Adds two numbers.")
    await registry.execute(transaction)
    assert (await registry.tools.get(ADD)).definition.description == "Adds two numbers."


async def test_built_transaction_can_be_extended(registry, client, added, chain):
    """pysui resolves the objects of a transaction when it is built for the first time."""
    transaction = await client.transaction()
    target = f"{chain.deployment.package_id}::tool::fqn"
    await transaction.move_call(target=target, arguments=[str(added.id)])
    await transaction.build()
    await registry.adding_to(transaction).tools.update(ADD, description="Adds two numbers.")
    await registry.execute(transaction)
    assert (await registry.tools.get(ADD)).definition.description == "Adds two numbers."


async def test_method_that_would_abort_adds_nothing(registry, transaction, added):
    await registry.tools.unregister(ADD)
    commands = [*transaction.builder.commands]
    with pytest.raises(WrongStateError) as caught:
        await registry.adding_to(transaction).tools.claim(ADD)
    assert caught.value.code == "delay_not_over"
    assert transaction.builder.commands == commands
    await registry.execute(transaction)


async def test_abort_of_the_transaction_is_explained(registry, client, transaction, added):
    await registry.adding_to(transaction).tools.unregister(ADD)
    await registry.tools.unregister(ADD)
    with pytest.raises(WrongStateError) as caught:
        await registry.execute(transaction)
    assert caught.value.code == "already_unregistered"
    assert "gas_mist" not in caught.value.details
    built = await transaction.build_and_sign()
    result = await client.execute(command=ExecuteTransaction(**built))
    with pytest.raises(WrongStateError) as caught:
        registry.result_of(result)
    assert caught.value.code == "already_unregistered"
    assert caught.value.details["gas_mist"] > 0


async def test_execute_fails_when_the_methods_together_need_more_sui(
    open_client, chain, keys, define
):
    chain.net.fund(keys[0].address, 3 * SUI // 2)
    async with (
        open_client(chain.net.url, keys[0]) as client,
        PysuiRegistry.connect(client, deployment=chain.deployment) as registry,
    ):
        transaction = await client.transaction()
        adding = registry.adding_to(transaction)
        await adding.tools.register(define())
        await adding.tools.register(define("xyz.example.math.sub@1"))
        with pytest.raises(WrongStateError) as caught:
            await registry.execute(transaction)
    assert caught.value.code == "not_enough_sui"
    assert caught.value.details["required_mist"] > 2 * SUI


async def test_executor_of_pysui_executes_added_commands(registry, client, added, keys):
    options = ExecutorOptions(
        sender=str(keys[0].address),
        gas_mode=GasMode.COINS,
        initial_coins=[],
        min_threshold_balance=SUI,
    )
    executor = await client.serial_executor(options=options)
    for number in range(2):
        transaction = await executor.new_transaction()
        adding = registry.adding_to(transaction)
        await adding.invocations.request(added, {"a": number, "b": 2})
        executed = registry.result_of(await executor.submit(transaction))
        assert registry.invocations.emitted(executed, InvocationRequested).tool == added.id
    await executor.close()


async def test_unknown_object_of_the_program_is_reported(registry, client, chain):
    transaction = await client.transaction()
    target = f"{chain.deployment.package_id}::tool::fqn"
    await transaction.move_call(target=target, arguments=[str(Address.of(0x123))])
    with pytest.raises(NotFoundError) as caught:
        await registry.execute(transaction)
    assert caught.value.code == "object_unknown"


async def test_sender_of_the_transaction_is_the_owner(registry, client, keys, define):
    paid, owner = keys
    transaction = await client.transaction(
        initial_sender=str(owner.address), initial_sponsor=str(paid.address)
    )
    options = {"gas_budget": SUI // 10}
    await registry.adding_to(transaction, **options).tools.register(define())
    await registry.execute(transaction, **options)
    assert await registry.tools.owner(await registry.tools.get(ADD)) == owner.address


async def test_other_values_are_not_transactions(registry):
    with pytest.raises(UsageError) as caught:
        registry.adding_to(b"")
    assert caught.value.code == "argument_invalid"
    with pytest.raises(UsageError) as caught:
        await registry.execute("AAAA")
    assert caught.value.code == "argument_invalid"
    with pytest.raises(UsageError) as caught:
        registry.result_of(None)
    assert caught.value.code == "argument_invalid"
