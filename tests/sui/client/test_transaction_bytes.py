"""Transaction bytes that we build and pysui signs and executes, and vice versa."""

import logging
from base64 import b64encode
from urllib.parse import urlsplit

import pytest
from grpclib.client import Channel
from pysui import (
    ExecuteTransaction,
    GroupProtocol,
    NetworkType,
    PysuiConfiguration,
    client_factory,
)

from documents import Page
from nexus_tools.errors import NexusError
from nexus_tools.sui.client import SuiClient
from nexus_tools.sui.keystore import KeyPair, network_and_key
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.expiration import NoExpiration
from nexus_tools.sui.types.transaction import TRANSACTION_DATA

logging.getLogger("pgrpc_client").setLevel(logging.CRITICAL)

PAGE = Page.read("docs/guides/sui-and-pysui.md")
CAROL = Address.of(0xCA401)
AMOUNT = 7


def transfer():
    builder = TransactionBuilder()
    coins = builder.split_coins(builder.gas, [AMOUNT])
    builder.transfer_objects([coins[0]], CAROL)
    return builder


def overdraft():
    """Return a transaction that splits more from a coin than it has."""
    builder = TransactionBuilder()
    coins = builder.split_coins(builder.gas, [AMOUNT])
    more = builder.split_coins(coins[0], [AMOUNT + 1])
    builder.transfer_objects([coins[0], more[0]], CAROL)
    return builder


@pytest.fixture
def config(chain, tmp_path):
    """Return alice's configuration of pysui."""
    config = PysuiConfiguration.initialize_config(
        in_folder=tmp_path, init_groups=[{"name": "empty", "make_active": True}]
    )
    profile = {"profile_name": "local", "url": chain.network.url, "make_active": True}
    config.new_group(
        group_name="localnet",
        group_protocol=GroupProtocol.GRPC,
        make_group_active=True,
        active_address_index=0,
        persist=False,
        profile_block=[profile | {"network_type": NetworkType.LOCAL}],
        key_block=[{"key_string": chain.alice.to_keystore(), "alias": "alice"}],
    )
    return config


@pytest.fixture
async def pysui(config, chain):
    """Return alice's pysui client; only the channel is replaced, because pysui requires TLS."""
    client = client_factory(config)
    place = urlsplit(chain.network.url)
    client._channel = Channel(place.hostname, place.port)
    async with client:
        yield client


async def executed_by_pysui(pysui, transaction, *signatures):
    command = ExecuteTransaction(tx_bytestr=transaction, sig_array=list(signatures))
    result = await pysui.execute(command=command)
    assert result.is_ok(), result.result_string
    assert result.result_data.effects.status.success
    return result.result_data


async def code_of(awaitable):
    with pytest.raises(NexusError) as caught:
        await awaitable
    return caught.value.code


# --- Built by us


async def test_pysui_signs_and_executes_our_bytes(chain, alice, pysui, config):
    transaction = await alice.build(transfer())
    text = b64encode(transaction).decode()
    keys = config.keypair_for_address(address=config.active_address)
    executed = await executed_by_pysui(pysui, text, keys.new_sign_secure(text))
    assert executed.digest == str(TRANSACTION_DATA.decode(transaction).digest())
    assert await alice.balance(CAROL) == AMOUNT


async def test_pysui_executes_our_signed_bytes(chain, alice, pysui):
    transaction = await alice.build(transfer())
    await executed_by_pysui(pysui, *map(_text, (transaction, chain.alice.sign(transaction))))
    assert await alice.balance(CAROL) == AMOUNT


async def test_client_without_a_key_builds_for_another_sender(chain, config):
    keys = config.keypair_for_address(address=config.active_address)
    async with chain.client() as watcher:
        transaction = await watcher.build(transfer(), sender=chain.alice.address)
        signature = keys.new_sign_secure(_text(transaction))
        executed = await watcher.execute_transaction(transaction, [signature])
    assert executed.digest == TRANSACTION_DATA.decode(transaction).digest()


async def test_build_uses_the_given_or_the_simulated_budget(alice):
    asked = TRANSACTION_DATA.decode(await alice.build(transfer(), budget=50_000_000))
    assert asked.gas.budget == 50_000_000
    simulated = await alice.simulate(transfer())
    built = TRANSACTION_DATA.decode(await alice.build(transfer()))
    assert simulated.cost.net < built.gas.budget < 50_000_000
    assert built.expiration == NoExpiration()


