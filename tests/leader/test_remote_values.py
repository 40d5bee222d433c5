"""Values that are not on chain, fetched by functions that are good, slow, broken or hostile."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from nexus_tools.contracts import PackageClient
from nexus_tools.contracts.move_bindings.value import Ports, Value
from nexus_tools.errors import NotFoundError, UnreachableError, ValidationError
from nexus_tools.leader.config import LeaderConfig
from nexus_tools.leader.dispatch.remote_values import MAX_VALUES, RemoteValues, parsed
from nexus_tools.leader.metrics import LeaderMetrics
from nexus_tools.registry import read_records
from nexus_tools.sui.types.address import Address

pytestmark = pytest.mark.anyio

TOOL = Address.of(0x7001)
WINDOW_S = 30.0
LARGE = b'"' + b"x" * 70_000 + b'"'


class Storage:
    """Values by key; notes which were asked for, and how many at the same time."""

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
    """What fetches from these storages, quickly tired."""

    def make(*, timeout_ms=10_000, max_bytes=1_024, **storages):
        config = LeaderConfig(
            journal=tmp_path / "journal.sqlite",
            max_fetched_bytes=max_bytes,
            fetch_timeout_ms=timeout_ms,
            first_pause_ms=1,
            longest_pause_ms=2,
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
    assert caught.value.code == "value_remote"
    return caught.value.message


async def test_values_and_lists_of_them_are_put_together_in_order(values_of):
    walrus, other = Storage(a=b"1", b=b'"two"', c=b"[3]"), Storage(a=b"null")
    inputs = ports(
        list=remotes("c", "a", "c"),
        one=remote("b"),
        other=remote("a", "other"),
        here=Value.Inline(b"4"),
    )
    found = await fetched(values_of(walrus=walrus, other=other), inputs)
    assert found == {"list": [[3], 1, [3]], "one": "two", "other": None, "here": 4}
    assert sorted(key for key, _ in walrus.asked) == [b"a", b"b", b"c"]


async def test_an_empty_list_of_a_storage_is_an_empty_list(values_of):
    inputs = ports(list=remotes())
    assert await fetched(values_of(), inputs) == {"list": []}


async def test_what_is_on_chain_is_not_fetched(values_of):
    async with values_of().texts(TOOL, ports(a=Value.Inline(b"1")), 0.0) as texts:
        assert texts == {}


async def test_a_storage_that_nobody_plugged_in_is_named(values_of):
    walrus = Storage(a=b"1")
    inputs = ports(a=remote("a"), b=remote("x", "s" * 1_000))
    message = await failure_of(values_of(walrus=walrus), inputs)
    names = f"the port b is kept in {'s' * 48}, under 'x', and"
    assert message == f"{names} this leader fetches nothing from there"
    assert walrus.asked == []


async def test_a_key_without_a_value_is_told_and_not_asked_for_again(values_of, metrics):
    walrus = Storage(a=b"1")
    message = await failure_of(values_of(walrus=walrus), ports(a=remote("a"), b=remote("x")))
    assert message == "the port b is kept in walrus, under 'x', and there is nothing"
    assert [key for key, _ in walrus.asked].count(b"x") == 1
    named = {"storage": "walrus", "how": "absent"}
    assert metrics.registry.get_sample_value("nexus_leader_values_fetched_total", named) == 1


async def test_a_value_that_its_storage_finds_unfit_is_told_in_its_words(values_of):
    async def forged(key, max_bytes):
        raise ValidationError("digest_wrong", "it is not what its key says")

    message = await failure_of(values_of(walrus=forged), ports(a=remote("a")))
    assert message == "the port a is kept in walrus, under 'a', and it is not what its key says"


async def test_a_storage_that_breaks_off_is_asked_again_and_told_of_once(values_of, logged):
    down = UnreachableError("storage_down", "the storage responds with 503")
    broken = iter([down, down, RuntimeError("a bug"), None, None])

    async def flaky(key, max_bytes):
        if error := next(broken):
            raise error
        return b"5"

    values = values_of(walrus=flaky)
    assert await fetched(values, ports(a=remote("a"))) == {"a": 5}
    assert await fetched(values, ports(a=remote("a"))) == {"a": 5}
    assert {line["storage"] for line in logged} == {"walrus"}
    assert [line["event"] for line in logged] == ["storage_down", "storage_down", "storage_up"]
    assert logged[0]["error"] == "the storage responds with 503"
    assert "RuntimeError" in logged[1]["error"]  # its message may hold a secret


async def test_what_kept_a_value_away_to_the_end_is_told(values_of):
    async def down(key, max_bytes):
        raise UnreachableError("storage_down", "the storage responds with 403")

    async def broken(key, max_bytes):
        raise RuntimeError("a secret")

    message = await failure_of(values_of(walrus=down, timeout_ms=20), ports(a=remote("a")))
    assert message.endswith("it was not there in time: the storage responds with 403")
    message = await failure_of(values_of(walrus=broken, timeout_ms=20), ports(a=remote("a")))
    assert message.endswith("it was not there in time")


async def test_a_function_that_gives_no_bytes_is_trouble_of_the_storage(values_of, logged):
    async def text(key, max_bytes):
        return "1"

    await failure_of(values_of(walrus=text, timeout_ms=20), ports(a=remote("a")))
    assert [line["event"] for line in logged] == ["storage_down"]


async def test_what_is_no_json_is_told_with_its_place(values_of):
    values, inputs = values_of(walrus=Storage(a=b"no")), ports(a=remote("a"))
    message = await failure_of(values, inputs)
    assert message.startswith("the port a is kept in walrus, under 'a', and this is no acceptable")


@pytest.mark.parametrize(("timeout_ms", "window_s"), [(20, WINDOW_S), (10_000, 0.3)])
async def test_a_storage_that_hangs_is_not_waited_for_without_end(values_of, timeout_ms, window_s):
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
    assert message == "the port b is kept in walrus, under 'bad', and it was not there in time"
    assert ended.is_set()


# --- Who could gain: a requester writes a few bytes on chain, and has a leader fetch many


@pytest.mark.parametrize(
    "key",
    [
        *(b"", b".", b"..", b"a/b", b"../../admin", b"a?b", b"a#b", b"%2e", b"a b", b"a\\b"),
        *(b"a\r\nX: 1", b"a@evil.example", "\u00e4".encode(), bytes(32), b"\xff", b"a" * 513),
        *(b"..\n", b"a\n"),
    ],
)
async def test_a_key_leads_nowhere_else(values_of, key):
    """A function may make a path of it, as a URL does: it is one step, and no way out."""
    walrus = Storage()
    inputs = ports(a=Value.RemoteList("walrus", (b"good", key)))
    message = await failure_of(values_of(walrus=walrus), inputs)
    assert message.endswith("and that is no key: letters, digits and -._~ make one")
    assert walrus.asked == []


@pytest.mark.parametrize("key", ["6d3f-_~.Q", "...", "a" * 512])
async def test_a_key_has_letters_digits_and_what_urls_leave_alone(values_of, key):
    walrus = Storage(**{key: b"1"})
    assert await fetched(values_of(walrus=walrus), ports(a=remote(key))) == {"a": 1}


async def test_a_value_counts_as_often_as_the_tool_is_given_it(values_of):
    """A list of one key, a thousand times, would be a gigabyte for the tool."""
    walrus = Storage(big=b'"' + b"x" * 98 + b'"')
    values = values_of(walrus=walrus)
    found = await fetched(values, ports(a=remotes(*["big"] * 10)))
    assert found == {"a": ["x" * 98] * 10}
    assert walrus.asked == [(b"big", 102)]  # 1 024 bytes, ten times
    message = await failure_of(values, ports(a=remotes(*["big"] * 11)))
    assert message.endswith("this leader fetches no more than 1024 bytes in all")


async def test_values_that_are_small_enough_alone_are_too_large_together(values_of):
    walrus = Storage(a=b"1" * 600, b=b"2" * 600)
    message = await failure_of(values_of(walrus=walrus), ports(a=remote("a"), b=remote("b")))
    assert message.endswith("this leader fetches no more than 1024 bytes in all")


async def test_a_list_has_no_more_values_than_a_leader_fetches(values_of):
    walrus = Storage(**{f"k{number}": b"0" for number in range(MAX_VALUES + 1)})
    keys = [f"k{number}" for number in range(MAX_VALUES)]
    found = await fetched(values_of(walrus=walrus), ports(a=remotes(*keys, *keys)))
    assert found == {"a": [0] * 2 * MAX_VALUES}
    assert walrus.most == 8
    walrus.asked.clear()
    inputs = ports(a=remotes(*keys), b=remote(f"k{MAX_VALUES}"))
    assert "fetches 256 values at most" in await failure_of(values_of(walrus=walrus), inputs)
    assert walrus.asked == []


async def test_tools_that_hang_leave_others_room_for_what_is_fetched(values_of):
    """What was fetched stays in memory until the tool has responded; one tool has not all of it."""
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


async def test_what_is_as_small_as_what_is_on_chain_takes_no_room(values_of):
    """Tools that hang would otherwise keep it from all others, for a byte each."""
    values, inputs = values_of(walrus=Storage(a=b"1")), ports(a=remote("a"))
    deadline = asyncio.get_running_loop().time() + WINDOW_S
    async with AsyncExitStack() as stack:
        for _ in range(100):
            await stack.enter_async_context(values.texts(TOOL, inputs, deadline))


async def test_who_has_room_too_late_to_fetch_is_not_at_fault(values_of):
    async def slow(key, max_bytes):
        await asyncio.sleep(0 if key == b"large" else WINDOW_S)
        return LARGE

    values = values_of(walrus=slow, max_bytes=100_000)
    held, over = asyncio.Semaphore(0), asyncio.Event()
    loop = asyncio.get_running_loop()

    async def hold():
        async with values.texts(TOOL, ports(a=remote("large")), loop.time() + WINDOW_S):
            held.release()
            await over.wait()

    async with asyncio.TaskGroup() as group:
        for _ in range(13):  # a fifth of 64
            group.create_task(hold())
            await held.acquire()
        loop.call_later(0.4, over.set)
        with pytest.raises(TimeoutError):
            async with values.texts(TOOL, ports(a=remote("small")), loop.time() + 0.5):
                raise AssertionError("there is no time to fetch it")


async def test_a_value_that_comes_as_the_time_is_up_is_taken(values_of):
    loop = asyncio.get_running_loop()
    deadline = loop.time() + 0.05

    async def just_in_time(key, max_bytes):
        while loop.time() < deadline:  # the loop looks at its clock again only afterwards
            pass
        return b"1"

    values, inputs = values_of(walrus=just_in_time), ports(a=remote("a"))
    async with values.texts(TOOL, inputs, deadline) as texts:
        assert [*texts.values()] == [b"1"]


# --- On a chain


async def test_an_input_that_is_kept_elsewhere_is_fetched_and_stains_nobody_if_it_cannot_be(
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
    record = (await read_records(PackageClient(world.client, world.deployment)))[leader.id]
    assert (record.settled, record.failed, record.missed) == (1, 0, 0)
