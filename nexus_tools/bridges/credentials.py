"""The operator's credentials for tools, in one file that only its owner can read.

A credential belongs to a provider (`github`, or `linkedin/linkedin-basicauth` for one handler of a
provider), a profile, and a thread. Unless the caller sets them, the profile and the thread are
`default`.
"""

import fcntl
import json
import os
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from nexus_tools.errors import NotAllowedError, UsageError, ValidationError

DEFAULT_LABEL = "default"
"""The default name of the profile and of the thread."""

MAX_FILE_BYTES = 4 * 2**20

_VERSION = 1
PROVIDER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,127}", re.ASCII)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}", re.ASCII)
_MAX_LABEL = 256


class CredentialKind(StrEnum):
    """The kind of a credential: a token, an API key, or the tokens of OAuth 2.0."""

    TOKEN = "token"  # noqa: S105 - a kind of secret, not one
    API_KEY = "api_key"
    OAUTH2 = "oauth2"


@dataclass(frozen=True, slots=True)
class Credential:
    """A secret and its metadata. The `repr` of a credential does not show secrets.

    `fields` holds further secrets by name, for providers that need several. `expires_at` is in
    seconds since 1970. `scopes` is None if the scopes are unknown, for example for a pasted token.
    """

    kind: CredentialKind
    secret: str = field(repr=False)
    fields: Mapping[str, str] = field(default_factory=dict, repr=False)
    refresh_token: str = field(default="", repr=False)
    expires_at: float | None = None
    scopes: frozenset[str] | None = None

    def lacks(self, scopes: frozenset[str]) -> frozenset[str]:
        """Return the missing scopes, or an empty set if the credential's scopes are unknown."""
        return frozenset() if self.scopes is None else scopes - self.scopes

    def is_expired(self, now: float) -> bool:
        """Return whether the credential has expired. `now` is in seconds since 1970."""
        return self.expires_at is not None and self.expires_at <= now

    def environment(self, names: tuple[str, ...]) -> dict[str, str]:
        """Return the secrets by environment variable name. Names without a secret are omitted."""
        values = {name: self.fields[name] for name in names if name in self.fields}
        if not values and len(names) == 1 and self.secret:
            values[names[0]] = self.secret
        return values


@dataclass(frozen=True, slots=True, order=True)
class CredentialKey:
    """The provider, profile, and thread that a credential belongs to.

    Raises:
        ValidationError: with code `credential_invalid` if one of the names is not valid.
    """

    provider: str
    profile: str = DEFAULT_LABEL
    thread_id: str = DEFAULT_LABEL

    def __post_init__(self) -> None:
        if not PROVIDER.fullmatch(self.provider):
            raise _invalid(f"{self.provider[:80]!r} is not a valid provider name")
        for label in (self.profile, self.thread_id):
            if not 1 <= len(label) <= _MAX_LABEL:
                raise _invalid(f"a profile or thread must have 1 to {_MAX_LABEL} characters")


