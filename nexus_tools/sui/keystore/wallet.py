"""Wallets: keystore files that the Sui CLI also reads and writes.

The keystore is a JSON list of base64 entries. The alias file next to the keystore is a JSON list of
`{"alias", "public_key_base64"}` (`sui-keys/src/keystore.rs`). A third file contains the active
address, and a fourth file contains the encrypted keys. The Sui CLI does not use the third and the
fourth file. All files have mode 0600, and are always replaced atomically.

The Sui CLI replaces the suffix of the keystore's name to get the name of the alias file. Therefore,
the name of a keystore must end with `.keystore`. Otherwise, two keystores could use the same alias
file.
"""

import json
import re
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from nexus_tools.sui.errors import NotFoundError, UsageError, ValidationError
from nexus_tools.sui.keystore.encrypted_keys import (
    EncryptedKey,
    format_encrypted_keys,
    no_passphrase,
    parse_encrypted_key,
)
from nexus_tools.sui.keystore.keys import KeyPair, new_mnemonic
from nexus_tools.sui.signature import SignatureScheme
from nexus_tools.sui.support.private_file import locked, read_private, write_private
from nexus_tools.sui.support.suggestions import suggestion
from nexus_tools.sui.types.address import Address

Key = TypeVar("Key")

_ENTRY_HINT = "Correct or remove the entry. The other keys in the file are not affected."
_SUFFIX = ".keystore"
_ACTIVE, _ALIASES, _ENCRYPTED = _COMPANIONS = (".active", ".aliases", ".encrypted")
_ALIAS = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")


class Account(Struct, frozen=True):
    """A key's address in a wallet, with the key's alias and scheme."""

    address: Address
    alias: str
    scheme: SignatureScheme
    active: bool
    encrypted: bool = False

    def is_named(self, which: str | Address) -> bool:
        """Return whether `which` is the account's alias or address."""
        return which in (self.alias, self.address, str(self.address), self.address.short())


