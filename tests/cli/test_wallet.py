import stat

import pytest

from nexus_tools.sui.keystore import KeyPair
from nexus_tools.sui.support.units import sui


@pytest.mark.parametrize("options", [(), ("--quiet",)])
def test_new_key_is_private_and_its_phrase_is_printed_once(home, options):
    made = home.run("wallet", "new", "author", *options)
    assert made.code == 0
    phrase = made.stderr.splitlines()[-1].strip()
    assert len(phrase.split()) == 12
    keystore = home.data / "sui.keystore"
    assert stat.S_IMODE(keystore.stat().st_mode) == 0o600
    assert str(KeyPair.from_mnemonic(phrase).address) in made.stdout
    assert phrase not in keystore.read_text()


def test_keys_are_listed_without_secrets(home):
    home.json("wallet", "new", "one")
    home.json("wallet", "new", "two", "--scheme", "secp256k1")
    rows = home.json("wallet", "list")
    assert [(row["alias"], row["scheme"], row["active"]) for row in rows] == [
        ("one", "ed25519", True),
        ("two", "secp256k1", False),
    ]
    keys = {"alias", "address", "scheme", "active", "source", "encrypted"}
    assert all(set(row) == keys for row in rows)


def test_use_selects_another_key(home):
    home.json("wallet", "new", "one")
    home.json("wallet", "new", "two")
    assert home.json("wallet", "use", "two")["active"] is True
    assert home.fails("wallet", "use", "three") == (3, "account_unknown")


def test_exported_key_is_imported_into_another_wallet(home, tmp_path):
    made = home.json("wallet", "new", "one")
    secret = home.run("wallet", "export", "one", "--yes").stdout.strip()
    assert secret.startswith("suiprivkey1")
    imported = home.run(
        *("wallet", "import", "--alias", "again", "--json"),
        NEXUS_TOOLS_SECRET=secret,
        NEXUS_TOOLS_KEYSTORE=str(tmp_path / "other.keystore"),
    )
    assert imported.document["address"] == made["address"]
    assert secret not in imported.stdout + imported.stderr


def test_import_reads_key_from_stdin_without_a_prompt(home, tmp_path):
    made = home.json("wallet", "new", "one")
    secret = home.run("wallet", "export", "one", "--yes").stdout
    other = {"NEXUS_TOOLS_KEYSTORE": str(tmp_path / "other.keystore")}
    imported = home.run("wallet", "import", "--json", stdin=secret, **other)
    assert imported.document["address"] == made["address"]
    assert imported.stderr == "✓ imported the key account-1\n"


def test_import_without_input_is_wrong_usage(home):
    result = home.run("wallet", "import", "--json", stdin="")
    assert (result.code, result.error["code"]) == (2, "secret_missing")


def test_invalid_key_is_rejected_without_printing_it(home):
    result = home.run("wallet", "import", "--json", NEXUS_TOOLS_SECRET="suiprivkey1nonsense")
    assert (result.code, result.error["code"]) == (7, "key_invalid")
    assert "nonsense" not in result.stderr


def test_export_needs_confirmation(home):
    home.json("wallet", "new", "one")
    result = home.run("wallet", "export", "one")
    assert (result.code, result.stdout) == (2, "")
    assert "Pass --yes" in result.stderr


def test_show_prints_the_balance_on_chain(author):
    document = author.json("wallet", "show")
    assert document["balance_mist"] == 20_000_000_000
    assert "balance    20 SUI" in author.run("wallet", "show").stdout


def test_show_fails_without_a_key(home):
    result = home.run("wallet", "show", "--json")
    assert (result.code, result.error["code"]) == (3, "wallet_empty")
    assert "`nexus-tools wallet new`" in result.error["hint"]