class CredentialStore:
    """The credentials in the file at `path`. `put` creates the file with mode 0600.

    Every access reads the file, so that a running server sees changes from the command line.

    Raises:
        NotAllowedError: with code `credentials_exposed` if other users may read or write the file.
        UsageError: with code `credentials_file_invalid` if this class did not write the file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def __repr__(self) -> str:
        return f"<CredentialStore {self.path}>"

    def get(self, key: CredentialKey) -> Credential | None:
        """Return the credential of exactly this provider, profile, and thread, or None."""
        return self._read().get(key)

    def list(self) -> list[tuple[CredentialKey, Credential]]:
        """Return every credential with its key, sorted by key."""
        return sorted(self._read().items(), key=lambda item: item[0])

    def put(self, key: CredentialKey, credential: Credential) -> None:
        """Store a credential, replacing an existing credential with the same key."""
        _check(credential)
        with self._locked_credentials() as credentials:
            credentials[key] = credential

    def remove(self, key: CredentialKey) -> bool:
        """Delete a credential, and return whether it existed."""
        with self._locked_credentials() as credentials:
            return credentials.pop(key, None) is not None

    def _read(self) -> dict[CredentialKey, Credential]:
        try:
            descriptor = os.open(self.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise _file_error(self.path, f"cannot be read: {error.strerror}") from error
        with os.fdopen(descriptor, "rb") as file:
            self._check_access(os.fstat(descriptor))
            content = file.read(MAX_FILE_BYTES + 1)
        if len(content) > MAX_FILE_BYTES:
            raise _file_error(self.path, f"is larger than {MAX_FILE_BYTES} bytes")
        return _parse(self.path, content)

    def _check_access(self, status: os.stat_result) -> None:
        if not stat.S_ISREG(status.st_mode):
            raise _file_error(self.path, "is not a regular file")
        if status.st_mode & 0o077 or status.st_uid != os.geteuid():
            message = f"other users can access the credentials in {self.path}"
            raise NotAllowedError(
                "credentials_exposed", message, hint=f"Run `chmod 600 {self.path}`."
            )

    @contextmanager
    def _locked_credentials(self) -> Iterator[dict[CredentialKey, Credential]]:
        """Lock the file, yield its credentials, and write the credentials back at the end."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW
        lock = os.open(self.path.with_name(self.path.name + ".lock"), flags, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            credentials = self._read()
            yield credentials
            self._write(credentials)
        finally:
            os.close(lock)

    def _write(self, credentials: dict[CredentialKey, Credential]) -> None:
        entries = [_entry(key, credential) for key, credential in sorted(credentials.items())]
        content = json.dumps({"version": _VERSION, "credentials": entries}, indent=1)
        temporary = self.path.with_name(self.path.name + ".new")
        temporary.unlink(missing_ok=True)
        descriptor = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(content)
            file.flush()
            os.fsync(descriptor)
        temporary.replace(self.path)


def _entry(key: CredentialKey, credential: Credential) -> dict[str, Any]:
    scopes = None if credential.scopes is None else sorted(credential.scopes)
    return (
        asdict(key)
        | asdict(replace(credential, fields=dict(credential.fields)))
        | {
            "kind": credential.kind.value,
            "scopes": scopes,
        }
    )


def _parse(path: Path, content: bytes) -> dict[CredentialKey, Credential]:
    try:
        document = json.loads(content)
        if document["version"] != _VERSION:
            raise _file_error(path, f"has version {document['version']!r}, expected {_VERSION}")
        return dict(_parse_entry(entry) for entry in document["credentials"])
    except (ValueError, KeyError, TypeError, ValidationError) as error:
        # The content is secret, so the error neither quotes the content nor chains the cause.
        kind = type(error).__name__
    raise _file_error(path, f"is not a valid credentials file ({kind})")


def _parse_entry(entry: Mapping[str, Any]) -> tuple[CredentialKey, Credential]:
    key = CredentialKey(entry["provider"], entry["profile"], entry["thread_id"])
    scopes = entry.get("scopes")
    expires_at = entry.get("expires_at")
    credential = Credential(
        CredentialKind(entry["kind"]),
        entry["secret"],
        dict(entry.get("fields", {})),
        entry.get("refresh_token", ""),
        None if expires_at is None else float(expires_at),
        None if scopes is None else frozenset(map(str, scopes)),
    )
    _check(credential)
    return key, credential


def _check(credential: Credential) -> None:
    if not all(_NAME.fullmatch(name) for name in credential.fields):
        raise _invalid("field names must be valid names of environment variables")
    values = [credential.secret, credential.refresh_token, *credential.fields.values()]
    if not all(isinstance(value, str) and "\0" not in value for value in values):
        raise _invalid("a secret must be a string without NUL characters")
    if not (credential.secret or credential.fields):
        raise _invalid("the secret is empty")


def _invalid(problem: str) -> ValidationError:
    return ValidationError("credential_invalid", f"the credential is not valid: {problem}")


def _file_error(path: Path, problem: str) -> UsageError:
    hint = "Fix the file, or move it away and set the credentials again."
    return UsageError(
        "credentials_file_invalid", f"the credentials file {path} {problem}", hint=hint
    )
