"""Workers whose keys are outside the process: slow, broken, or with another key."""

import asyncio

import pytest

from nexus_tools.errors import NotAllowedError, WrongStateError
from nexus_tools.leader.chain.closure import ClosureKind
from nexus_tools.leader.closing.closing_slots import ClosingSlots
from nexus_tools.leader.closing.worker_signer import SigningFailedError, WorkerSigner
from nexus_tools.sui.keystore import KeyPair, MultiSigSigner
from nexus_tools.sui.signature import MultiSigMember, MultiSigPublicKey
from nexus_tools.tool import Answer

pytestmark = pytest.mark.anyio

TIMEOUT_S = 60
MIST = 10**9


class Outside:
    """A signer outside the process, which waits while `allowed` is not set, or raises `error`."""

    def __init__(self, own, signing=None):
        self.address = own.address
        self.error = None
        self.allowed = asyncio.Event()
        self.allowed.set()
        self.calls = 0
        self._own = signing or own

    async def sign(self, transaction):
        self.calls += 1
        await self.allowed.wait()
        if self.error is not None:
            raise self.error
        return self._own.sign(transaction)


@pytest.fixture
async def tool_on_chain(world, add_definition):
    return await world.register_tool(add_definition())


async def closings_of(world, bench, tool, count):
    ids = await world.request(tool, *[{"a": n, "b": 0} for n in range(count)])
    return [
        await bench.closing(invocation, Answer("ok", {"result": n}))
        for n, invocation in enumerate(ids)
    ]


async def assert_closed_once(world, closings):
    async with asyncio.timeout(TIMEOUT_S):
        counts = await world.closings(len(closings))
    assert counts == {closing.assignment.invocation: 1 for closing in closings}


async def test_blocked_signer_does_not_delay_other_workers(world, tool_on_chain, bench_of):
    """The only slot closes the invocations of the second worker while the first one waits."""
    identity = await world.new_leader(sui=20)
    slow, second = Outside(identity.key), await world.new_worker(identity)
    limits = {"max_transactions": 1, "max_batch_size": 1, "signing_timeout_s": 10 * TIMEOUT_S}
    async with bench_of(identity, signers=[slow, second], **limits) as bench:
        slow.allowed.clear()
        slow.calls = 0
        closings = await closings_of(world, bench, tool_on_chain, 8)
        closing = asyncio.create_task(bench.close(*closings))
        async with asyncio.timeout(TIMEOUT_S):
            pending = {asyncio.ensure_future(one.closed) for one in closings}
            while len(pending) > slow.calls or not slow.calls:
                _, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
        assert 1 <= slow.calls <= 4
        assert bench.closer.trouble == ""
        slow.allowed.set()
        assert await closing == [ClosureKind.SETTLED] * 8
        assert bench.transactions() == 8
    await assert_closed_once(world, closings)


