"""The operator's credentials file."""

import json
import os
import stat

import pytest

from nexus_tools.bridges.credentials import (
    Credential,
    CredentialKey,
    CredentialKind,
    CredentialStore,
)
from nexus_tools.errors import NotAllowedError, UsageError, ValidationError

GITHUB = CredentialKey("github")
TOKEN = Credential(CredentialKind.TOKEN, "ghp-0123456789")
TOKENS = Credential(
    CredentialKind.OAUTH2,
    "access-1",
    refresh_token="refresh-1",
    expires_at=1_800_000_000.5,
    scopes=frozenset({"repo", "user"}),
)
KEYS = Credential(CredentialKind.API_KEY, "", {"KRAKEN_API_KEY": "k", "KRAKEN_API_SECRET": "s"})


@pytest.fixture
def store(tmp_path):
    return CredentialStore(tmp_path / "private" / "credentials.json")


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("credential", [TOKEN, TOKENS, KEYS], ids=lambda each: each.kind)
def test_credential_is_read_as_stored(store, credential):
    store.put(GITHUB, credential)
    assert CredentialStore(store.path).get(GITHUB) == credential


def test_profiles_and_threads_have_separate_credentials(store):
    store.put(CredentialKey("github", "work", "t-1"), TOKEN)
    store.put(CredentialKey("github", "home", "t-1"), TOKENS)
    assert store.get(CredentialKey("github", "work", "t-1")) == TOKEN
    assert store.get(CredentialKey("github", "work", "t-2")) is None
    assert store.get(GITHUB) is None


def test_credentials_are_listed_by_key(store):
    store.put(CredentialKey("slack"), TOKEN)
    store.put(GITHUB, TOKENS)
    assert store.list() == [(GITHUB, TOKENS), (CredentialKey("slack"), TOKEN)]


def test_removed_credential_is_gone_and_the_others_stay(store):
    store.put(GITHUB, TOKEN)
    store.put(CredentialKey("slack"), TOKEN)
    assert store.remove(GITHUB) is True
    assert store.remove(GITHUB) is False
    assert store.list() == [(CredentialKey("slack"), TOKEN)]


def test_store_without_a_file_is_empty_and_creates_none(store):
    assert store.list() == []
    assert not store.path.parent.exists()


def test_file_and_folder_are_accessible_only_to_their_owner(store):
    old = os.umask(0)
    try:
        store.put(GITHUB, TOKEN)
    finally:
        os.umask(old)
    assert mode(store.path) == 0o600
    assert mode(store.path.parent) == 0o700


@pytest.mark.parametrize("others", [0o640, 0o604, 0o620, 0o666], ids=oct)
def test_file_accessible_to_others_is_refused(store, others):
    store.put(GITHUB, TOKEN)
    store.path.chmod(others)
    with pytest.raises(NotAllowedError, match="chmod 600") as caught:
        store.get(GITHUB)
    assert caught.value.code == "credentials_exposed"


def test_link_instead_of_the_file_is_refused(store, tmp_path):
    store.put(GITHUB, TOKEN)
    link = tmp_path / "link.json"
    link.symlink_to(store.path)
    with pytest.raises(UsageError) as caught:
        CredentialStore(link).get(GITHUB)
    assert caught.value.code == "credentials_file_invalid"


@pytest.mark.parametrize(
    "content",
    [
        "",
        "ghp-0123456789",
        "[]",
        '{"version": 2, "credentials": []}',
        '{"version": 1, "credentials": [{"provider": "github", "secret": "ghp-0123456789"}]}',
        '{"version": 1, "credentials": [7]}',
    ],
)
def test_broken_file_is_reported_without_its_secrets(store, content):
    store.put(GITHUB, TOKEN)
    store.path.write_text(content)
    with pytest.raises(UsageError) as caught:
        store.get(GITHUB)
    assert caught.value.code == "credentials_file_invalid"
    assert str(store.path) in caught.value.message
    assert "0123456789" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_broken_file_is_not_overwritten(store):
    store.put(GITHUB, TOKEN)
    store.path.write_text("{")
    with pytest.raises(UsageError):
        store.put(GITHUB, TOKENS)
    assert store.path.read_text() == "{"


def test_changes_of_another_store_are_visible_at_once(store):
    store.put(GITHUB, TOKEN)
    CredentialStore(store.path).put(GITHUB, TOKENS)
    assert store.get(GITHUB) == TOKENS


def test_remains_of_an_interrupted_write_do_not_block(store):
    store.put(GITHUB, TOKEN)
    store.path.with_name("credentials.json.new").write_text("half")
    store.put(GITHUB, TOKENS)
    assert store.get(GITHUB) == TOKENS
    assert json.loads(store.path.read_text())["version"] == 1


@pytest.mark.parametrize("credential", [TOKEN, TOKENS, KEYS], ids=lambda each: each.kind)
def test_credential_repr_shows_no_secret(credential):
    shown = repr(credential)
    secrets = [credential.secret, credential.refresh_token, *credential.fields.values()]
    assert not [secret for secret in secrets if secret and f"'{secret}'" in shown]


@pytest.mark.parametrize("provider", ["", "a b", "../x", "a\n", "ä", "x" * 129])
def test_provider_must_have_a_plain_name(provider):
    with pytest.raises(ValidationError) as caught:
        CredentialKey(provider)
    assert caught.value.code == "credential_invalid"


@pytest.mark.parametrize(
    "credential",
    [
        Credential(CredentialKind.TOKEN, ""),
        Credential(CredentialKind.TOKEN, "a\0b"),
        Credential(CredentialKind.API_KEY, "", {"NOT A NAME": "x"}),
    ],
    ids=["empty", "nul", "field"],
)
def test_credential_that_no_environment_can_hold_is_refused(store, credential):
    with pytest.raises(ValidationError):
        store.put(GITHUB, credential)
    assert store.list() == []


def test_unknown_scopes_lack_nothing():
    assert TOKEN.lacks(frozenset({"repo"})) == frozenset()
    assert TOKENS.lacks(frozenset({"repo", "admin"})) == {"admin"}


def test_credential_expires_at_its_second():
    assert not TOKENS.is_expired(1_800_000_000.4)
    assert TOKENS.is_expired(1_800_000_000.5)
    assert not TOKEN.is_expired(1e12)


def test_one_name_gets_the_secret_and_several_get_the_fields():
    assert TOKEN.environment(("GITHUB_TOKEN",)) == {"GITHUB_TOKEN": "ghp-0123456789"}
    assert KEYS.environment(("KRAKEN_API_KEY", "KRAKEN_API_SECRET")) == KEYS.fields
    assert TOKEN.environment(("KRAKEN_API_KEY", "KRAKEN_API_SECRET")) == {}
