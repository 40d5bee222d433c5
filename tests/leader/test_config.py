from ipaddress import ip_network
from pathlib import Path

import pytest

from nexus_tools.errors import UsageError
from nexus_tools.leader.config import LeaderConfig

JOURNAL = {"NEXUS_TOOLS_LEADER_JOURNAL": "/var/lib/leader/journal.sqlite"}


def test_load_reads_the_environment():
    config = LeaderConfig.load(
        {
            **JOURNAL,
            "NEXUS_TOOLS_LEADER_ALLOW_HTTP": "true",
            "NEXUS_TOOLS_LEADER_ALLOWED_NETWORKS": "127.0.0.0/8, ::1/128",
            "NEXUS_TOOLS_LEADER_ALLOWED_PORTS": "443,8443",
            "NEXUS_TOOLS_LEADER_MAX_CONCURRENT": "7",
            "OTHER_MAX_CONCURRENT": "8",
        }
    )
    assert config.journal == Path("/var/lib/leader/journal.sqlite")
    assert config.allow_http is True
    assert config.allowed_networks == (ip_network("127.0.0.0/8"), ip_network("::1/128"))
    assert config.allowed_ports == {443, 8443}
    assert config.max_concurrent == 7


def test_load_prefers_arguments_to_the_environment():
    environment = {**JOURNAL, "NEXUS_TOOLS_LEADER_MAX_BATCH_SIZE": "7"}
    assert LeaderConfig.load(environment, max_batch_size=9).max_batch_size == 9


def test_default_allows_only_https_to_public_addresses():
    config = LeaderConfig.load(JOURNAL)
    assert config.allow_http is False
    assert config.allowed_networks == ()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MAX_CONCURRENT", "0"),
        ("MAX_BATCH_SIZE", "1000"),
        ("HEALTH_PORT", "65536"),
        ("ALLOWED_NETWORKS", "10.0.0.1/8"),
        ("ALLOWED_PORTS", "https"),
        ("ERROR_RETRY_DELAY_MS", "-1"),
    ],
)
def test_load_names_an_out_of_range_variable_without_its_value(name, value):
    with pytest.raises(UsageError) as caught:
        LeaderConfig.load({**JOURNAL, f"NEXUS_TOOLS_LEADER_{name}": value})
    assert caught.value.code == "config_invalid"
    assert f"NEXUS_TOOLS_LEADER_{name}: " in caught.value.message


def test_load_names_an_out_of_range_option_as_given():
    with pytest.raises(UsageError) as caught:
        LeaderConfig.load(
            {**JOURNAL, "NEXUS_TOOLS_LEADER_MAX_BATCH_SIZE": "1"}, max_batch_size=1_000
        )
    assert " max_batch_size: " in caught.value.message


WALRUS, PLAIN = "https://a.example/v1/blobs/{key}", "http://10.0.0.7:9000/{key}?raw=1"


@pytest.mark.parametrize(
    "written",
    [
        f"walrus={WALRUS}, own={PLAIN}",
        (f"walrus={WALRUS}", f"own={PLAIN}"),
        {"walrus": WALRUS, "own": PLAIN},
    ],
)
def test_load_parses_storages(written):
    config = LeaderConfig.load(JOURNAL, storages=written)
    assert config.storages == {"walrus": WALRUS, "own": PLAIN}


@pytest.mark.parametrize(
    ("written", "word"),
    [
        ("walrus", "NAME=URL"),
        (f"={WALRUS}", "NAME=URL"),
        ("walrus=ftp://a.example/{key}", "NAME=URL"),
        ("walrus=https:///{key}", "NAME=URL"),
        ("walrus=https://a.example/", "{key} exactly once"),
        ("walrus=https://a.example/{key}/{key}", "{key} exactly once"),
        ("walrus=https://{key}.example/", "{key} exactly once"),
        ("walrus=https://a.example/#{key}", "{key} exactly once"),
        ("walrus=https://a.example:99999/{key}", "out of range"),
        (f"walrus={WALRUS},walrus={PLAIN}", "the same name twice"),
    ],
)
def test_load_rejects_an_invalid_storage(written, word):
    with pytest.raises(UsageError) as caught:
        LeaderConfig.load({**JOURNAL, "NEXUS_TOOLS_LEADER_STORAGES": written})
    assert caught.value.code == "config_invalid"
    assert word in caught.value.message
    assert "a.example" not in caught.value.message


def test_load_rejects_a_misspelled_variable():
    with pytest.raises(UsageError, match="JORNAL") as caught:
        LeaderConfig.load({"NEXUS_TOOLS_LEADER_JORNAL": "/tmp/journal.sqlite"})
    assert caught.value.code == "variable_unknown"
    assert caught.value.hint == "Did you mean NEXUS_TOOLS_LEADER_JOURNAL?"


def test_load_requires_a_journal():
    with pytest.raises(UsageError, match="journal"):
        LeaderConfig.load({})


def test_load_rejects_an_unknown_setting():
    with pytest.raises(UsageError, match="colour"):
        LeaderConfig.load(JOURNAL, colour="blue")
