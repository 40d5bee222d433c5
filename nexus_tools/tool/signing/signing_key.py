"""The HTTP signing keys of leaders and tools, and lists of known keys.

A key is an Ed25519 key in a PKCS #8 file (PEM), as `openssl genpkey -algorithm ed25519` writes it.
The public key is written as `ed25519:` and 64 hex digits. A signing key is not a wallet key. The
key file is stored on a server, but the key cannot sign transactions that move funds.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from time import monotonic

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from nexus_tools.errors import NotAllowedError, UsageError, ValidationError
from nexus_tools.sui.support.ed25519 import has_small_order, is_ed25519_key, verify_ed25519
from nexus_tools.sui.support.logs import get_logger
from nexus_tools.sui.support.private_file import create_private, is_exposed
from nexus_tools.sui.support.text_file import read_text, without_byte_order_mark

Keys = Callable[[str], Collection[bytes] | None]
"""A function that returns the current public keys of a signer, 32 bytes each.

The function returns None for an unknown signer. The function must be fast, because it is called for
each message. The name of a leader is its ID, and the name of a tool is its FQN.
"""

_log = get_logger("nexus_tools.tool")

_PUBLIC_KEY = re.compile(r"ed25519:([0-9a-f]{64})")
_SIGNER = r"[!-\"$-~]{1,200}"
_KEY_ID = re.compile(rf"({_SIGNER})#(ed25519:[0-9a-f]{{64}})")
_MAX_FILE_BYTES = 2**20


def format_public_key(key: bytes) -> str:
    """Return a public key as `ed25519:` and 64 hex digits."""
    return f"ed25519:{key.hex()}"


def parse_public_key(text: str) -> bytes:
    """Return the 32 bytes of a public key. Raises `public_key_invalid`.

    A key of small order is rejected, because one signature by it is valid for every message.
    """
    match = _PUBLIC_KEY.fullmatch(text)
    key = bytes.fromhex(match[1]) if match else b""
    if not is_ed25519_key(key) or has_small_order(key):
        raise ValidationError(
            "public_key_invalid",
            f"{text[:80]!r} is not the public half of an Ed25519 key",
            hint="Write the key as `nexus-tools tool key show` prints it, for example ed25519:KEY.",
        )
    return key


def verifies(public_key: bytes, signature: bytes, message: bytes) -> bool:
    """Return whether `public_key` has signed `message`. A key of small order verifies nothing."""
    return not _is_weak(public_key) and verify_ed25519(public_key, signature, message)


@lru_cache(maxsize=4_096)
def _is_weak(public_key: bytes) -> bool:
    """Return whether one signature by the key is valid for every message.

    Callers check only listed keys, so untrusted keys do not fill the cache.
    """
    return has_small_order(public_key)


def key_id(signer: str, key: bytes) -> str:
    """Return the `keyid` of a signature, which contains the signer and its public key."""
    return f"{signer}#{format_public_key(key)}"


@lru_cache(maxsize=256)
def parse_key_id(text: str) -> tuple[str, bytes] | None:
    """Return the signer and the public key in a `keyid`, or None if it has another form.

    Untrusted callers can fill the cache, which costs at most 2 MB and the time of the pattern.
    """
    match = _KEY_ID.fullmatch(text)
    return None if match is None else (match[1], bytes.fromhex(match[2][8:]))


@dataclass(frozen=True, slots=True, eq=False)
class SigningKey:
    """An Ed25519 key with its private half, which `repr` does not show."""

    public_key: bytes
    private: Ed25519PrivateKey = field(repr=False)

    @classmethod
    def new(cls) -> "SigningKey":
        """Generate a key without saving it."""
        return cls.of_private(Ed25519PrivateKey.generate())

    @classmethod
    def of_private(cls, private: Ed25519PrivateKey) -> "SigningKey":
        """Wrap a private key of `cryptography`."""
        return cls(private.public_key().public_bytes_raw(), private)

    @classmethod
    def from_pem(cls, text: str) -> "SigningKey":
        """Parse a PKCS #8 key. Raises `signing_key_invalid`, which does not quote the text."""
        try:
            key = load_pem_private_key(text.encode(), password=None)
        except (ValueError, TypeError):  # TypeError: the key is encrypted
            key = None
        if not isinstance(key, Ed25519PrivateKey):
            raise _bad_key("expected an Ed25519 key in PEM format without a passphrase")
        return cls.of_private(key)

    @classmethod
    def load(cls, path: Path) -> "SigningKey":
        """Read a key file that only its owner can read.

        Raises `signing_key_missing`, `signing_key_exposed` or `signing_key_invalid`.
        """
        if is_exposed(path):
            raise NotAllowedError(
                "signing_key_exposed",
                f"other users can read the key in {path}",
                hint=f"Run `chmod 600 {path}`, and create a new key if others may have read it.",
            )
        try:
            text = read_text(path)
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "the file is not UTF-8 text"
            raise UsageError(
                "signing_key_missing",
                f"the key in {path} cannot be read: {reason}",
                hint="Run `nexus-tools tool key new` or `nexus-tools leader key new`.",
            ) from None
        return cls.from_pem(text)

    def save(self, path: Path) -> None:
        """Write the key to a file that only its owner can read. Raises `signing_key_exists`."""
        try:
            create_private(path, self.to_pem())
        except FileExistsError:
            raise UsageError(
                "signing_key_exists",
                f"{path} already exists, and overwriting it would destroy its key",
                hint="Choose another file, or remove the existing one.",
            ) from None

    def to_pem(self) -> str:
        """Return the private key in PKCS #8. The result is a secret."""
        pem = self.private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        return pem.decode("ascii")


