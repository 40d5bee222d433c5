from contextlib import asynccontextmanager

import pytest

from nexus_tools.leader.chain.chain import Chain
from nexus_tools.leader.closing.worker_balances import (
    Earnings,
    WorkerBalances,
    WorkerFunds,
    funding_command,
)
from nexus_tools.leader.closing.workers import Workers
from nexus_tools.leader.metrics import LeaderMetrics
from nexus_tools.sui.network import Network
from nexus_tools.sui.types.address import Address


@pytest.mark.parametrize(
    ("seen", "per_hour"),
    [
        ([(0, 0)], 0),
        ([(0, 0), (1_800, -500)], -1_000),
        ([(0, 0), (3_600, -500)], -500),
        ([(0, -9_000), (3_600, -9_000), (7_200, -8_000)], 1_000),
        ([(0, 0), (1_800, 100), (3_600, 200), (5_400, 1_100)], 1_000),
    ],
)
def test_rate_covers_the_last_hour_or_the_time_since_the_start(seen, per_hour):
    earnings = Earnings()
    for now, earned_mist in seen:
        earnings.add_sample(now, earned_mist)
    assert earnings.mist_per_hour() == per_hour


@pytest.mark.parametrize(
    ("balance", "richest", "per_hour", "lacking"),
    [
        *[(100, 100, 0, 0), (99, 99, 0, 1), (1_000, 1_000, -900, 0), (1_000, 1_000, -901, 1)],
        *[(100, 100, 5_000, 0), (0, 0, 5_000, 100), (1_000, 60, 0, 40), (1_000, 100, -901, 1)],
    ],
)
def test_shortfall_covers_another_hour_and_a_transaction(balance, richest, per_hour, lacking):
    purse = WorkerFunds(balance, richest, per_hour, floor_mist=100)
    assert purse.shortfall_mist == lacking


def test_funding_command_sends_whole_sui():
    owner = Address.of(7)
    local = Network("localnet", "http://127.0.0.1:9000", "http://127.0.0.1:9000", has_profile=True)
    assert funding_command(local, owner, 361_200_001) == (
        f"nexus-tools localnet faucet {owner} --amount 1.000 -n localnet"
    )
    mainnet = Network("mainnet", "https://node.example:443", has_profile=True)
    assert funding_command(mainnet, owner, 361_200_001) == (
        f"nexus-tools wallet transfer {owner} 1.000 -n mainnet"
    )
    in_process = Network("localnet", "http://127.0.0.1:9000", "http://127.0.0.1:9000")
    assert "nexus-tools localnet" not in funding_command(in_process, owner, 361_200_001)


@asynccontextmanager
async def money_of(world, identity, floor_mist, *, enough_mist=10**8):
    async with world.client_at(world.localnet.url) as client:
        metrics = LeaderMetrics()
        chain = Chain(client, world.deployment, identity.id)
        workers = Workers(chain, [identity.key], lambda _: enough_mist)
        money = WorkerBalances(
            workers,
            client.network,
            metrics=metrics,
            floor_mist=lambda _: floor_mist,
            interval_ms=1_000,
        )
        yield money, metrics.registry.get_sample_value


@pytest.mark.anyio
async def test_look_sets_the_metrics(world):
    identity = await world.new_leader(sui=12)
    async with money_of(world, identity, 10**8) as (money, value):
        await money.check()
        await money.check()
        balance = await world.client.balance(identity.key.address)
    assert value("nexus_leader_collateral_mist") == 10 * 10**9
    assert value("nexus_leader_balance_mist") == balance
    assert value("nexus_leader_active") == 1
    assert value("nexus_leader_workers") == 1
    assert value("nexus_leader_shortfall_mist") == 0


@pytest.mark.anyio
async def test_shortfall_is_logged_once_with_the_funding_command(world, logged):
    identity = await world.new_leader(sui=11)
    floor_mist = 5 * 10**9
    async with money_of(world, identity, floor_mist, enough_mist=floor_mist) as (money, _):
        await money.check()
        await money.check()
        [line] = [line for line in logged if line["event"] == "funds_low"]
        assert line["log_level"] == "warning"
        has = (await world.client.balance_parts(identity.key.address)).in_address
        assert line["lacking"] == f"{(floor_mist - has) / 10**9:.9f}".rstrip("0") + " SUI"
        assert str(identity.key.address) in line["send"]
        world.localnet.fund(identity.key.address, 10 * 10**9)
        await money.check()
        await money.check()
    log_events = [line["event"] for line in logged if line["event"].startswith("funds")]
    assert log_events == ["funds_low", "funds_sufficient"]
