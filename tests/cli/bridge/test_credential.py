import stat

from nexus_tools.bridges import Credential, CredentialKey, CredentialKind, CredentialStore


def test_a_secret_is_kept_from_stdin_and_never_shown(home):
    kept = home.run("bridge", "credential", "set", "github", stdin="ghp-s3cr3t\n")
    assert kept.code == 0
    listed = home.run("bridge", "credential", "list", "--json")
    assert [row["provider"] for row in listed.document] == ["github"]
    assert "s3cr3t" not in kept.stdout + kept.stderr + listed.stdout + listed.stderr


def test_the_file_of_secrets_is_its_owners_alone(home):
    home.run("bridge", "credential", "set", "github", stdin="ghp-s3cr3t\n")
    mode = (home.data / "credentials.json").stat().st_mode
    assert stat.S_IMODE(mode) == 0o600


def test_several_fields_of_one_provider_are_read_line_by_line(home):
    fields = ("--field", "KRAKEN_API_KEY", "--field", "KRAKEN_API_SECRET")
    home.run("bridge", "credential", "set", "kraken", *fields, stdin="one\ntwo\n")
    [row] = home.json("bridge", "credential", "list")
    assert row["fields"] == ["KRAKEN_API_KEY", "KRAKEN_API_SECRET"]


def test_an_empty_secret_is_refused(home):
    result = home.run("bridge", "credential", "set", "github", "--json", stdin="")
    assert (result.code, result.error["code"]) == (2, "secret_missing")
    assert home.json("bridge", "credential", "list") == []


def test_a_credential_is_forgotten(home):
    home.run("bridge", "credential", "set", "github", stdin="ghp-s3cr3t\n")
    assert home.json("bridge", "credential", "remove", "github")["removed"]
    assert home.json("bridge", "credential", "list") == []
    assert home.fails("bridge", "credential", "remove", "github") == (3, "credential_missing")


def test_profiles_keep_their_own(home):
    for profile in ("work", "home"):
        home.run("bridge", "credential", "set", "github", "--for-profile", profile, stdin="token\n")
    rows = home.json("bridge", "credential", "list")
    assert [row["profile"] for row in rows] == ["home", "work"]


def test_when_a_token_expires_is_listed_as_other_times_are(home):
    token = Credential(CredentialKind.TOKEN, "gho", {}, expires_at=1_795_857_240.0)
    CredentialStore(home.data / "credentials.json").put(CredentialKey("github"), token)
    [row] = home.json("bridge", "credential", "list")
    assert row["expires_at_ms"] == 1_795_857_240_000
    assert "2026-11-28 09:14 UTC" in home.run("bridge", "credential", "list").stdout


def test_signing_in_needs_a_provider_of_that_kind(home, tmp_path):
    (tmp_path / "settings.toml").write_text('[providers.valyu]\nkind = "api_key"\n')
    arguments = ("sign-in", "valyu", "--hyperpocket", tmp_path / "settings.toml")
    assert home.fails("bridge", "credential", *arguments) == (2, "provider_unfit")
