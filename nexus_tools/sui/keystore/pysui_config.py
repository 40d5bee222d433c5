"""The networks and keys of pysui, from pysui's file or a program's configuration object.

`PysuiConfig.json` contains groups. Each group has a protocol, profiles (networks) and keys. Aliases
and secrets are two lists in the same order. Source: pysui 1.5, `sui_common/config/confgroup.py`.
This module does not import pysui because the import takes 0.4 s.
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
from nexus_tools.sui.support.text_file import without_byte_order_mark
from nexus_tools.sui.types.address import Address

_GRPC = 2
_UNSPECIFIED = 3  # the name of the group determines the protocol
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
    protocol: int = _UNSPECIFIED

    @property
    def speaks_grpc(self) -> bool:
        """Whether the URLs of the group's profiles are for gRPC."""
        is_grpc_by_name = self.protocol == _UNSPECIFIED and self.group_name == _GRPC_GROUP
        return is_grpc_by_name or self.protocol == _GRPC

    def read_keys(self) -> Iterator[tuple[str, KeyPair | ValidationError]]:
        """Yield each alias with its key, or with an error if the key is unreadable."""
        for alias, secret in zip(self.alias_list, self.key_list, strict=False):
            try:
                yield alias.alias, KeyPair.parse(secret.private_key_base64)
            except ValidationError as error:
                yield alias.alias, error


class _PysuiConfig(Struct, frozen=True):
    groups: list[_Group] = []


class PysuiConfigFile:
    """The contents of pysui's folder, `~/.pysui`. A missing folder counts as an empty folder."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "PysuiConfig.json"

    @property
    def networks(self) -> tuple[Network, ...]:
        """The profiles of the gRPC groups. Raises `pysui_config_file_invalid`."""
        groups = (group for group in self._config.groups if group.speaks_grpc)
        profiles = (profile for group in groups for profile in group.profiles)
        return tuple(replace(_network(profile), has_profile=True) for profile in profiles)

    @property
    def accounts(self) -> tuple[Account, ...]:
        """The accounts of all groups. Raises `pysui_config_file_invalid`."""
        accounts = (
            Account(key.address, alias, key.scheme, active=False) for alias, key in self._keys
        )
        return tuple(dict.fromkeys(accounts))

    def key(self, address: Address) -> KeyPair:
        """Return the key of the account with this address."""
        return next(key for _, key in self._keys if key.address == address)

    def check_protocol(self, name: str) -> None:
        """Raise `network_not_grpc` if a profile with this name does not use gRPC."""
        for group in self._config.groups:
            if name in (profile.profile_name for profile in group.profiles):
                _require_grpc(group, name)

    @property
    def unreadable(self) -> tuple[ValidationError, ...]:
        """The errors of the unreadable keys, one per key. Raises the errors of `accounts`."""
        return tuple(
            ValidationError(
                "key_invalid",
                f"{self.file}: the key {alias} of the group {group.group_name}: {key.message}",
                hint="Correct or remove this key. The other keys in the file are not affected.",
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
            return msgspec.json.decode(
                without_byte_order_mark(self.file.read_bytes()), type=_PysuiConfig
            )
        except FileNotFoundError:
            return _PysuiConfig()
        except (OSError, msgspec.MsgspecError) as error:
            raise ValidationError(
                "pysui_config_file_invalid",
                f"{self.file}: {error}",
                hint="Call `PysuiConfiguration()` to check whether pysui can read the file.",
            ) from None


def network_and_key(config: Any) -> tuple[Network, KeyPair]:
    """Return the active network and key of a `pysui.PysuiConfiguration`.

    Raises:
        NexusError: `pysui_config_invalid`, `network_not_grpc`, `network_unknown` or
            `account_unknown`.
    """
    group = _active_group(config)
    return _active_network(group), _active_key(group)


def active_network(config: Any) -> Network:
    """Return the active network of a `pysui.PysuiConfiguration`. A key is not required.

    Raises:
        NexusError: `pysui_config_invalid`, `network_not_grpc` or `network_unknown`.
    """
    return _active_network(_active_group(config))


def _active_group(config: Any) -> _Group:
    try:
        return msgspec.convert(config.active_group, _Group, from_attributes=True)
    except (AttributeError, ValueError) as error:  # pysui raises ValueError if no group is active
        raise UsageError(
            "pysui_config_invalid",
            f"expected a pysui configuration with an active group: {error}",
            hint="Pass a `pysui.PysuiConfiguration`, or a network and a key.",
        ) from None


def _active_network(group: _Group) -> Network:
    _require_grpc(group, group.using_profile)
    profiles = (
        profile for profile in group.profiles if profile.profile_name == group.using_profile
    )
    profile = next(profiles, None)
    if profile is None:
        raise NotFoundError(
            "network_unknown",
            f"pysui's group {group.group_name} does not have a profile {group.using_profile!r}",
            hint="Select an existing profile with `make_active(profile_name=…)`.",
        )
    return _network(profile)


def _active_key(group: _Group) -> KeyPair:
    for _, key in group.read_keys():
        if isinstance(key, KeyPair) and str(key.address) == group.using_address:
            return key
    raise NotFoundError(
        "account_unknown",
        f"pysui's group {group.group_name} has no key for {group.using_address or 'any address'}",
        hint="Select an address that has a key with `make_active(address=…)`.",
    )


def _require_grpc(group: _Group, profile: str) -> None:
    if not group.speaks_grpc:
        raise UsageError(
            "network_not_grpc",
            f"pysui's profile {group.group_name}.{profile} does not use gRPC, which is required",
            hint=f"Activate a profile in a group that uses gRPC, such as {_GRPC_GROUP}, or pass"
            " the URL of a node.",
        )


def _network(profile: _Profile) -> Network:
    """Return a profile's network. If the URL lacks a scheme, use `https`.

    The path of the faucet's URL is removed.
    """
    url = profile.url if "://" in profile.url else f"https://{profile.url}"
    faucet = urlsplit(profile.faucet_url or "")
    root = f"{faucet.scheme}://{faucet.netloc}" if faucet.netloc else None
    return Network(profile.profile_name, url, root)
