"""The cache of closed invocations, whose reads from the node are counted."""

from types import SimpleNamespace

import pytest

from nexus_tools.contracts import Deployment
from nexus_tools.errors import NotFoundError
from nexus_tools.registry import RunInputResolver
from nexus_tools.registry.executions import run_inputs
from nexus_tools.sui.types.address import Address
from nexus_tools.workflow import Run

PACKAGE = Address.of(0x10)
DEPLOYMENT = Deployment(PACKAGE, PACKAGE, *map(Address.of, (0x13, 0x14, 0x15)), "chain")


class Node:
    """A node whose invocations are all closed, unless they are `open` or `deleted`."""

    def __init__(self):
        self.reads = []
        self.open = self.deleted = frozenset()

    async def find_all(self, ids, _kind):
        numbers = [next(number for number in range(20) if Address.of(number) == i) for i in ids]
        self.reads += numbers
        return [
            None
            if number in self.deleted
            else SimpleNamespace(id=Address.of(number), is_closed=number not in self.open)
            for number in numbers
        ]


@pytest.fixture
def node():
    return Node()


@pytest.fixture
def read(node, monkeypatch):
    """Return a function that reads the invocations with these numbers, and returns the numbers."""
    monkeypatch.setattr(run_inputs, "_MAX_INVOCATIONS", 2)
    resolver = RunInputResolver(None, DEPLOYMENT)
    resolver._package = node

    async def read(*numbers):
        runs = {Run(f"v{number}", ()): Address.of(number) for number in numbers}
        found = await resolver._invocations(SimpleNamespace(invocations=runs), runs)
        assert {run: invocation.id for run, invocation in found.items()} == runs
        reads = sorted(node.reads)
        node.reads.clear()
        return reads

    return read


async def test_closed_invocation_is_read_once(read):
    assert await read(1, 2) == [1, 2]
    assert await read(2, 1) == []


async def test_invocation_that_was_used_last_stays_in_the_cache(read):
    assert [await read(number) for number in (1, 2, 1, 3)] == [[1], [2], [], [3]]
    assert await read(1) == []
    assert await read(2) == [2]


async def test_more_invocations_than_the_cache_holds_are_returned(read):
    assert await read(1, 2) == [1, 2]
    assert await read(1, 2, 3, 4, 5) == [3, 4, 5]


async def test_open_invocation_is_read_again(read, node):
    node.open = {1}
    assert [await read(1), await read(1)] == [[1], [1]]


async def test_deleted_invocation_is_an_error(read, node):
    node.deleted = {1}
    with pytest.raises(NotFoundError) as caught:
        await read(1)
    assert caught.value.code == "value_unknown"
