import subprocess
import sys

import pytest

from nexus_tools.errors import UsageError
from nexus_tools.sui.network import LOCALNET, MAINNET, NETWORKS, Endpoint, Network


def test_presets_are_the_four_networks():
    assert set(NETWORKS) == {"localnet", "devnet", "testnet", "mainnet"}
    assert NETWORKS["testnet"].url == "https://fullnode.testnet.sui.io:443"


def test_localnet_is_plaintext_and_mainnet_uses_tls():
    assert LOCALNET.endpoint() == Endpoint("127.0.0.1", 9000, tls=False)
    assert MAINNET.endpoint() == Endpoint("fullnode.mainnet.sui.io", 443, tls=True)


def test_port_follows_from_the_scheme():
    assert Endpoint.parse("http://node.example").port == 80
    assert Endpoint.parse("https://node.example/").port == 443
    assert Endpoint.parse("http://[::1]:9000").host == "::1"


@pytest.mark.parametrize(
    "url", ["127.0.0.1:9000", "ftp://x", "http://", "http://h/path", "http://h:99999", ""]
)
def test_endpoint_refuses_invalid_node_urls(url):
    with pytest.raises(UsageError) as caught:
        Endpoint.parse(url)
    assert caught.value.code == "network_url_invalid"


def test_importing_the_client_loads_neither_pysui_nor_grpc():
    code = "import sys, nexus_tools.sui.client, nexus_tools.registry\nprint(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"pysui", "grpc", "google.protobuf", "httpx", "pysui_fastcrypto"} & set(loaded)


def test_quoted_name_is_one_word_of_a_shell_command():
    assert Network("testnet", "https://node.example").quoted_name == "testnet"
    assert Network("my net; rm -r ~", "https://node.example").quoted_name == "'my net; rm -r ~'"
