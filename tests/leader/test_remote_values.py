"""Remote values, fetched by functions that are correct, slow, broken or hostile."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from nexus_tools.contracts import PackageClient
from nexus_tools.contracts.move_bindings.value import Ports, Value
from nexus_tools.errors import NotFoundError, UnreachableError, ValidationError
from nexus_tools.leader.config import LeaderConfig
from nexus_tools.leader.dispatch.remote_values import MAX_VALUES, RemoteValues, parsed
from nexus_tools.leader.metrics import LeaderMetrics
from nexus_tools.registry import LeaderRegistry, read_histories
from nexus_tools.sui.types.address import Address

pytestmark = pytest.mark.anyio

TOOL = Address.of(0x7001)
WINDOW_S = 30.0
LARGE = b'"' + b"x" * 70_000 + b'"'


class Storage:
    """A storage that records the requested keys and the number of concurrent requests."""

    def __init__(self, **values):
        self.values = {name.encode(): text for name, text in values.items()}
        self.asked = []
        self.now = self.most = 0

    async def __call__(self, key, max_bytes):
        self.asked.append((key, max_bytes))
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0)
        self.now -= 1
        if key not in self.values:
            raise NotFoundError("value_unknown", "no such value")
        return self.values[key]


@pytest.fixture
def metrics():
    return LeaderMetrics()


@pytest.fixture
def values_of(tmp_path, metrics):
    """Return a factory of `RemoteValues` for storages, with short timeouts."""

    def make(*, timeout_ms=10_000, max_bytes=1_024, **storages):
        config = LeaderConfig(
            journal=tmp_path / "journal.sqlite",
            max_fetched_bytes=max_bytes,
            fetch_timeout_ms=timeout_ms,
            retry_delay_ms=1,
            max_retry_delay_ms=2,
        )
        return RemoteValues(storages, config, metrics)

    return make


def ports(**values):
    return Ports(tuple(sorted(values.items())))


def remote(key, storage="walrus"):
    return Value.Remote(storage, key.encode())


def remotes(*keys, storage="walrus"):
    return Value.RemoteList(storage, tuple(key.encode() for key in keys))


async def fetched(values, inputs, *, window_s=WINDOW_S):
    deadline = asyncio.get_running_loop().time() + window_s
    async with values.texts(TOOL, inputs, deadline) as texts:
        return inputs.as_json(parsed(inputs, texts))


async def failure_of(values, inputs, **options):
    with pytest.raises(ValidationError) as caught:
        await fetched(values, inputs, **options)
    assert caught.value.code == "remote_value_unavailable"
    return caught.value.message


async def test_values_and_lists_are_assembled_in_order(values_of):
    walrus, other = Storage(a=b"1", b=b'"two"', c=b"[3]"), Storage(a=b"null")
    inputs = ports(
        list=remotes("c", "a", "c"),
        one=remote("b"),
        other=remote("a", "other"),
        here=Value.Inline(b"4"),
    )
    result = await fetched(values_of(walrus=walrus, other=other), inputs)
    assert result == {"list": [[3], 1, [3]], "one": "two", "other": None, "here": 4}
    assert sorted(key for key, _ in walrus.asked) == [b"a", b"b", b"c"]


async def test_empty_remote_list_is_an_empty_list(values_of):
    inputs = ports(list=remotes())
    assert await fetched(values_of(), inputs) == {"list": []}


async def test_on_chain_values_are_not_fetched(values_of):
    async with values_of().texts(TOOL, ports(a=Value.Inline(b"1")), 0.0) as texts:
        assert texts == {}


async def test_unknown_storage_is_named(values_of):
    walrus = Storage(a=b"1")
    inputs = ports(a=remote("a"), b=remote("x", "s" * 1_000))
    message = await failure_of(values_of(walrus=walrus), inputs)
    names = f"cannot fetch port b from {'s' * 48}, under 'x':"
    assert message == f"{names} this leader has no storage with this name"
    assert walrus.asked == []


async def test_missing_value_is_reported_without_retry(values_of, metrics):
    walrus = Storage(a=b"1")
    message = await failure_of(values_of(walrus=walrus), ports(a=remote("a"), b=remote("x")))
    assert message == "cannot fetch port b from walrus, under 'x': the storage has no such value"
    assert [key for key, _ in walrus.asked].count(b"x") == 1
    named = {"storage": "walrus", "how": "absent"}
    assert metrics.registry.get_sample_value("nexus_leader_values_fetched_total", named) == 1


async def test_value_rejected_by_its_storage_is_reported_with_its_message(values_of):
    async def forged(key, max_bytes):
        raise ValidationError("digest_mismatch", "it is not what its key says")

    message = await failure_of(values_of(walrus=forged), ports(a=remote("a")))
    assert message == "cannot fetch port a from walrus, under 'a': it is not what its key says"


async def test_failing_storage_is_retried_and_logged_once(values_of, logged):
    down = UnreachableError("storage_unavailable", "the storage responds with 503")
    broken = iter([down, down, RuntimeError("a bug"), None, None])

    async def flaky(key, max_bytes):
        if error := next(broken):
            raise error
        return b"5"

    values = values_of(walrus=flaky)
    assert await fetched(values, ports(a=remote("a"))) == {"a": 5}
    assert await fetched(values, ports(a=remote("a"))) == {"a": 5}
    assert {line["storage"] for line in logged} == {"walrus"}
    assert [line["event"] for line in logged] == [
        "storage_unavailable",
        "storage_unavailable",
        "storage_up",
    ]
    assert logged[0]["error"] == "the storage responds with 503"
    assert "RuntimeError" in logged[1]["error"]  # its message may contain a secret


async def test_last_storage_error_is_reported_at_the_deadline(values_of):
    async def down(key, max_bytes):
        raise UnreachableError("storage_unavailable", "the storage responds with 403")

    async def broken(key, max_bytes):
        raise RuntimeError("a secret")

    message = await failure_of(values_of(walrus=down, timeout_ms=20), ports(a=remote("a")))
    assert message.endswith("the value did not arrive in time: the storage responds with 403")
    message = await failure_of(values_of(walrus=broken, timeout_ms=20), ports(a=remote("a")))
    assert message.endswith("the value did not arrive in time")


async def test_function_that_does_not_return_bytes_is_a_storage_error(values_of, logged):
    async def text(key, max_bytes):
        return "1"

    await failure_of(values_of(walrus=text, timeout_ms=20), ports(a=remote("a")))
    assert [line["event"] for line in logged] == ["storage_unavailable"]


async def test_invalid_json_is_reported_with_its_location(values_of):
    values, inputs = values_of(walrus=Storage(a=b"no")), ports(a=remote("a"))
    message = await failure_of(values, inputs)
    assert message.startswith("cannot fetch port a from walrus, under 'a': invalid JSON")


@pytest.mark.parametrize(("timeout_ms", "window_s"), [(20, WINDOW_S), (10_000, 0.3)])
async def test_hanging_storage_is_abandoned_at_the_deadline(values_of, timeout_ms, window_s):
    ended = asyncio.Event()

    async def hangs(key, max_bytes):
        if key == b"good":
            return b"1"
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    values = values_of(walrus=hangs, timeout_ms=timeout_ms)
    inputs = ports(a=remote("good"), b=remote("bad"))
    message = await failure_of(values, inputs, window_s=window_s)
    assert (
        message == "cannot fetch port b from walrus, under 'bad': the value did not arrive in time"
    )
    assert ended.is_set()


# --- Attacks: a few bytes on chain that make a leader fetch many


@pytest.mark.parametrize(
    "key",
    [
        *(b"", b".", b"..", b"a/b", b"../../admin", b"a?b", b"a#b", b"%2e", b"a b", b"a\\b"),
        *(b"a\r\nX: 1", b"a@evil.example", "\u00e4".encode(), bytes(32), b"\xff", b"a" * 513),
        *(b"..\n", b"a\n"),
    ],
)
async def test_key_cannot_lead_to_another_location(values_of, key):
    """A function may build a path or URL from a key, so a key is one segment without traversal."""
    walrus = Storage()
    inputs = ports(a=Value.RemoteList("walrus", (b"good", key)))
    message = await failure_of(values_of(walrus=walrus), inputs)
    assert message.endswith("the key is invalid: expected letters, digits and -._~")
    assert walrus.asked == []


@pytest.mark.parametrize("key", ["6d3f-_~.Q", "...", "a" * 512])
async def test_key_contains_only_unreserved_url_characters(values_of, key):
    walrus = Storage(**{key: b"1"})
    assert await fetched(values_of(walrus=walrus), ports(a=remote(key))) == {"a": 1}


async def test_value_counts_once_for_each_use(values_of):
    """A list that repeats one key a thousand times would be a gigabyte for the tool."""
    walrus = Storage(big=b'"' + b"x" * 98 + b'"')
    values = values_of(walrus=walrus)
    result = await fetched(values, ports(a=remotes(*["big"] * 10)))
    assert result == {"a": ["x" * 98] * 10}
    assert walrus.asked == [(b"big", 102)]  # 1 024 bytes, ten times
    message = await failure_of(values, ports(a=remotes(*["big"] * 11)))
    assert message.endswith("this leader fetches at most 1024 bytes in total")


async def test_small_values_are_too_large_in_total(values_of):
    walrus = Storage(a=b"1" * 600, b=b"2" * 600)
    message = await failure_of(values_of(walrus=walrus), ports(a=remote("a"), b=remote("b")))
    assert message.endswith("this leader fetches at most 1024 bytes in total")


async def test_list_has_at_most_the_maximum_number_of_values(values_of):
    walrus = Storage(**{f"k{number}": b"0" for number in range(MAX_VALUES + 1)})
    keys = [f"k{number}" for number in range(MAX_VALUES)]
    result = await fetched(values_of(walrus=walrus), ports(a=remotes(*keys, *keys)))
    assert result == {"a": [0] * 2 * MAX_VALUES}
    assert walrus.most == 8
    walrus.asked.clear()
    inputs = ports(a=remotes(*keys), b=remote(f"k{MAX_VALUES}"))
    assert "fetches at most 256 values" in await failure_of(values_of(walrus=walrus), inputs)
    assert walrus.asked == []


async def test_hanging_tools_leave_capacity_for_others(values_of):
    """Fetched values stay in memory until the tool responds; one tool cannot use all of it."""
    values, inputs = values_of(walrus=Storage(a=LARGE), max_bytes=100_000), ports(a=remote("a"))
    now = asyncio.get_running_loop().time
    full, over = asyncio.Event(), asyncio.Event()
    inside = 0

    async def hang():
        nonlocal inside
        async with values.texts(TOOL, inputs, now() + WINDOW_S):
            inside += 1
            if inside == 13:  # a fifth of 64
                full.set()
            await over.wait()

    async with asyncio.TaskGroup() as group:
        for _ in range(100):
            group.create_task(hang())
        await full.wait()
        with pytest.raises(TimeoutError):
            async with values.texts(TOOL, inputs, now() + 0.05):
                raise AssertionError("there is no room")
        assert inside == 13
        async with values.texts(Address.of(0x7002), inputs, now() + WINDOW_S):
            over.set()
    assert inside == 100


async def test_values_as_small_as_on_chain_inputs_need_no_slot(values_of):
    """Otherwise hanging tools would block all others with values of one byte each."""
    values, inputs = values_of(walrus=Storage(a=b"1")), ports(a=remote("a"))
    deadline = asyncio.get_running_loop().time() + WINDOW_S
    async with AsyncExitStack() as stack:
        for _ in range(100):
            await stack.enter_async_context(values.texts(TOOL, inputs, deadline))


async def test_slot_too_late_to_fetch_is_not_an_input_failure(values_of):
    async def slow(key, max_bytes):
        await asyncio.sleep(0 if key == b"large" else WINDOW_S)
        return LARGE

    values = values_of(walrus=slow, max_bytes=100_000)
    waiting_calls, over = asyncio.Semaphore(0), asyncio.Event()
    loop = asyncio.get_running_loop()

    async def hold():
        async with values.texts(TOOL, ports(a=remote("large")), loop.time() + WINDOW_S):
            waiting_calls.release()
            await over.wait()

    async with asyncio.TaskGroup() as group:
        for _ in range(13):  # a fifth of 64
            group.create_task(hold())
            await waiting_calls.acquire()
        loop.call_later(0.4, over.set)
        with pytest.raises(TimeoutError):
            async with values.texts(TOOL, ports(a=remote("small")), loop.time() + 0.5):
                raise AssertionError("there is no time to fetch it")


async def test_value_that_arrives_at_the_deadline_is_used(values_of):
    loop = asyncio.get_running_loop()
    deadline = loop.time() + 0.05

    async def just_in_time(key, max_bytes):
        while loop.time() < deadline:  # the event loop reads its clock only afterwards
            pass
        return b"1"

    values, inputs = values_of(walrus=just_in_time), ports(a=remote("a"))
    async with values.texts(TOOL, inputs, deadline) as texts:
        assert [*texts.values()] == [b"1"]


# --- On a chain


async def test_remote_input_is_fetched_and_its_absence_harms_no_track_record(
    world, blobs, serve_tools, add_tool, add_definition
):
    blobs.values["7f-Zq_"] = b"40"
    leader = await world.new_leader()
    tool = await world.register_tool(add_definition(await serve_tools(add_tool)))
    inputs = [ports(a=Value.Inline(b"2"), b=remote(key)) for key in ("7f-Zq_", "none", "../7f-Zq_")]
    async with world.running(leader, storages={"walrus": blobs.url}):
        good, absent, hostile = await world.closed(*await world.request(tool, *inputs))
    assert good.state.ports.as_json() == {"result": 42}
    assert {absent.state.reason, hostile.state.reason} == {"input_invalid"}
    found = await LeaderRegistry(world.client, world.deployment).get(leader.id)
    histories = await read_histories(PackageClient(world.client, world.deployment), [found])
    record = histories.records[leader.id]
    assert (record.settled, record.failed, record.missed) == (1, 0, 0)
