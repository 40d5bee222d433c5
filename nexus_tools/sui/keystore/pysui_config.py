"""Networks and keys of pysui: those in its file, and those that a program of its user has chosen.

`PysuiConfig.json` has groups, each with a protocol, profiles (networks) and keys, of which aliases
and secrets are two lists in one order (pysui 1.5, `sui_common/config/confgroup.py`). pysui itself
is not imported, which would take 0.4 s: who gives us an object of it has done so.
"""

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from nexus_tools.sui.errors import NotFoundError, UsageError, ValidationError
from nexus_tools.sui.keystore.keys import KeyPair
from nexus_tools.sui.keystore.wallet import Account
from nexus_tools.sui.network import Network
from nexus_tools.sui.support.text_file import without_mark
from nexus_tools.sui.types.address import Address

_GRPC = 2
_UNSAID = 3  # pysui then goes by the name of the group
_GRPC_GROUP = "sui_grpc_config"


class _Profile(Struct, frozen=True):
    profile_name: str
    url: str
    faucet_url: str | None = None


class _Alias(Struct, frozen=True):
    alias: str


class _Secret(Struct, frozen=True):
    private_key_base64: str

    def __repr__(self) -> str:
        return "_Secret()"


class _Group(Struct, frozen=True):
    group_name: str
    using_profile: str = ""
    using_address: str = ""
    alias_list: list[_Alias] = []
    key_list: list[_Secret] = []
    profiles: list[_Profile] = []
    protocol: int = _UNSAID

    @property
    def speaks_grpc(self) -> bool:
        """Whether its profiles are URLs of gRPC."""
        unsaid = self.protocol == _UNSAID and self.group_name == _GRPC_GROUP
        return unsaid or self.protocol == _GRPC

    def read_keys(self) -> Iterator[tuple[str, KeyPair | ValidationError]]:
        """The keys with their aliases; an error for one that cannot be read."""
        for alias, secret in zip(self.alias_list, self.key_list, strict=False):
            try:
                yield alias.alias, KeyPair.parse(secret.private_key_base64)
            except ValidationError as error:
                yield alias.alias, error


class _PysuiConfig(Struct, frozen=True):
    groups: list[_Group] = []


class PysuiFiles:
    """What is in the folder of pysui, `~/.pysui`; without a folder, nothing."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "PysuiConfig.json"

    @property
    def networks(self) -> tuple[Network, ...]:
        """The profiles of the groups that speak gRPC. Raises `pysui_files_invalid`."""
        groups = (group for group in self._config.groups if group.speaks_grpc)
        profiles = (profile for group in groups for profile in group.profiles)
        return tuple(replace(_network(profile), has_profile=True) for profile in profiles)

    @property
    def accounts(self) -> tuple[Account, ...]:
        """The keys of all groups. Raises `pysui_files_invalid`."""
        accounts = (
            Account(key.address, alias, key.scheme, active=False) for alias, key in self._keys
        )
        return tuple(dict.fromkeys(accounts))

    def key(self, address: Address) -> KeyPair:
        """The key of one of the accounts."""
        return next(key for _, key in self._keys if key.address == address)

    def check_protocol(self, name: str) -> None:
        """Raises `network_not_grpc` if this is a profile of another protocol alone."""
        for group in self._config.groups:
            if name in (profile.profile_name for profile in group.profiles):
                _require_grpc(group, name)

    @property
    def unreadable(self) -> tuple[ValidationError, ...]:
        """An error for each key that cannot be read. Raises as `accounts`."""
        return tuple(
            ValidationError(
                "key_invalid",
                f"{self.file}: the key {alias} of the group {group.group_name}: {key.message}",
                hint="correct or remove it; the other keys of the file work",
            )
            for group in self._config.groups
            for alias, key in group.read_keys()
            if isinstance(key, ValidationError)
        )

    @cached_property
    def _keys(self) -> tuple[tuple[str, KeyPair], ...]:
        return tuple(
            (alias, key)
            for group in self._config.groups
            for alias, key in group.read_keys()
            if isinstance(key, KeyPair)
        )

    @cached_property
    def _config(self) -> _PysuiConfig:
        try:
            return msgspec.json.decode(without_mark(self.file.read_bytes()), type=_PysuiConfig)
        except FileNotFoundError:
            return _PysuiConfig()
        except (OSError, msgspec.MsgspecError) as error:
            raise ValidationError(
                "pysui_files_invalid",
                f"{self.file}: {error}",
                hint="`PysuiConfiguration()` says whether pysui can read it",
            ) from None


def network_and_key(config: Any) -> tuple[Network, KeyPair]:
    """What a `pysui.PysuiConfiguration` has chosen: its active profile and its active address.

    Raises `pysui_config_invalid`, `network_not_grpc` or `account_unknown`.
    """
    try:
        group = msgspec.convert(config.active_group, _Group, from_attributes=True)
    except (AttributeError, ValueError) as error:  # pysui raises ValueError without a choice
        raise UsageError(
            "pysui_config_invalid",
            f"this is no pysui configuration with an active group: {error}",
            hint="give a `pysui.PysuiConfiguration`, or a network and a key",
        ) from None
    _require_grpc(group, group.using_profile)
    named = (each for each in group.profiles if each.profile_name == group.using_profile)
    profile = next(named, None)
    if profile is None:
        raise NotFoundError(
            "network_unknown",
            f"pysui's group {group.group_name} has no profile {group.using_profile!r}",
            hint="choose one with `make_active(profile_name=…)`",
        )
    return _network(profile), _active_key(group)


def _active_key(group: _Group) -> KeyPair:
    for _, key in group.read_keys():
        if isinstance(key, KeyPair) and str(key.address) == group.using_address:
            return key
    raise NotFoundError(
        "account_unknown",
        f"pysui's group {group.group_name} has no key of {group.using_address or 'any address'}",
        hint="choose one with `make_active(address=…)`",
    )


def _require_grpc(group: _Group, profile: str) -> None:
    if not group.speaks_grpc:
        raise UsageError(
            "network_not_grpc",
            f"pysui's profile {group.group_name}.{profile} does not speak gRPC, which we need",
            hint=f"activate a profile of a gRPC group, such as {_GRPC_GROUP}, or name a node's URL",
        )


def _network(profile: _Profile) -> Network:
    """The network of a profile: gRPC without a scheme is with TLS; faucets are known by path."""
    url = profile.url if "://" in profile.url else f"https://{profile.url}"
    faucet = urlsplit(profile.faucet_url or "")
    root = f"{faucet.scheme}://{faucet.netloc}" if faucet.netloc else None
    return Network(profile.profile_name, url, root)