class Wallet:
    """The keys of one keystore file. If the file is missing, the wallet has no keys.

    Before an encrypted key signs, `passphrase` is called with the key's alias and must return the
    key's passphrase. If `foreign` is True, the keystore belongs to another program. A foreign
    keystore may have any name, and must not be changed. Raises `keystore_name_invalid` or
    `wallet_invalid`.
    """

    def __init__(
        self,
        path: Path,
        passphrase: Callable[[str], str] | None = None,
        *,
        foreign: bool = False,
    ) -> None:
        self._path = path.resolve()  # all links to a keystore use the same lock
        if not foreign:
            _check_name(self._path)
        self._passphrase = passphrase or no_passphrase
        self._keys: dict[Address, KeyPair | EncryptedKey] = {}
        self._aliases: dict[Address, str] = {}
        self._active: Address | None = None
        self._others: list[Any] = []
        self._encrypted_others: list[Any] = []
        self._unreadable: tuple[ValidationError, ...] = ()
        self._load()

    def __repr__(self) -> str:
        return f"Wallet({str(self._path)!r}, {len(self._keys)} keys)"

    @property
    def path(self) -> Path:
        """The path of the keystore file."""
        return self._path

    def place(self, account: Account) -> Path:
        """Return the file that contains the key of an account."""
        return self._beside(_ENCRYPTED) if account.encrypted else self._path

    # --- Reading

    @property
    def unreadable(self) -> tuple[ValidationError, ...]:
        """The errors for unreadable entries. Saving the file does not change these entries."""
        return self._unreadable

    def accounts(self) -> tuple[Account, ...]:
        """Return all accounts in the order of the keystore."""
        return tuple(
            Account(
                address,
                self._aliases[address],
                key.scheme,
                active=address == self._active,
                encrypted=isinstance(key, EncryptedKey),
            )
            for address, key in self._keys.items()
        )

    def account(self, which: str | Address | None = None) -> Account:
        """Return the account with an alias or address, or by default the active account.

        Raises `account_unknown` or `wallet_empty`.
        """
        address = self._find(which)
        return next(account for account in self.accounts() if account.address == address)

    def signer(self, which: str | Address | None = None) -> KeyPair:
        """Return the key of an account.

        Raises the errors of `account`. If the key is encrypted, this method also raises
        `passphrase_missing` or `passphrase_wrong`.
        """
        key = self._keys[self._find(which)]
        return key if isinstance(key, KeyPair) else key.decrypt(self._passphrase(key.alias))

    def export(self, which: str | Address | None = None) -> str:
        """Return an account's secret key as `suiprivkey…`. Do not store or log the result."""
        return self.signer(which).to_bech32()

    def _find(self, which: str | Address | None) -> Address:
        if which is None:
            if self._active is None or not (self._keys or self._unreadable):
                raise NotFoundError(
                    "wallet_empty",
                    f"the keystore {self._path} does not contain any keys",
                    hint="Create a key with `nexus-tools wallet new`, or import a key.",
                )
            if self._active not in self._keys:
                raise NotFoundError(
                    "account_unknown",
                    f"the active key {self._active} of {self._path} cannot be read, or does not"
                    " exist",
                    hint="Correct its entry, or select another key with `nexus-tools wallet use`.",
                )
            return self._active
        for account in self.accounts():
            if account.is_named(which):
                return account.address
        raise NotFoundError(
            "account_unknown",
            f"the keystore {self._path} does not contain the account {which!s:.80}",
            hint=suggestion(
                str(which),
                self._aliases.values(),
                otherwise="Run `nexus-tools wallet list` to see the accounts.",
            ),
        )

    # --- Changing

    def new(
        self,
        alias: str | None = None,
        scheme: SignatureScheme = SignatureScheme.ED25519,
        *,
        passphrase: str | None = None,
    ) -> tuple[Account, str]:
        """Create a key. Return its account and its mnemonic, which is not stored.

        Raises the errors of `add`.
        """
        mnemonic = new_mnemonic()
        key = KeyPair.from_mnemonic(mnemonic, scheme)
        return self.add(key, alias, passphrase=passphrase), mnemonic

    def add(
        self, key: KeyPair, alias: str | None = None, *, passphrase: str | None = None
    ) -> Account:
        """Store a key, and make it the active key if it is the first key.

        If a passphrase is given, the key is encrypted.

        Raises:
            NexusError: `alias_invalid`, `alias_taken` or `passphrase_empty`; `key_exists` if the
                key is already stored under another alias; `key_unencrypted` if there is a
                passphrase but the key is already stored unencrypted.
        """
        with self._changing():
            address = key.address
            if address not in self._keys:
                alias = self.check_alias(alias) if alias else self._free_alias()
                self._aliases[address] = alias
                self._keys[address] = (
                    key if passphrase is None else EncryptedKey.encrypt(key, alias, passphrase)
                )
            elif alias is not None and alias != self._aliases[address]:
                raise UsageError(
                    "key_exists",
                    f"the key is already in {self._path}, with the alias {self._aliases[address]}",
                    hint="Change the alias with"
                    f" `nexus-tools wallet rename {self._aliases[address]} {alias}`.",
                )
            elif passphrase is not None and isinstance(self._keys[address], KeyPair):
                raise UsageError(
                    "key_unencrypted",
                    f"the key {self._aliases[address]} in {self._path} is not encrypted",
                    hint="Remove the key with `nexus-tools wallet remove`, and import it again.",
                )
            if self._active is None or (len(self._keys) == 1 and not self._unreadable):
                self._active = address
        return self.account(address)

    def use(self, which: str | Address) -> Account:
        """Make an account the active account. Raises `account_unknown`."""
        with self._changing():
            self._active = self._find(which)
        return self.account()

    def rename(self, which: str | Address, alias: str) -> Account:
        """Change an alias. Raises `account_unknown`, `alias_invalid` or `alias_taken`."""
        with self._changing():
            address = self._find(which)
            self._aliases[address] = self.check_alias(alias)
        return self.account(address)

    def remove(self, which: str | Address) -> None:
        """Delete a key permanently. Raises `account_unknown`."""
        with self._changing():
            address = self._find(which)
            del self._keys[address], self._aliases[address]
            if self._active == address:
                self._active = next(iter(self._keys), None)

    def check_alias(self, alias: str) -> str:
        """Return the alias if it is valid and unused. Raises `alias_invalid` or `alias_taken`."""
        if not _ALIAS.fullmatch(alias):
            raise ValidationError(
                "alias_invalid",
                f"{alias[:80]!r} is not a valid alias",
                hint="Use a letter, and then at most 63 letters, digits, hyphens and underscores.",
            )
        for address, used_alias in self._aliases.items():
            if used_alias == alias:
                raise UsageError(
                    "alias_taken",
                    f"the alias {alias} belongs to your key {address}",
                    hint="To use the existing key, skip this command. Otherwise, choose another"
                    " alias. `nexus-tools wallet list` shows the aliases in use.",
                )
        return alias

    def _free_alias(self) -> str:
        used_aliases = set(self._aliases.values())
        number = len(used_aliases) + 1
        while f"account-{number}" in used_aliases:
            number += 1
        return f"account-{number}"

    # --- Files

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Lock the files and load the current data. Save the data when the block ends."""
        with locked(self._path):
            self._load()
            yield
            self._save()

    def _load(self) -> None:
        encrypted_path = self._beside(_ENCRYPTED)
        keys, self._others, unreadable = read_entries(
            _read_json(self._path), KeyPair.from_keystore, self._path
        )
        encrypted, self._encrypted_others, more_unreadable = read_entries(
            _read_json(encrypted_path), parse_encrypted_key, encrypted_path
        )
        self._unreadable = (*unreadable, *more_unreadable)
        self._keys = {key.address: key for key in keys}
        self._keys |= {key.address: key for key in encrypted if key.address not in self._keys}
        names = _aliases(_read_json(self._beside(_ALIASES)))
        self._aliases = {}
        for address, key in self._keys.items():
            alias = key.alias if isinstance(key, EncryptedKey) else names.get(_public_key_text(key))
            self._aliases[address] = alias or self._free_alias()
        self._active = self._load_active()

    def _load_active(self) -> Address | None:
        """Return the stored active address, even if its key is missing, or the first address."""
        path = self._beside(_ACTIVE)
        text = read_private(path).strip()
        if not text:
            return next(iter(self._keys), None)
        try:
            return Address.parse(text)
        except ValidationError:
            raise ValidationError(
                "wallet_invalid",
                f"{path} does not contain an address",
                hint="Delete the file, and choose the active key with `nexus-tools wallet use`.",
            ) from None

    def _save(self) -> None:
        plain = {owner: key for owner, key in self._keys.items() if isinstance(key, KeyPair)}
        entries = [key.to_keystore() for key in plain.values()]
        aliases = [
            {"alias": self._aliases[address], "public_key_base64": _public_key_text(key)}
            for address, key in plain.items()
        ]
        encrypted = [
            replace(key, alias=self._aliases[address])
            for address, key in self._keys.items()
            if isinstance(key, EncryptedKey)
        ]
        if encrypted or self._beside(_ENCRYPTED).exists():
            text = format_encrypted_keys(encrypted, self._encrypted_others)
            write_private(self._beside(_ENCRYPTED), text)
        entries += self._others
        write_private(self._path, json.dumps(entries, indent=2) + "\n")
        write_private(self._beside(_ALIASES), json.dumps(aliases, indent=2) + "\n")
        write_private(self._beside(_ACTIVE), f"{self._active or ''}\n")

    def _beside(self, suffix: str) -> Path:
        return self._path.with_suffix(suffix)


def _check_name(path: Path) -> None:
    """Raise `keystore_name_invalid` if the name does not end with `.keystore`.

    Two keystores with other suffixes could use the same alias file.
    """
    if path.suffix == _SUFFIX:
        return
    hint = f"Rename the file to {path.name}{_SUFFIX}, and use that name."
    if path.suffix in _COMPANIONS:
        hint = f"Specify {path.with_suffix(_SUFFIX).name}, the keystore that this file belongs to."
    raise UsageError(
        "keystore_name_invalid",
        f"{str(path)!r} is not a valid keystore: the name must end with {_SUFFIX}",
        hint=hint,
    )


def _public_key_text(key: KeyPair) -> str:
    return b64encode(bytes([key.scheme]) + key.public_key).decode()


def _read_json(path: Path) -> list[Any]:
    text = read_private(path)
    try:
        value = json.loads(text) if text.strip() else []
    except ValueError:
        raise _broken(path) from None
    if not isinstance(value, list):
        raise _broken(path)
    return value


def read_entries(
    values: Sequence[Any], read: Callable[[Any], Key], path: Path
) -> tuple[list[Key], list[Any], list[ValidationError]]:
    """Parse entries of a key file. Return the keys, the unreadable entries, and their errors."""
    keys: list[Key] = []
    others: list[Any] = []
    errors: list[ValidationError] = []
    for number, value in enumerate(values, 1):
        try:
            keys.append(read(value))
        except ValidationError as error:
            others.append(value)
            message = f"{path}: entry {number}: {error.message}"
            errors.append(ValidationError("key_invalid", message, hint=_ENTRY_HINT))
    return keys, others, errors


def _aliases(values: list[Any]) -> dict[str, str]:
    """Return aliases by public key. Skip unreadable entries."""
    return {
        str(value["public_key_base64"]): str(value["alias"])
        for value in values
        if isinstance(value, dict) and {"alias", "public_key_base64"} <= value.keys()
    }


def _broken(path: Path) -> ValidationError:
    return ValidationError(
        "wallet_invalid",
        f"{path} is not a key file: expected a JSON list",
        hint="Use another file, or restore the file from a backup.",
    )