async def test_build_refuses_a_failing_transaction(alice):
    assert await code_of(alice.build(overdraft())) == "insufficient_coin_balance"


async def test_build_without_a_key_requires_a_sender(chain):
    async with chain.client() as watcher:
        assert await code_of(watcher.build(transfer())) == "signer_missing"
        transaction = await watcher.build(transfer(), sender=chain.alice.address)
        assert await code_of(watcher.execute_transaction(transaction)) == "signer_missing"


# --- Built by pysui


async def built_by_pysui(pysui):
    transaction = await pysui.transaction()
    coin = await transaction.split_coin(coin=transaction.gas, amounts=[AMOUNT])
    await transaction.transfer_objects(transfers=[coin], recipient=str(CAROL))
    return transaction


async def test_client_signs_and_executes_bytes_of_pysui(alice, pysui):
    transaction = await built_by_pysui(pysui)
    executed = await alice.execute_transaction(await transaction.build(gas_budget=5_000_000))
    assert executed.effects.gas_used.net > 0
    assert await alice.balance(CAROL) == AMOUNT


async def test_client_executes_signed_bytes_of_pysui(chain, pysui):
    transaction = await built_by_pysui(pysui)
    signed = await transaction.build_and_sign(gas_budget=5_000_000)
    async with chain.client() as watcher:
        await watcher.execute_transaction(signed["tx_bytestr"], signed["sig_array"])
        assert await watcher.balance(CAROL) == AMOUNT


async def test_client_opens_with_a_pysui_configuration(chain, config):
    network, key = network_and_key(config)
    async with SuiClient(network, key) as client:
        await client.execute(transfer())
        assert client.address == chain.alice.address
        assert await client.balance(CAROL) == AMOUNT


# --- Alongside transactions of the client itself


async def test_client_continues_with_the_remaining_coins(alice, pysui):
    for _ in range(2):
        await alice.execute(transfer())
        transaction = await built_by_pysui(pysui)
        await alice.execute_transaction(await transaction.build(gas_budget=5_000_000))
        await alice.execute_transaction(await alice.build(transfer()))
    await alice.execute(transfer())
    assert await alice.balance(CAROL) == 7 * AMOUNT


async def test_same_bytes_are_executed_once(alice):
    transaction = await alice.build(transfer())
    first = await alice.execute_transaction(transaction)
    again = await alice.execute_transaction(_text(transaction))
    assert first.digest == again.digest
    assert await alice.balance(CAROL) == AMOUNT


async def test_failure_on_chain_is_raised(alice):
    transaction = await alice.build(overdraft(), budget=50_000_000)
    assert await code_of(alice.execute_transaction(transaction)) == "insufficient_coin_balance"


async def test_signature_of_another_key_is_refused(alice, chain):
    transaction = await alice.build(transfer())
    signature = KeyPair.new().sign(transaction)
    with pytest.raises(NexusError):
        await alice.execute_transaction(transaction, [signature])
    assert await alice.balance(CAROL) == 0


async def test_invalid_base64_is_reported(alice):
    assert await code_of(alice.execute_transaction("no base64!")) == "bytes_invalid"
    assert await code_of(alice.execute_transaction(b"", ["?"])) == "bytes_invalid"


def test_new_key_is_random_ed25519():
    one, other = KeyPair.new(), KeyPair.new()
    assert one.scheme.name == "ED25519"
    assert one.address != other.address
    assert KeyPair.parse(one.to_bech32()).address == one.address


def _text(data):
    return b64encode(data).decode()


# --- Examples of the guide


async def test_functions_of_the_guide_work_as_documented(chain, alice, pysui):
    page = {}
    code = next(block.text for block in PAGE.blocks if "def built_by_us" in block.text)
    exec(compile(code, PAGE.name, "exec"), page)
    async with chain.client() as watcher:
        result = await page["built_by_us"](watcher, transfer(), pysui)
        assert result.is_ok(), result.result_string
        await page["built_by_pysui"](watcher, await built_by_pysui(pysui))
    await page["signed_by_us"](alice, await built_by_pysui(pysui))
    assert await alice.balance(CAROL) == 3 * AMOUNT