def test_sui_is_sent_to_a_key_by_its_alias_or_to_an_address(author, stranger):
    author.wallet.new("friend")
    sent = author.json("wallet", "transfer", "friend", "1.5", "--yes")
    assert (sent["amount_mist"], sent["to"]) == (
        1_500_000_000,
        author.json("wallet", "show", "friend")["address"],
    )
    assert author.json("wallet", "show", "friend")["balance_mist"] == 1_500_000_000
    left = author.json("wallet", "show")["balance_mist"]
    assert left == 20_000_000_000 - 1_500_000_000 - sent["cost_mist"]
    address = stranger.json("wallet", "show")["address"]
    before = stranger.json("wallet", "show")["balance_mist"]
    author.json("wallet", "transfer", address, "0.000000001", "--yes")
    assert stranger.json("wallet", "show")["balance_mist"] == before + 1


def test_show_prints_the_address_balance_separately(author):
    author.wallet.new("friend")
    author.json("wallet", "transfer", "friend", "1.5", "--yes")
    assert "address balance" not in author.run("wallet", "show", "friend").stdout
    author.json("wallet", "transfer", "friend", "0.25", "--deposit", "--yes")
    shown = author.json("wallet", "show", "friend")
    assert (shown["coins_mist"], shown["address_balance_mist"]) == (1_500_000_000, 250_000_000)
    assert shown["balance_mist"] == 1_750_000_000
    words = "1.75 SUI, of which 0.25 SUI in the address balance"
    assert words in author.run("wallet", "show", "friend").stdout


def test_transfer_spends_the_address_balance_without_coins(author):
    author.wallet.new("friend")
    author.wallet.new("other")
    author.json("wallet", "transfer", "friend", "2", "--deposit", "--yes")
    sent = author.json("wallet", "transfer", "other", "1.5", "-w", "friend", "--yes")
    assert author.json("wallet", "show", "other")["balance_mist"] == 1_500_000_000
    left = author.json("wallet", "show", "friend")
    assert left["balance_mist"] == left["address_balance_mist"] == 500_000_000 - sent["cost_mist"]


@pytest.mark.parametrize("coins", [(), ("1", "0.5")], ids=["balance", "both"])
def test_transfer_of_all_spends_coins_and_the_address_balance(author, coins):
    author.wallet.new("friend")
    author.wallet.new("other")
    for amount in coins:
        author.json("wallet", "transfer", "friend", amount, "--yes")
    author.json("wallet", "transfer", "friend", "2", "--deposit", "--yes")
    had = author.json("wallet", "show", "friend")["balance_mist"]
    asked = author.run("wallet", "transfer", "other", "all", "-w", "friend")
    sent = author.json("wallet", "transfer", "other", "all", "-w", "friend", "--yes")
    assert sent["amount_mist"] == had - sent["cost_mist"]
    assert f"Send {sui(sent['amount_mist'])} to other" in asked.stderr
    assert author.json("wallet", "show", "friend")["balance_mist"] == 0
    assert author.json("wallet", "show", "other")["balance_mist"] == sent["amount_mist"]


def test_transfer_of_all_fails_for_an_empty_wallet_and_a_deposit(author):
    author.wallet.new("friend")
    failing = ("wallet", "transfer", "author", "all", "-w", "friend", "--yes")
    assert author.fails(*failing) == (4, "not_enough_sui")
    failing = ("wallet", "transfer", "friend", "all", "--deposit", "--yes")
    assert author.fails(*failing) == (2, "amount_needed")


def test_transfer_asks_for_confirmation_and_names_the_recipient(author):
    author.wallet.new("friend")
    asked = author.run("wallet", "transfer", "friend", "1")
    address = author.json("wallet", "show", "friend")["address"]
    assert asked.code == 2
    assert f"Send 1 SUI to friend ({address}) on test, and pay 0.0" in asked.stderr
    assert author.json("wallet", "show", "friend")["balance_mist"] == 0


def test_dry_run_sends_nothing(author):
    author.wallet.new("friend")
    assert author.json("wallet", "transfer", "friend", "1", "--dry-run")["dry_run"] is True
    assert author.json("wallet", "show", "friend")["balance_mist"] == 0


