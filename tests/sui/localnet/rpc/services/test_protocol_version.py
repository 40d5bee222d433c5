"""A network with another protocol version, which all responses report."""

import pytest

from nexus_tools.sui.client import AnyLoopClient
from nexus_tools.sui.keystore import KeyPair
from nexus_tools.sui.localnet import Origin, ThreadedLocalnet
from nexus_tools.sui.network import Network
from nexus_tools.sui.transaction_builder import TransactionBuilder

SUI = 1_000_000_000


@pytest.fixture
def newer(make_client):
    with ThreadedLocalnet(origin=Origin(protocol_version=139)) as net:
        yield net, make_client(net.url)


def test_epoch_contains_the_version_and_its_rules(newer):
    net, client = newer
    net.advance_epoch()
    for number in (0, 1):
        paths = ("protocol_config", "system_state")
        found = client.call("LedgerService/GetEpoch", *paths, epoch=number).epoch
        assert found.protocol_config.protocol_version == 139
        assert found.system_state.protocol_version == 139
        assert found.protocol_config.attributes["storage_rebate_rate"] == "9999"
        assert found.protocol_config.attributes["obj_access_cost_read_per_package_kb"] == "150"


async def test_ten_thousandth_of_the_rebate_is_not_refunded(newer):
    net, _ = newer
    key = KeyPair.new()
    net.fund(key.address, SUI)
    builder = TransactionBuilder()
    builder.transfer_objects([builder.split_coins(builder.gas, [1])[0]], key.address)
    executed = await AnyLoopClient(Network("localnet", net.url), key).execute(builder)
    used = executed.effects.gas_used
    # The gas coin had cost 988 000 MIST, of which 98.8 are not refunded.
    assert (used.storage_rebate, used.non_refundable_storage_fee) == (987_901, 99)