@pytest.mark.parametrize("error", [NotAllowedError("signer_refused", "no"), ValueError("secret")])
async def test_other_worker_closes_when_a_signer_fails(
    world, tool_on_chain, bench_of, error, logged
):
    identity = await world.new_leader(sui=20)
    broken, second = Outside(identity.key), await world.new_worker(identity)
    async with bench_of(identity, signers=[broken, second], enough_mist=MIST // 2) as bench:
        broken.error = error
        closings = await closings_of(world, bench, tool_on_chain, 3)
        assert await bench.close(*closings) == [ClosureKind.SETTLED] * 3
        assert bench.closer.trouble == ""
    failures = [line for line in logged if line["event"] == "signing_failed"]
    assert {line["worker"] for line in failures} == {str(identity.key.address)}
    assert "secret" not in str(failures)
    await assert_closed_once(world, closings)


async def test_unsigned_batch_returns_to_the_queue_at_the_limit(world, tool_on_chain, bench_of):
    identity = await world.new_leader(sui=20)
    slow = Outside(identity.key)
    async with bench_of(identity, signers=[slow], signing_timeout_s=0) as bench:
        slow.allowed.clear()
        closings = await closings_of(world, bench, tool_on_chain, 3)
        closing = asyncio.create_task(bench.close(*closings))
        async with asyncio.timeout(TIMEOUT_S):
            await bench.closer.is_blocked.wait()
        assert "did not sign within 0 s" in bench.closer.trouble
        [worker] = bench.workers.listed
        slow.allowed.set()
        assert await closing == [ClosureKind.SETTLED] * 3
        assert bench.closer.trouble == ""
        async with bench.workers.select(1):  # nothing but this budget is reserved
            assert worker.reserved_mist == 1
        await bench.workers.refresh()
        balance = (await world.client.balance_parts(worker.address)).in_address
        assert worker.balance_mist == balance
    await assert_closed_once(world, closings)


async def test_process_cannot_close_while_its_signer_fails_repeatedly(world, bench_of):
    identity = await world.new_leader(sui=20)
    broken = Outside(identity.key)
    async with bench_of(identity, signers=[broken], enough_mist=MIST // 2, run=False) as bench:
        broken.error = ValueError("no")
        [worker] = bench.workers.listed
        for _ in range(3):
            assert bench.workers.can_close
            with pytest.raises(SigningFailedError):
                await worker.signer.sign(b"")
        assert not bench.workers.can_close


@pytest.mark.parametrize("fault", ["key", "bytes"])
async def test_wrong_signature_is_never_sent(world, tool_on_chain, bench_of, fault):
    identity = await world.new_leader(sui=20)
    signer = Outside(identity.key)
    async with bench_of(identity, signers=[signer]) as bench:
        right = signer.sign
        signer.sign = _wrong(identity.key, fault)
        closings = await closings_of(world, bench, tool_on_chain, 1)
        closing = asyncio.create_task(bench.close(*closings))
        async with asyncio.timeout(TIMEOUT_S):
            await bench.closer.is_blocked.wait()
        words = {"key": "returned a signature of", "bytes": "not valid for these bytes"}
        assert words[fault] in bench.closer.trouble
        assert not bench.transactions()
        signer.sign = right
        assert await closing == [ClosureKind.SETTLED]


def _wrong(own, fault):
    async def sign(transaction):
        return KeyPair.new().sign(transaction) if fault == "key" else own.sign(transaction + b"\0")

    return sign


async def test_broken_signer_does_not_stop_the_start(world, tool_on_chain, bench_of, logged):
    """The deposit of its coins needs a signature."""
    identity = await world.new_leader(sui=20)
    broken, second = Outside(identity.key), await world.new_worker(identity)
    broken.error = NotAllowedError("signer_refused", "the policy refuses deposits")
    async with bench_of(identity, signers=[broken, second], enough_mist=MIST // 2) as bench:
        closings = await closings_of(world, bench, tool_on_chain, 2)
        assert await bench.close(*closings) == [ClosureKind.SETTLED] * 2
    [line] = [line for line in logged if line["event"] == "signing_failed"]
    assert (line["worker"], line["code"]) == (str(identity.key.address), "signer_refused")


async def test_multisig_with_an_outside_member_closes(world, tool_on_chain, bench_of):
    identity = await world.new_leader(sui=20)
    keys = KeyPair.new(), KeyPair.new()
    members = tuple(MultiSigMember(own.scheme, own.public_key, 1) for own in keys)
    committee = MultiSigPublicKey.of(members, 2)
    signer = MultiSigSigner(committee, (keys[0], Outside(keys[1])))
    world.localnet.fund(signer.address, MIST)
    async with world.client_of(identity.key) as client:
        await type(world.leaders)(client, world.deployment).add_worker(identity.id, signer.address)
    async with bench_of(identity, signers=[signer], enough_mist=MIST // 2) as bench:
        closings = await closings_of(world, bench, tool_on_chain, 2)
        assert await bench.close(*closings) == [ClosureKind.SETTLED] * 2


async def test_leader_works_with_a_signer_outside_the_process(world, serve_tools, add_tool):
    identity = await world.new_leader()
    url = await serve_tools(add_tool)
    tool = await world.register_tool(add_tool.definition(f"{url}/{add_tool.fqn}"))
    async with world.running(identity, signers=[Outside(identity.key)]):
        ids = await world.request(tool, {"a": 2, "b": 3}, {"a": 4, "b": 5})
        states = [invocation.state.ports.as_json() for invocation in await world.closed(*ids)]
    assert states == [{"result": 5}, {"result": 9}]


# --- Slots


async def test_waiting_transactions_fail_together_with_the_signer():
    own = KeyPair.new()
    stuck = Outside(own)
    stuck.allowed.clear()
    signer = WorkerSigner(stuck, TIMEOUT_S)
    tasks = [asyncio.create_task(signer.sign(b"tx")) for _ in range(6)]
    async with asyncio.timeout(TIMEOUT_S):
        await asyncio.sleep(0)
        assert not signer.is_free
        stuck.error = NotAllowedError("signer_refused", "no")
        stuck.allowed.set()
        results = await asyncio.gather(*tasks, return_exceptions=True)
    assert stuck.calls == 4
    assert {error.code for error in results} == {"signing_failed"}
    assert signer.is_paused
    assert signer.is_free
    stuck.error = None
    assert await signer.sign(b"tx") == own.sign(b"tx")
    assert not signer.is_paused


async def test_paused_signer_gets_one_transaction_at_a_time():
    stuck = Outside(KeyPair.new())
    stuck.error = ValueError("broken")
    signer = WorkerSigner(stuck, TIMEOUT_S)
    with pytest.raises(WrongStateError):
        await signer.sign(b"tx")
    stuck.allowed.clear()
    task = asyncio.create_task(signer.sign(b"tx"))
    await asyncio.sleep(0)
    assert not signer.is_free
    task.cancel()
    await asyncio.wait([task])
    assert signer.is_free


async def test_lent_slot_is_free_for_another_batch_and_taken_back_at_once():
    slots = ClosingSlots(1)
    await slots.acquire()
    second = asyncio.create_task(slots.acquire())
    await asyncio.sleep(0)
    assert not second.done()
    with slots.lent():
        async with asyncio.timeout(TIMEOUT_S):
            await second
    slots.release()
    third = asyncio.create_task(slots.acquire())
    await asyncio.sleep(0)
    assert not third.done()
    slots.release()
    async with asyncio.timeout(TIMEOUT_S):
        await third