@pytest.mark.parametrize("amount", ["20", "19.9999", "21"])
@pytest.mark.parametrize("how", ["--yes", "--dry-run"])
def test_transfer_that_leaves_no_gas_is_rejected_before_sending(author, amount, how):
    author.wallet.new("friend")
    result = author.run("wallet", "transfer", "friend", amount, how, "--json")
    assert (result.code, result.error["code"]) == (4, "not_enough_sui")
    asks = f"nexus-tools localnet faucet {author.wallet.signer().address}"
    assert asks in result.error["hint"]
    assert "-n test" in result.error["hint"]
    assert author.json("wallet", "show")["balance_mist"] == 20_000_000_000


@pytest.mark.parametrize(
    ("to", "amount", "code"),
    [
        ("nobody", "1", (3, "account_unknown")),
        ("0x12z", "1", (7, "address_invalid")),
        ("author", "0", (2, "amount_zero")),
        ("author", "much", (2, "usage")),
    ],
)
def test_transfer_rejects_invalid_recipient_or_amount(author, to, amount, code):
    assert author.fails("wallet", "transfer", to, amount, "--yes") == code


def test_renamed_key_stays_active(home):
    made = home.json("wallet", "new", "one")
    home.json("config", "set", "wallet", "one")
    renamed = home.json("wallet", "rename", "one", "first")
    del made["recovery_phrase"]
    assert renamed == made | {"alias": "first"}
    assert home.settings["wallet"] == "first"


def test_rename_rejects_taken_or_invalid_alias(home):
    home.json("wallet", "new", "one")
    home.json("wallet", "new", "two")
    result = home.run("wallet", "rename", "one", "two", "--json")
    assert (result.code, result.error["code"]) == (2, "alias_taken")
    assert "`nexus-tools wallet list`" in result.error["hint"]
    again = home.run("wallet", "new", "two", "--json")
    assert (again.code, again.error["code"]) == (2, "alias_taken")
    assert str(home.wallet.account("two").address) in again.error["message"]
    assert "To use the existing key, skip this command" in again.error["hint"]
    assert home.fails("wallet", "rename", "one", "one two") == (7, "alias_invalid")


def test_remove_asks_for_confirmation_and_names_the_backup_command(home, chain):
    home.configure(network="test", networks={"test": {"url": chain.url}})
    home.json("wallet", "new", "one")
    address = home.json("wallet", "new", "two")["address"]
    asked = home.run("wallet", "remove", "two")
    assert asked.code == 2
    assert f"two ({address})" in asked.stderr
    assert "`nexus-tools wallet export two`" in asked.stderr
    assert home.json("wallet", "remove", "two", "--yes")["alias"] == "two"
    assert [row["alias"] for row in home.json("wallet", "list")] == ["one"]


def test_remove_requires_force_for_a_key_with_sui(author):
    assert author.fails("wallet", "remove", "author", "--yes") == (4, "key_not_empty")
    assert [row["alias"] for row in author.json("wallet", "list")] == ["author"]
    author.json("wallet", "remove", "author", "--yes", "--force")
    assert author.json("wallet", "list") == []


def test_remove_requires_force_when_the_balance_is_unknown(home):
    home.configure(network="gone", networks={"gone": {"url": "http://127.0.0.1:1"}})
    home.json("wallet", "new", "one")
    assert home.fails("wallet", "remove", "one", "--yes") == (4, "balance_unknown")
    assert home.json("wallet", "remove", "one", "--yes", "--force")["alias"] == "one"


def test_remove_clears_the_setting_of_the_removed_key(home):
    home.json("wallet", "new", "one")
    home.json("wallet", "new", "two")
    home.json("config", "set", "wallet", "two")
    home.json("wallet", "remove", "two", "--yes", "--force")
    assert "wallet" not in home.settings
    assert home.json("wallet", "list")[0]["active"] is True