@dataclass(frozen=True, slots=True)
class Identity:
    """A signer with its key. `signer` is the ID of a leader, or the FQN of a tool."""

    signer: str
    key: SigningKey
    key_id: str = field(init=False)
    """The key ID in signatures."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "key_id", key_id(self.signer, self.key.public_key))


def _bad_key(reason: str) -> ValidationError:
    return ValidationError(
        "signing_key_invalid",
        f"the signing key cannot be read: {reason}",
        hint="Run `nexus-tools tool key new` or `nexus-tools leader key new`.",
    )


# --- Known keys


class KnownKeys:
    """A fixed list of signers and their keys: `KnownKeys({"0x…": [key]})` is a `Keys`."""

    def __init__(self, keys: Mapping[str, Iterable[bytes]]) -> None:
        self.keys = {signer: frozenset(signer_keys) for signer, signer_keys in keys.items()}

    def __call__(self, signer: str) -> Collection[bytes] | None:
        """Return the keys of a signer, or None if it is not in the list."""
        return self.keys.get(signer)

    @classmethod
    def parse(cls, text: str) -> "KnownKeys":
        """Parse a text with one key per line: the signer, a space, and the public key.

        A line with only a signer lists a signer without keys. `#` starts a comment. Raises
        `known_keys_invalid`.
        """
        keys: dict[str, list[bytes]] = {}
        for number, line in enumerate(text.splitlines(), 1):
            words = line.partition("#")[0].split()
            if not words:
                continue
            try:
                signer, *public_keys = words
                keys.setdefault(signer, []).extend(map(parse_public_key, public_keys))
            except ValidationError as error:
                raise ValidationError(
                    "known_keys_invalid", f"line {number}: {error.message}", hint=error.hint
                ) from None
        return cls(keys)


class KnownKeysFile:
    """The current keys in a file in the format of `KnownKeys.parse`. An instance is a `Keys`.

    The file is checked at most once a second, and read again if it has changed. If the file cannot
    be read, a warning is logged and the previous keys stay valid. The constructor raises
    `known_keys_invalid`.
    """

    def __init__(self, path: Path, *, now: Callable[[], float] = monotonic) -> None:
        self._path = path
        self._now = now
        self._checked_at = now()
        self._state = self._stat()
        self._known = self._read()

    def __call__(self, signer: str) -> Collection[bytes] | None:
        """Return the keys of a signer, or None if it is not in the file."""
        now = self._now()
        if now >= self._checked_at + 1.0:
            self._checked_at = now
            self._reload_if_changed()
        return self._known(signer)

    @property
    def is_empty(self) -> bool:
        """Whether the file lists no signer."""
        return not self._known.keys

    def _reload_if_changed(self) -> None:
        state = self._stat()
        if state == self._state:
            return
        self._state = state
        try:
            self._known = self._read()
        except ValidationError as error:
            _log.warning("known_keys_unreadable", file=str(self._path), why=error.message)
        else:
            _log.info("known_keys_read", file=str(self._path), signers=len(self._known.keys))

    def _stat(self) -> tuple[int, ...] | None:
        try:
            stat = self._path.stat()
        except OSError:
            return None
        return stat.st_mtime_ns, stat.st_size, stat.st_ino

    def _read(self) -> KnownKeys:
        try:
            with self._path.open("rb") as file:
                text = file.read(_MAX_FILE_BYTES + 1)
            if len(text) > _MAX_FILE_BYTES:
                raise self._invalid(f"the file has more than {_MAX_FILE_BYTES} bytes")
            return KnownKeys.parse(without_byte_order_mark(text).decode())
        except OSError as error:
            raise self._invalid(error.strerror or str(error)) from None
        except UnicodeDecodeError:
            raise self._invalid("the file is not UTF-8 text") from None
        except ValidationError as error:
            raise self._invalid(error.message) from None

    def _invalid(self, reason: str) -> ValidationError:
        return ValidationError(
            "known_keys_invalid",
            f"the list of keys {self._path} is invalid: {reason}",
            hint="Write one key per line: a leader's ID or a tool's FQN, a space, and ed25519:KEY.",
        )
