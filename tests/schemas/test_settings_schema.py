"""The schema of the configuration file, compared with the readers of all settings."""

import re
from pathlib import Path

import pytest
import tomli_w

from nexus_tools.contracts import Deployment, LockDeployment
from nexus_tools.errors import UsageError
from nexus_tools.settings.settings import Settings
from nexus_tools.settings.settings_schema import UNSTATED_RULES
from tests.schemas.judges import VALUES, Judge, compare, with_change

ADDRESS = "0x" + "ab" * 32
DEPLOYMENT = {
    **dict.fromkeys(("package_id", "original_id", "tool_registry", "leader_registry"), ADDRESS),
    "admin": "0x5",
    "chain_id": "4btiuiMPvEENsttpZC7CZ53DruC3MAgfznDbASZ7DR6S",
}
BASE = {
    "$schema": "./settings.schema.json",
    "network": "mine",
    "wallet": "author",
    "timeout": "1m 30s",
    "max_gas_price": "1000",
    "leaders": f"{ADDRESS}, {ADDRESS}",
    "trusted_requesters": ADDRESS,
    "index_url": "https://index.example.com/a,http://127.0.0.1:8000",
    "intent_model": "wordllama",
    "networks": {"mine": {"url": "http://127.0.0.1:9000", "faucet_url": "http://127.0.0.1:9000"}},
    "deployments": {"mine": DEPLOYMENT},
    "upgrade_locks": {"mine": {"package_id": "0x6", "locks": "0x7", "chain_id": "x"}},
}
REASONS = {
    "names": "network_unknown",
    "keystore": "keystore_name_invalid",
    "amounts": "timeout_invalid|duration_invalid.*too long|gas_price_invalid",
    "url": "index_url_invalid",
}
TOML_VALUES = tuple(value for value in VALUES if value is not None)


@pytest.fixture(scope="module")
def judge(tmp_path_factory):
    """Return the judge of settings; the reader uses each setting once."""
    folder = tmp_path_factory.mktemp("settings")
    file = folder / "config.toml"

    def read(document):
        if not isinstance(document, dict):
            raise UsageError("config_invalid", "TOML describes a table")
        file.write_text(tomli_w.dumps(document))
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("NEXUS_TOOLS_CONFIG", str(file))
            patch.setenv("XDG_DATA_HOME", str(folder))
            settings = Settings.load()
        use(settings)

    return Judge("settings", read)


def use(settings):
    for name in ("timeout_s", "max_gas_price_mist", "leaders", "trusted_requesters", "index_urls"):
        getattr(settings, name)
    if settings.network in settings.networks:
        settings.find_network()
    settings.open_wallet()
    list(map(Deployment.parse, settings.deployments.values()))
    list(map(LockDeployment.parse, settings.upgrade_locks.values()))


def is_unstated(reason):
    return any(re.match(words, reason) for words in REASONS.values())


def test_verdicts_on_mutations_agree(judge):
    accepted, rejected = compare(judge, BASE, is_unstated, values=TOML_VALUES)
    assert (accepted > 50, rejected > 150) == (True, True)


VALID = (
    {"timeout": ""},
    {"timeout": "500ms"},
    {"timeout": "6 d 23 h"},
    {"max_gas_price": "0010000"},
    {"leaders": ""},
    {"leaders": f" {ADDRESS} ,, "},
    {"index_url": ""},
    {"index_url": "HTTP://[::1]:1/"},
    {"deployments": {"mine": {"workflows_id": "0xA", "more": 5}}},
    {"networks": {"b c": {"url": "https://a", "chain_id": "x", "max_gas_price_mist": 5}}},
)
INVALID = (
    {"colour": "red"},
    {"timeout": 10},
    {"timeout": "10"},
    {"timeout": "10 seconds"},
    {"max_gas_price": "0"},
    {"max_gas_price": "1e3"},
    {"leaders": "0x5"},
    {"leaders": ["0x5"]},
    {"trusted_requesters": f"{ADDRESS} {ADDRESS}"},
    {"index_url": "index.example.com"},
    {"index_url": "https://a/?q=1"},
    {"networks": {"mine": "http://127.0.0.1:9000"}},
    {"networks": {"mine": {"uri": "http://127.0.0.1:9000"}}},
    {"networks": {"b": {"faucet_url": "http://127.0.0.1:9000"}}},
    {"networks": {"b": {"url": 5}}},
    {"networks": {"b": {"url": "https://a", "max_gas_price_mist": True}}},
    {"networks": "mine"},
    {"deployments": {"mine": {"package_id": "5"}}},
    {"deployments": {"mine": {"admin": 5}}},
    {"deployments": {"b": {"package_id": ADDRESS}}},
    {"upgrade_locks": {"mine": {"locks": "0x"}}},
    {"$schema": 1},
)
UNSTATED = {
    "keystore": {"keystore": "keys.json"},
    "amounts": {"timeout": "0s"},
    "url": {"index_url": "https://:1"},
}


@pytest.mark.parametrize("change", VALID, ids=str)
def test_valid_settings_are_accepted(judge, change):
    verdict = judge.judge(with_change(BASE, change))
    assert (verdict.by_schema, verdict.reason) == (True, None)


@pytest.mark.parametrize("change", INVALID, ids=str)
def test_invalid_settings_are_rejected(judge, change):
    verdict = judge.judge(with_change(BASE, change))
    assert (verdict.by_schema, verdict.by_reader) == (False, False)


@pytest.mark.parametrize("rule", UNSTATED)
def test_reader_rejects_what_the_schema_does_not_state(judge, rule):
    verdict = judge.judge(with_change(BASE, UNSTATED[rule]))
    assert verdict.by_schema
    assert re.match(REASONS[rule], verdict.reason)


def test_unknown_network_is_accepted_by_the_schema_only(judge, monkeypatch, tmp_path):
    assert judge.validate({"network": "elsewhere"})
    file = Path(tmp_path / "config.toml")
    file.write_text('network = "elsewhere"\n')
    monkeypatch.setenv("NEXUS_TOOLS_CONFIG", str(file))
    with pytest.raises(Exception, match="unknown network") as raised:
        Settings.load().find_network()
    assert raised.value.code == REASONS["names"]


def test_every_unstated_rule_has_a_test():
    assert {"names", *UNSTATED} == set(UNSTATED_RULES)


@pytest.mark.parametrize("line", ["#:schema ./settings.schema.json\n", ""])
def test_saving_keeps_the_name_of_the_schema(monkeypatch, tmp_path, line):
    file = tmp_path / "config.toml"
    file.write_text(f'{line}"$schema" = "./settings.schema.json"\ntimeout = "5s"\n')
    monkeypatch.setenv("NEXUS_TOOLS_CONFIG", str(file))
    settings = Settings.load()
    settings.values["timeout"] = "9s"
    settings.save()
    assert file.read_text().startswith(f'{line}"$schema" = "./settings.schema.json"\n')
    assert Settings.load().values == {"timeout": "9s"}
