"""Two catalogues, served as one."""

import pytest

from nexus_tools.errors import NotNowError, ValidationError
from nexus_tools.mcp_server import JointCatalogue


@pytest.fixture
def numbers(memory):
    return memory.MemoryCatalogue([memory.DIVIDE, memory.NOTHING])


@pytest.fixture
def joint(numbers, memory):
    return JointCatalogue(numbers, memory.MemoryCatalogue([memory.STEPS]))


async def quiet(message):
    """Listen to nothing."""


async def test_the_pages_of_one_follow_those_of_the_other(joint, memory):
    pages, cursor = [], None
    while not pages or cursor is not None:
        page = await joint.page(cursor, 1)
        pages.append(page.definitions)
        cursor = page.next_cursor
    assert pages == [(memory.DIVIDE,), (memory.NOTHING,), (memory.STEPS,)]


async def test_each_is_found_and_called_where_it_is(joint, numbers, memory):
    assert await joint.find(memory.STEPS.fqn) == memory.STEPS
    answer = await joint.call(memory.DIVIDE, {"a": 6, "b": 2}, quiet)
    assert answer.ports == {"quotient": 3}
    numbers.definitions.remove(memory.DIVIDE)
    assert await joint.find(memory.DIVIDE.fqn) is None
    with pytest.raises(NotNowError) as gone:
        await joint.call(memory.DIVIDE, {"a": 6, "b": 2}, quiet)
    assert gone.value.code == "tool_not_active"


@pytest.mark.parametrize("cursor", ["", "x", "1", "2:", "-1:", "0:x"])
async def test_a_cursor_of_somewhere_else_is_refused(joint, cursor):
    with pytest.raises(ValidationError) as refused:
        await joint.page(cursor, 1)
    assert refused.value.code == "cursor_invalid"
