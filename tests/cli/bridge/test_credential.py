import stat

from nexus_tools.bridges import Credential, CredentialKey, CredentialKind, CredentialStore


def test_set_stores_secret_from_stdin_without_showing_it(home):
    kept = home.run("bridge", "credential", "set", "github", stdin="ghp-s3cr3t\n")
    assert kept.code == 0
    listed = home.run("bridge", "credential", "list", "--json")
    assert [row["provider"] for row in listed.document] == ["github"]
    assert "s3cr3t" not in kept.stdout + kept.stderr + listed.stdout + listed.stderr


def test_credential_file_is_readable_by_owner_only(home):
    home.run("bridge", "credential", "set", "github", stdin="ghp-s3cr3t\n")
    mode = (home.data / "credentials.json").stat().st_mode
    assert stat.S_IMODE(mode) == 0o600


def test_set_reads_one_line_per_field(home):
    fields = ("--field", "KRAKEN_API_KEY", "--field", "KRAKEN_API_SECRET")
    home.run("bridge", "credential", "set", "kraken", *fields, stdin="one\ntwo\n")
    [row] = home.json("bridge", "credential", "list")
    assert row["fields"] == ["KRAKEN_API_KEY", "KRAKEN_API_SECRET"]


def test_set_rejects_empty_secret(home):
    result = home.run("bridge", "credential", "set", "github", "--json", stdin="")
    assert (result.code, result.error["code"]) == (2, "secret_missing")
    assert home.json("bridge", "credential", "list") == []


def test_remove_deletes_credential(home):
    home.run("bridge", "credential", "set", "github", stdin="ghp-s3cr3t\n")
    assert home.json("bridge", "credential", "remove", "github")["removed"]
    assert home.json("bridge", "credential", "list") == []
    assert home.fails("bridge", "credential", "remove", "github") == (3, "credential_missing")


def test_profiles_have_separate_credentials(home):
    for profile in ("work", "home"):
        home.run("bridge", "credential", "set", "github", "--for-profile", profile, stdin="token\n")
    rows = home.json("bridge", "credential", "list")
    assert [row["profile"] for row in rows] == ["home", "work"]


def test_list_shows_token_expiry(home):
    token = Credential(CredentialKind.TOKEN, "gho", {}, expires_at=1_795_857_240.0)
    CredentialStore(home.data / "credentials.json").put(CredentialKey("github"), token)
    [row] = home.json("bridge", "credential", "list")
    assert row["expires_at_ms"] == 1_795_857_240_000
    assert "2026-11-28 09:14 UTC" in home.run("bridge", "credential", "list").stdout


def test_sign_in_rejects_other_provider_kind(home, tmp_path):
    (tmp_path / "settings.toml").write_text('[providers.valyu]\nkind = "api_key"\n')
    arguments = ("sign-in", "valyu", "--hyperpocket", tmp_path / "settings.toml")
    assert home.fails("bridge", "credential", *arguments) == (2, "provider_incompatible")
