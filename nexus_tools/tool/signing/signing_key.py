"""Keys of leaders and tools that sign what they say over HTTP, and which keys are known.

A key is Ed25519, in a file as PKCS #8 (PEM), as `openssl genpkey -algorithm ed25519` writes it.
People read its public half as `ed25519:` and 64 hex digits. It is none of the keys of a wallet:
what it signs moves no money, and it lies where a server runs.
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
from nexus_tools.sui.support.ed25519 import has_small_order, is_ed25519_key, verifies_ed25519
from nexus_tools.sui.support.logs import get_logger
from nexus_tools.sui.support.private_file import create_private, is_exposed
from nexus_tools.sui.support.text_file import read_text, without_mark

Keys = Callable[[str], Collection[bytes] | None]
"""Which public keys a signer has now, 32 bytes each; None for a signer that is not known.

It is asked for each message and has to be quick. Leaders are named by their id, tools by their FQN.
"""

_log = get_logger("nexus_tools.tool")

_PUBLIC_KEY = re.compile(r"ed25519:([0-9a-f]{64})")
_SIGNER = r"[!-\"$-~]{1,200}"
_KEY_ID = re.compile(rf"({_SIGNER})#(ed25519:[0-9a-f]{{64}})")
_MAX_FILE_BYTES = 2**20


def public_key_text(key: bytes) -> str:
    """A public key as people read it."""
    return f"ed25519:{key.hex()}"


def parse_public_key(text: str) -> bytes:
    """The 32 bytes of a public key. Raises `public_key_invalid`.

    Keys of small order are refused: theirs is a signature that fits every message.
    """
    found = _PUBLIC_KEY.fullmatch(text)
    key = bytes.fromhex(found[1]) if found else b""
    if not is_ed25519_key(key) or has_small_order(key):
        raise ValidationError(
            "public_key_invalid",
            f"{text[:80]!r} is not the public half of an Ed25519 key",
            hint="write it as `nexus-tools tool key show` prints it: ed25519:…",
        )
    return key


def verifies(public_key: bytes, signature: bytes, message: bytes) -> bool:
    """Whether a signature of a message is the key's, and of no other message, too."""
    return not _is_weak(public_key) and verifies_ed25519(public_key, signature, message)


@lru_cache(maxsize=4_096)
def _is_weak(public_key: bytes) -> bool:
    """Whether one signature fits all messages: of keys that are listed alone, so they are few."""
    return has_small_order(public_key)


def key_id(signer: str, key: bytes) -> str:
    """How a signature names its key: who signs, and with which of their keys."""
    return f"{signer}#{public_key_text(key)}"


def parse_key_id(text: str) -> tuple[str, bytes] | None:
    """Who signs and with which public key; None for what is no key id of ours."""
    found = _KEY_ID.fullmatch(text)
    return None if found is None else (found[1], bytes.fromhex(found[2][8:]))


@dataclass(frozen=True, slots=True, eq=False)
class SigningKey:
    """An Ed25519 key with its secret half, which no `repr` shows."""

    public_key: bytes
    private: Ed25519PrivateKey = field(repr=False)

    @classmethod
    def new(cls) -> "SigningKey":
        """A new key, which is kept nowhere."""
        return cls.of_private(Ed25519PrivateKey.generate())

    @classmethod
    def of_private(cls, private: Ed25519PrivateKey) -> "SigningKey":
        """A key that `cryptography` has."""
        return cls(private.public_key().public_bytes_raw(), private)

    @classmethod
    def from_pem(cls, text: str) -> "SigningKey":
        """Read a PKCS #8 key. Raises `signing_key_invalid`, without a word of the text."""
        try:
            key = load_pem_private_key(text.encode(), password=None)
        except (ValueError, TypeError):  # TypeError: it is encrypted
            key = None
        if not isinstance(key, Ed25519PrivateKey):
            raise _bad_key("it is not an Ed25519 key in PEM, without a passphrase")
        return cls.of_private(key)

    @classmethod
    def load(cls, path: Path) -> "SigningKey":
        """Read a file that its owner alone can read.

        Raises `signing_key_missing`, `signing_key_exposed` or `signing_key_invalid`.
        """
        if is_exposed(path):
            raise NotAllowedError(
                "signing_key_exposed",
                f"others than you can read the key in {path}",
                hint=f"`chmod 600 {path}` shuts it; if it lay open for long, make another key",
            )
        try:
            text = read_text(path)
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is no text"
            raise UsageError(
                "signing_key_missing",
                f"the key in {path} cannot be read: {reason}",
                hint="`nexus-tools tool key new` and `nexus-tools leader key new` make one",
            ) from None
        return cls.from_pem(text)

    def save(self, path: Path) -> None:
        """Write a file that its owner alone can read. Raises `signing_key_exists`."""
        try:
            create_private(path, self.to_pem())
        except FileExistsError:
            raise UsageError(
                "signing_key_exists",
                f"{path} exists, and a key that is overwritten is lost",
                hint="name another file, or remove this one",
            ) from None

    def to_pem(self) -> str:
        """The key in PKCS #8. It is a secret."""
        pem = self.private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        return pem.decode("ascii")


