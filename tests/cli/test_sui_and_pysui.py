"""Use of the settings and keys of the Sui CLI and pysui."""

import json
import shutil

import pytest

from nexus_tools.sui.network import DEVNET
from nexus_tools.sui.types.address import Address

RUBY = "0xa2d14fad60c56049ecf75246a481934691214ce413e6a8ae2fe6834c173a6133"


@pytest.fixture
def at_home(home, sui_files, chain):
    """A user of the Sui CLI, whose environment `private` is the test's network."""
    sui_files(home.folder, private=chain.url)
    return home


def test_list_shows_keys_and_networks_of_the_sui_cli(at_home):
    (key,) = at_home.json("wallet", "list")
    assert (key["alias"], key["address"], key["active"]) == ("ruby", RUBY, False)
    assert key["source"] == "sui"
    sources = {row["name"]: row["source"] for row in at_home.json("network", "list")}
    assert sources == {
        "localnet": "well-known",
        "devnet": "well-known",
        "testnet": "well-known",
        "mainnet": "well-known",
        "local": "sui",
        "private": "sui",
    }


def test_network_hidden_by_a_well_known_name_is_reported(home, sui_files, chain):
    file = sui_files(home.folder, private=chain.url) / "client.yaml"
    file.write_text(file.read_text().replace("alias: private", "alias: devnet"))
    listed = home.run("network", "list")
    assert f"{file} defines devnet as {chain.url}, which is ignored" in listed.stderr
    (devnet,) = (row for row in home.json("network", "list") if row["name"] == "devnet")
    assert (devnet["source"], devnet["url"]) == ("well-known", DEVNET.url)


def test_networks_with_unique_names_are_not_reported_as_hidden(at_home):
    assert "is not" not in at_home.run("network", "list").stderr


def test_commands_accept_external_keys_and_networks_by_name(at_home, chain):
    shown = at_home.json("wallet", "show", "ruby", "--network", "private")
    assert (shown["address"], shown["source"]) == (RUBY, "sui")
    assert at_home.json("network", "show", "-n", "private")["source"] == "sui"


def test_external_key_signs_when_used(at_home, chain, publisher):
    at_home.json("wallet", "use", "ruby")
    assert [row["active"] for row in at_home.json("wallet", "list")] == [True]
    package = publisher.settings["deployments"]["test"]["package_id"]
    at_home.json("package", "use", package, "--network", "private")
    at_home.json("network", "use", "private")
    chain.fund(Address.parse(RUBY), 20 * 10**9)
    leader = at_home.json("leader", "register", "--yes")
    assert leader["name"] == "ruby"


def test_files_of_the_sui_cli_are_unchanged(at_home):
    folder = at_home.folder / ".sui"
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    at_home.json("wallet", "use", "ruby")
    at_home.json("wallet", "new", "mine")
    at_home.json("wallet", "use", "mine")
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_broken_file_of_the_sui_cli_hides_no_own_key(at_home):
    (at_home.folder / ".sui/sui_config/client.yaml").write_text("envs: 1")
    at_home.json("wallet", "new", "mine")
    listed = at_home.run("wallet", "list")
    assert listed.code == 0
    assert "mine" in listed.stdout
    assert "client.yaml" in listed.stderr


def test_export_rejects_external_key(at_home):
    assert at_home.fails("wallet", "export", "ruby", "--yes") == (2, "account_external")


def test_import_copies_keys_and_networks_and_prints_no_secret(at_home, chain):
    folder = at_home.folder / ".sui" / "sui_config"
    (secret,) = json.loads((folder / "sui.keystore").read_text())
    result = at_home.run("wallet", "import", "--from-sui", "--json")
    (key,) = result.document["keys"]
    assert (key["alias"], key["address"], key["new"], key["source"]) == (
        "ruby",
        RUBY,
        True,
        "nexus-tools",
    )
    assert {row["name"]: row["new"] for row in result.document["networks"]} == {
        "testnet": False,
        "local": True,
        "private": True,
    }
    printed = result.stdout + result.stderr + at_home.run("wallet", "import", "--from-sui").stdout
    assert secret not in printed
    assert "suiprivkey" not in printed
    shutil.rmtree(folder)
    shown = at_home.json("wallet", "show", "ruby", "--network", "private")
    assert (shown["address"], shown["source"]) == (RUBY, "nexus-tools")
    assert at_home.settings["networks"]["private"] == {"url": chain.url}


def test_second_import_changes_nothing(at_home):
    at_home.json("wallet", "import", "--from-sui")
    at_home.json("wallet", "rename", "ruby", "mine")
    again = at_home.json("wallet", "import", "--from-sui")
    assert [(key["alias"], key["new"]) for key in again["keys"]] == [("mine", False)]
    assert not any(row["new"] for row in again["networks"])


def test_import_renames_key_when_its_alias_is_taken(at_home):
    at_home.json("wallet", "new", "ruby")
    (key,) = at_home.json("wallet", "import", "--from-sui")["keys"]
    assert (key["address"], key["new"]) == (RUBY, True)
    assert key["alias"] != "ruby"


def test_import_fails_without_the_sui_cli(home):
    assert home.fails("wallet", "import", "--from-sui") == (3, "sui_files_missing")


def test_import_from_sui_rejects_an_alias(at_home):
    code = at_home.fails("wallet", "import", "--from-sui", "--alias", "mine")
    assert code == (2, "from_sui_conflict")
