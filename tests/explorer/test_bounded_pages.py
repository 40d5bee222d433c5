"""Pages do the same work in small and large indices."""

import pytest

from nexus_tools.explorer import ChainReader, Explorer
from nexus_tools.index import IndexIdentity
from nexus_tools.index.api import IndexSource
from nexus_tools.sui.client import RetryPolicy, SuiClient
from nexus_tools.sui.network import Network
from tests.explorer.conftest import UNLIMITED, Pages
from tests.index.synthetic import DEPLOYMENT, object_id
from tests.index.test_bounded_queries import fill

pytestmark = pytest.mark.long

# More than the 2 000 rows that one query reads at most.
SMALL, LARGE = 3_000, 9_000
PATHS = [
    "/",
    "/tools",
    "/tools?state=suspended",
    "/tools?max_price=0&sort=volume",
    "/tools?domain=com.nothing",
    "/tools/xyz.domain1.tool1@1",
    "/leaders",
    "/leaders?state=suspended",
    f"/leaders/{object_id('leader', 1)}",
    "/invocations",
    "/invocations?outcome=failed",
    f"/invocations/{object_id('invocation', 1)}",
    "/workflows",
    f"/workflows/{object_id('workflow', 2)}",
    "/executions",
    f"/executions/{object_id('execution', 1)}",
    "/schedules",
    f"/schedules/{object_id('schedule', 2)}",
    f"/accounts/{object_id('owner', 1)}",
    f"/accounts/{object_id('requester', 1)}",
]


@pytest.fixture(scope="module")
def indices(tmp_path_factory):
    folder = tmp_path_factory.mktemp("indices")
    for rows in (SMALL, LARGE):
        fill(folder / f"{rows}.sqlite", rows)
    return folder


class Work:
    """The number of instructions of SQLite's virtual machine."""

    def __init__(self, source):
        self.instructions = 0
        for connection in (source.connection, source.index._connection):
            connection.set_progress_handler(self._count, 1)

    def _count(self):
        self.instructions += 1
        return 0


async def work_of(path, page):
    source = IndexSource(path, IndexIdentity.of(DEPLOYMENT))
    network = Network("nowhere", "http://127.0.0.1:1")
    async with SuiClient(network, retry_policy=RetryPolicy.interactive(0.1)) as client:
        explorer = Explorer("nowhere", limits=UNLIMITED)
        explorer.open(source, ChainReader(client, DEPLOYMENT))
        work, pages = Work(source), Pages(explorer)
        await pages.get(page)
        await pages.http.aclose()
    source.close()
    return work.instructions


@pytest.mark.parametrize("page", PATHS)
async def test_page_reads_a_bounded_number_of_rows(indices, page):
    small = await work_of(indices / f"{SMALL}.sqlite", page)
    large = await work_of(indices / f"{LARGE}.sqlite", page)
    assert 0 < large <= 1.2 * small
