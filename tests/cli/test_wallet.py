import stat

from nexus_tools.client import KeyPair


def test_a_new_key_is_kept_with_mode_0600_and_its_phrase_is_shown_once(home):
    made = home.run("wallet", "new", "author")
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
    assert all(set(row) == {"alias", "address", "scheme", "active", "source"} for row in rows)


def test_another_key_can_be_used(home):
    home.json("wallet", "new", "one")
    home.json("wallet", "new", "two")
    assert home.json("wallet", "use", "two")["active"] is True
    assert home.fails("wallet", "use", "three") == (3, "account_unknown")


def test_a_key_travels_from_wallet_to_wallet(home, tmp_path):
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


def test_a_bad_key_is_refused_without_being_printed(home):
    result = home.run("wallet", "import", "--json", NEXUS_TOOLS_SECRET="suiprivkey1nonsense")
    assert (result.code, result.error["code"]) == (7, "key_invalid")
    assert "nonsense" not in result.stderr


def test_a_secret_is_not_printed_without_being_asked_for(home):
    home.json("wallet", "new", "one")
    result = home.run("wallet", "export", "one")
    assert (result.code, result.stdout) == (2, "")
    assert "pass --yes" in result.stderr


def test_the_balance_is_that_of_the_chain(author):
    document = author.json("wallet", "show")
    assert document["balance_mist"] == 20_000_000_000
    assert "balance  20 SUI" in author.run("wallet", "show").stdout


def test_without_a_key_nothing_is_shown(home):
    assert home.fails("wallet", "show") == (3, "wallet_empty")