@dataclass(frozen=True, slots=True)
class Identity:
    """Who signs, and with which key: a leader by its id, a tool by its FQN."""

    signer: str
    key: SigningKey

    @property
    def key_id(self) -> str:
        """How a signature names the key."""
        return key_id(self.signer, self.key.public_key)


def _bad_key(reason: str) -> ValidationError:
    return ValidationError(
        "signing_key_invalid",
        f"the signing key cannot be read: {reason}",
        hint="`nexus-tools tool key new` and `nexus-tools leader key new` make one",
    )


# --- Which keys are known


class KnownKeys:
    """The keys of signers that stand in a list: `KnownKeys({"0x…": [key]})` is a `Keys`."""

    def __init__(self, keys: Mapping[str, Iterable[bytes]]) -> None:
        self.keys = {signer: frozenset(each) for signer, each in keys.items()}

    def __call__(self, signer: str) -> Collection[bytes] | None:
        """The keys of a signer; None if it is not in the list."""
        return self.keys.get(signer)

    @classmethod
    def parse(cls, text: str) -> "KnownKeys":
        """Read a line for each key: the signer, a space, the public key; `#` begins a comment.

        A signer that stands alone is known and has no key. Raises `known_keys_invalid`.
        """
        keys: dict[str, list[bytes]] = {}
        for number, line in enumerate(text.splitlines(), 1):
            words = line.partition("#")[0].split()
            if not words:
                continue
            try:
                signer, *written = words
                keys.setdefault(signer, []).extend(map(parse_public_key, written))
            except ValidationError as error:
                raise ValidationError(
                    "known_keys_invalid", f"line {number}: {error.message}", hint=error.hint
                ) from None
        return cls(keys)


class KnownKeysFile:
    """The keys that stand in a file now, as `KnownKeys.parse` reads them: it is a `Keys`, too.

    The file is looked at once a second at most, and read when it is another. While it cannot be
    read, what was read last holds, and the log says so. Raises `known_keys_invalid` at first.
    """

    def __init__(self, path: Path, *, now: Callable[[], float] = monotonic) -> None:
        self._path = path
        self._now = now
        self._looked_at = now()
        self._state = self._stat()
        self._known = self._read()

    def __call__(self, signer: str) -> Collection[bytes] | None:
        """The keys of a signer; None if it is not in the file."""
        now = self._now()
        if now >= self._looked_at + 1.0:
            self._looked_at = now
            self._look()
        return self._known(signer)

    @property
    def is_empty(self) -> bool:
        """Whether no signer is in the file."""
        return not self._known.keys

    def _look(self) -> None:
        state = self._stat()
        if state == self._state:
            return
        self._state = state
        try:
            self._known = self._read()
        except ValidationError as error:
            _log.warning("known_keys_unread", file=str(self._path), why=error.message)
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
                raise self._invalid(f"it has more than {_MAX_FILE_BYTES} bytes")
            return KnownKeys.parse(without_mark(text).decode())
        except OSError as error:
            raise self._invalid(error.strerror or str(error)) from None
        except UnicodeDecodeError:
            raise self._invalid("it is no text") from None
        except ValidationError as error:
            raise self._invalid(error.message) from None

    def _invalid(self, reason: str) -> ValidationError:
        return ValidationError(
            "known_keys_invalid",
            f"the list of keys {self._path}: {reason}",
            hint="a line is a leader's id or a tool's FQN, a space, and ed25519:…",
        )
