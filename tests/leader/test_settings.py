from ipaddress import ip_network
from pathlib import Path

import pytest

from nexus_tools.errors import UsageError
from nexus_tools.leader.settings import LeaderSettings

JOURNAL = {"NEXUS_TOOLS_LEADER_JOURNAL": "/var/lib/leader/journal.sqlite"}


def test_the_environment_is_read():
    settings = LeaderSettings.load(
        {
            **JOURNAL,
            "NEXUS_TOOLS_LEADER_ALLOW_HTTP": "true",
            "NEXUS_TOOLS_LEADER_ALLOWED_NETWORKS": "127.0.0.0/8, ::1/128",
            "NEXUS_TOOLS_LEADER_ALLOWED_PORTS": "443,8443",
            "NEXUS_TOOLS_LEADER_MAX_CONCURRENT": "7",
            "OTHER_MAX_CONCURRENT": "8",
        }
    )
    assert settings.journal == Path("/var/lib/leader/journal.sqlite")
    assert settings.allow_http is True
    assert settings.allowed_networks == (ip_network("127.0.0.0/8"), ip_network("::1/128"))
    assert settings.allowed_ports == {443, 8443}
    assert settings.max_concurrent == 7


def test_what_is_given_is_stronger_than_the_environment():
    environment = {**JOURNAL, "NEXUS_TOOLS_LEADER_BATCH_SIZE": "7"}
    assert LeaderSettings.load(environment, batch_size=9).batch_size == 9


def test_only_https_to_public_addresses_is_allowed_unless_it_is_said():
    settings = LeaderSettings.load(JOURNAL)
    assert settings.allow_http is False
    assert settings.allowed_networks == ()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MAX_CONCURRENT", "0"),
        ("BATCH_SIZE", "1000"),
        ("HEALTH_PORT", "65536"),
        ("ALLOWED_NETWORKS", "10.0.0.1/8"),
        ("ALLOWED_PORTS", "https"),
        ("TROUBLE_PAUSE_MS", "-1"),
    ],
)
def test_a_value_out_of_bounds_is_refused_by_name_and_not_repeated(name, value):
    with pytest.raises(UsageError) as caught:
        LeaderSettings.load({**JOURNAL, f"NEXUS_TOOLS_LEADER_{name}": value})
    assert caught.value.code == "settings_invalid"
    assert name.lower() in caught.value.message


def test_a_journal_is_needed():
    with pytest.raises(UsageError, match="journal"):
        LeaderSettings.load({})


def test_an_unknown_setting_is_refused():
    with pytest.raises(UsageError, match="colour"):
        LeaderSettings.load(JOURNAL, colour="blue")
