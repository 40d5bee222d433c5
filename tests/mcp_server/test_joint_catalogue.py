"""Two catalogues, served as one."""

import pytest

from nexus_tools.errors import ValidationError, WrongStateError
from nexus_tools.mcp_server import CombinedCatalogue


@pytest.fixture
def numbers(memory):
    return memory.MemoryCatalogue([memory.DIVIDE, memory.NOTHING])


@pytest.fixture
def joint_catalogue(numbers, memory):
    return CombinedCatalogue(numbers, memory.MemoryCatalogue([memory.STEPS]))


async def ignore_progress(message):
    """Ignore progress."""


async def test_pages_of_the_catalogues_are_concatenated(joint_catalogue, memory):
    pages, cursor = [], None
    while not pages or cursor is not None:
        page = await joint_catalogue.page(cursor, 1)
        pages.append(page.definitions)
        cursor = page.next_cursor
    assert pages == [(memory.DIVIDE,), (memory.NOTHING,), (memory.STEPS,)]


async def test_tools_are_found_and_called_in_their_own_catalogue(joint_catalogue, numbers, memory):
    assert await joint_catalogue.find(memory.STEPS.fqn) == memory.STEPS
    answer = await joint_catalogue.call(memory.DIVIDE, {"a": 6, "b": 2}, ignore_progress)
    assert answer.ports == {"quotient": 3}
    numbers.definitions.remove(memory.DIVIDE)
    assert await joint_catalogue.find(memory.DIVIDE.fqn) is None
    with pytest.raises(WrongStateError) as gone:
        await joint_catalogue.call(memory.DIVIDE, {"a": 6, "b": 2}, ignore_progress)
    assert gone.value.code == "tool_not_active"


@pytest.mark.parametrize("cursor", ["", "x", "1", "2:", "-1:", "0:x"])
async def test_foreign_cursor_is_refused(joint_catalogue, cursor):
    with pytest.raises(ValidationError) as refused:
        await joint_catalogue.page(cursor, 1)
    assert refused.value.code == "cursor_invalid"
