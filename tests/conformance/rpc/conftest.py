import pytest

from nexus_tools.sui.localnet import ThreadedLocalnet


@pytest.fixture(scope="module")
def url():
    with ThreadedLocalnet() as localnet:
        yield localnet.url
