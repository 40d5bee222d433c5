import pytest

from nexus_tools.tool import Answer
from nexus_tools.tool_server import load
from nexus_tools.tool_server.conformance import Status, check_tool
from nexus_tools.tool_server.testing import BASE_URL, client

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("imports")]


@pytest.fixture
def server(examples_path):
    return load(str(examples_path))


@pytest.mark.parametrize(
    ("fqn", "ports", "outcome"),
    [
        (
            "xyz.example.math.divide@1",
            {"dividend": -7, "divisor": 2},
            Answer("ok", {"quotient": -4, "remainder": 1}),
        ),
        (
            "xyz.example.math.divide@1",
            {"dividend": 7, "divisor": 0},
            Answer("err_division_by_zero", {"reason": "7 cannot be divided by zero"}),
        ),
        (
            "xyz.example.text.count_words@1",
            {"text": "To be or not to be", "top": 2},
            Answer(
                "ok",
                {"words": [{"word": "be", "count": 2}, {"word": "to", "count": 2}], "total": 6},
            ),
        ),
        ("xyz.example.time.nap@1", {"duration_ms": 0}, Answer("ok", {"slept_ms": 0})),
    ],
)
async def test_sample_tools_answer(server, fqn, ports, outcome):
    assert await server.tools[f"/{fqn}"].invoke(ports) == outcome


async def test_sample_nap_crashes_on_demand(server):
    with pytest.raises(RuntimeError):
        await server.tools["/xyz.example.time.nap@1"].invoke({"duration_ms": 0, "ending": "crash"})


@pytest.mark.parametrize("path", ["/divide", "/count_words", "/nap"])
async def test_sample_tools_keep_the_protocol(server, path):
    async with client(server) as http:
        rows = [row async for row in check_tool(BASE_URL + path, http)]
    # The client in process speaks plain http to a name that is not of this machine.
    assert [row.name for row in rows if row.status is not Status.PASSED] == ["tls"]
